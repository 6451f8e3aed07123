// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/berthgames/berth/test/manifests"
)

func samples() string { return filepath.Join(manifests.Root(), "..", "test", "samples") }

// documents reads the GameServerSets of a file.
func documents(t *testing.T, text []byte) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(document, &object.Object); err != nil {
			t.Fatal(err)
		}
		if object.GetKind() == "GameServerSet" {
			all = append(all, object)
		}
	}
	return all
}

// apply does what kubectl apply --server-side does. Its answer is the error, if any, and all warnings.
func (u *user) apply(t *testing.T, object *unstructured.Unstructured, options ...client.ApplyOption) (refused bool, answer string) {
	t.Helper()
	options = append(options, client.FieldOwner("somebody"), client.ForceOwnership)
	if err := u.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object), options...); err != nil {
		return true, err.Error() + "\n" + u.heard()
	}
	return false, u.heard()
}

func TestWrongSetsAreRefusedWithPathAndValue(t *testing.T) {
	w := need(t)
	files, err := filepath.Glob(filepath.Join(samples(), "bad", "*.yaml"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d wrong samples: %v", len(files), err)
	}
	namespace := w.namespace(t)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			sets := documents(t, text)
			for i, set := range sets {
				set.SetNamespace(namespace)
				u := w.user(t)
				refused, answer := u.apply(t, set)
				if i < len(sets)-1 {
					if refused {
						t.Fatalf("the good document before the wrong edit was refused: %s", answer)
					}
					continue
				}
				if warning := strings.HasSuffix(name, "-warning"); refused == warning {
					t.Errorf("refused: %t; the answer was: %s", refused, answer)
				}
				for line := range strings.Lines(string(text)) {
					want, ok := strings.CutPrefix(strings.TrimSpace(line), "# want: ")
					if ok && !strings.Contains(answer, want) {
						t.Errorf("the answer lacks %q: %s", want, answer)
					}
				}
			}
		})
	}
}

// What users of the replaced systems have, as it is. A sample with a network of a cloud is refused as long as there is no
// plugin for it here; some samples are wrong in themselves.
func TestPublishedSamplesGetTheRightAnswer(t *testing.T) {
	w := need(t)
	refusals := map[string]string{
		"gameserverset-3.yaml": "spec.replicas: Required value",
	}
	files, err := filepath.Glob(filepath.Join(samples(), "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	namespace, seen := w.namespace(t), 0
	for _, file := range append(files, filepath.Join(manifests.Root(), "samples", "arena.yaml")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, set := range documents(t, text) {
			seen++
			t.Run(filepath.Base(file), func(t *testing.T) {
				set.SetNamespace(namespace)
				refused, answer := w.user(t).apply(t, set, client.DryRunAll)
				want := refusals[filepath.Base(file)]
				networkType, _, _ := unstructured.NestedString(set.Object, "spec", "network", "networkType")
				if want == "" && networkType != "" && networkType != "Kubernetes-HostPort" {
					want = `spec.network.networkType: Unsupported value: "` + networkType + `"`
				}
				if refused != (want != "") || !strings.Contains(answer, want) {
					t.Errorf("refused: %t, want %q; the answer was: %s", refused, want, answer)
				}
			})
		}
	}
	if seen < 20 {
		t.Errorf("only %d samples were tried", seen)
	}
}
