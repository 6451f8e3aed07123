// SPDX-License-Identifier: Apache-2.0

package gameserverset

import (
	"net/http"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/network/framework"
)

const (
	valid      = `{"apiVersion":"game.kruise.io/v1alpha1","kind":"GameServerSet","metadata":{"name":"arena","namespace":"games"},"spec":{"replicas":1,"gameServerTemplate":{"spec":{"containers":[{"name":"game","image":"game:1"}]}}}}`
	invalid    = `{"apiVersion":"game.kruise.io/v1alpha1","kind":"GameServerSet","metadata":{"name":"arena","namespace":"games"},"spec":{"replicas":1,"network":{"networkType":"Cloud-LB"},"reserveGameServerIds":["3-1"],"gameServerTemplate":{"spec":{"containers":[{"name":"game","image":"game:1"}]}}}}`
	unreadable = `{"apiVersion":"game.kruise.io/v1alpha1","kind":"GameServerSet","metadata":{"name":"arena","namespace":"games"},"spec":{"replicas":1,"gameServerTemplate":{"spec":{"containers":"game"}}}}`
	misspelt   = `{"apiVersion":"game.kruise.io/v1alpha1","kind":"GameServerSet","metadata":{"name":"arena","namespace":"games"},"spec":{"replicas":1,"gameServerTemplate":{"spec":{"containers":[{"name":"game","image":"game:1","imag":"x"}]}}}}`
	leaving    = `{"apiVersion":"game.kruise.io/v1alpha1","kind":"GameServerSet","metadata":{"name":"arena","namespace":"games","deletionTimestamp":"2026-01-01T00:00:00Z"},"spec":{"replicas":1,"reserveGameServerIds":["3-1"]}}`
)

func TestHandle(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		operation    admissionv1.Operation
		subResource  string
		old, object  string
		wantCode     int32
		wantText     []string
		wantWarnings []string
	}{
		"a good set": {operation: admissionv1.Create, object: valid},
		"a bad set is refused with every fault at once": {
			operation: admissionv1.Create, object: invalid, wantCode: http.StatusUnprocessableEntity,
			wantText: []string{`"arena" is invalid`, `spec.network.networkType: Unsupported value: "Cloud-LB"`, `spec.reserveGameServerIds[0]: Invalid value: "3-1"`},
		},
		"a bad set that is stored stays editable": {operation: admissionv1.Update, old: invalid, object: invalid},
		"an edit that makes a set bad": {
			operation: admissionv1.Update, old: valid, object: invalid, wantCode: http.StatusUnprocessableEntity,
			wantText:     []string{"spec.network.networkType"},
			wantWarnings: []string{"spec.network: was added"},
		},
		"a template that cannot be read would stop every reader": {
			operation: admissionv1.Create, object: unreadable, wantCode: http.StatusUnprocessableEntity,
			wantText: []string{"containers"},
		},
		"an unreadable set that is stored stays editable": {
			operation: admissionv1.Update, old: unreadable, object: unreadable,
			wantWarnings: []string{"the stored object cannot be read"},
		},
		"a misspelt field of the template is a warning (A-8)": {
			operation: admissionv1.Create, object: misspelt,
			wantWarnings: []string{"spec.gameServerTemplate.spec.containers[0].imag: unknown field"},
		},
		"a set on its way out may lose finalizers": {operation: admissionv1.Update, old: valid, object: leaving},
		"a status write passes":                    {operation: admissionv1.Update, subResource: "status", old: valid, object: invalid},
		"a deletion passes":                        {operation: admissionv1.Delete, old: invalid},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scheme := runtime.NewScheme()
			if err := gamev1alpha1.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			got := New(scheme, &framework.Registry{}).Handle(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
				Operation: tc.operation, SubResource: tc.subResource, Name: "arena", Namespace: "games",
				Object: runtime.RawExtension{Raw: []byte(tc.object)}, OldObject: runtime.RawExtension{Raw: []byte(tc.old)},
			}})
			if got.Allowed != (tc.wantCode == 0) {
				t.Fatalf("allowed %t: %v", got.Allowed, got.Result)
			}
			if !got.Allowed && got.Result.Code != tc.wantCode {
				t.Errorf("code %d, want %d", got.Result.Code, tc.wantCode)
			}
			for _, text := range tc.wantText {
				if !strings.Contains(got.Result.Message, text) {
					t.Errorf("message %q lacks %q", got.Result.Message, text)
				}
			}
			if len(got.Warnings) != len(tc.wantWarnings) {
				t.Fatalf("warnings %q, want %q", got.Warnings, tc.wantWarnings)
			}
			for i, text := range tc.wantWarnings {
				if !strings.Contains(got.Warnings[i], text) {
					t.Errorf("warning %q lacks %q", got.Warnings[i], text)
				}
			}
		})
	}
}
