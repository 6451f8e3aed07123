// SPDX-License-Identifier: Apache-2.0

package install

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestRenderedObjectsCanBeAppliedInOrder(t *testing.T) {
	t.Parallel()
	objects, err := Render("testdata")
	if err != nil {
		t.Fatal(err)
	}
	applied, deployments := Split(objects)
	want := []string{
		"Namespace system", "CustomResourceDefinition things.example.com", "Service system/berth-hook",
		"ValidatingWebhookConfiguration berth-hook",
	}
	if diff := cmp.Diff(want, names(applied)); diff != "" {
		t.Errorf("applied objects (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Deployment system/berth-manager"}, names(deployments)); diff != "" {
		t.Errorf("deployments (-want +got):\n%s", diff)
	}
}

func TestMissingKustomizationIsNamed(t *testing.T) {
	t.Parallel()
	if _, err := Render("testdata/none"); err == nil || !strings.Contains(err.Error(), "testdata/none") {
		t.Errorf("error %v, want one that names the folder", err)
	}
}

func TestIsEstablished(t *testing.T) {
	t.Parallel()
	condition := func(kind, status, message string) map[string]any {
		return map[string]any{"type": kind, "status": status, "message": message}
	}
	cases := map[string]struct {
		conditions any
		want       bool
		wantReason string
	}{
		"just created":  {conditions: nil, wantReason: "no conditions yet"},
		"name taken":    {conditions: []any{condition("NamesAccepted", "False", "taken by x")}, wantReason: "taken by x"},
		"name accepted": {conditions: []any{condition("NamesAccepted", "True", ""), condition("Established", "False", "")}, wantReason: "no conditions yet"},
		"established":   {conditions: []any{condition("NamesAccepted", "True", ""), condition("Established", "True", "")}, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			object := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": tc.conditions}}}
			got, reason, err := isEstablished(object)
			if err != nil {
				t.Fatal(err)
			}
			if got != tc.want || reason != tc.wantReason {
				t.Errorf("got %t, %q; want %t, %q", got, reason, tc.want, tc.wantReason)
			}
		})
	}
}

func names(objects []*unstructured.Unstructured) []string {
	var out []string
	for _, object := range objects {
		out = append(out, object.GetKind()+" "+nameOf(object))
	}
	return out
}
