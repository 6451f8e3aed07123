// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/utils/ptr"
)

// Names, columns and subresources are what people and other programs of upstream type and read.
func TestCustomResourceDefinitions(t *testing.T) {
	type column struct{ Name, Type, Path string }
	cases := map[string]struct {
		wantNames   apiextensions.CustomResourceDefinitionNames
		wantColumns []column
		wantScale   *apiextensions.CustomResourceSubresourceScale
	}{
		"gameserversets": {
			wantNames: apiextensions.CustomResourceDefinitionNames{
				Plural: "gameserversets", Singular: "gameserverset", Kind: "GameServerSet", ListKind: "GameServerSetList", ShortNames: []string{"gss"},
			},
			wantColumns: []column{
				{"DESIRED", "integer", ".spec.replicas"},
				{"CURRENT", "integer", ".status.currentReplicas"},
				{"UPDATED", "integer", ".status.updatedReplicas"},
				{"READY", "integer", ".status.readyReplicas"},
				{"Maintaining", "integer", ".status.maintainingReplicas"},
				{"WaitToBeDeleted", "integer", ".status.waitToBeDeletedReplicas"},
				{"PreDelete", "integer", ".status.preDeleteReplicas"},
				{"AGE", "date", ".metadata.creationTimestamp"},
			},
			wantScale: &apiextensions.CustomResourceSubresourceScale{
				SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas", LabelSelectorPath: ptr.To(".status.labelSelector"),
			},
		},
		"gameservers": {
			wantNames: apiextensions.CustomResourceDefinitionNames{
				Plural: "gameservers", Singular: "gameserver", Kind: "GameServer", ListKind: "GameServerList", ShortNames: []string{"gs"},
			},
			wantColumns: []column{
				{"STATE", "string", ".status.currentState"},
				{"OPSSTATE", "string", ".spec.opsState"},
				{"DP", "string", ".status.deletionPriority"},
				{"UP", "string", ".status.updatePriority"},
				{"AGE", "date", ".metadata.creationTimestamp"},
			},
		},
	}
	for plural, tc := range cases {
		t.Run(plural, func(t *testing.T) {
			crd := readCRD(t, plural)
			if crd.Spec.Group != "game.kruise.io" || crd.Spec.Scope != apiextensions.NamespaceScoped {
				t.Errorf("got group %q and scope %q", crd.Spec.Group, crd.Spec.Scope)
			}
			if diff := cmp.Diff(tc.wantNames, crd.Spec.Names); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
			var columns []column
			for _, c := range crd.Spec.AdditionalPrinterColumns {
				columns = append(columns, column{c.Name, c.Type, c.JSONPath})
			}
			if diff := cmp.Diff(tc.wantColumns, columns); diff != "" {
				t.Errorf("printer columns (-want +got):\n%s", diff)
			}
			want := &apiextensions.CustomResourceSubresources{Status: &apiextensions.CustomResourceSubresourceStatus{}, Scale: tc.wantScale}
			if diff := cmp.Diff(want, crd.Spec.Subresources); diff != "" {
				t.Errorf("subresources (-want +got):\n%s", diff)
			}
		})
	}
}
