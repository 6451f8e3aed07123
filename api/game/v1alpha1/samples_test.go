// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

const sampleFolder = "../../../test/samples"

// Samples that are published wrong, and what the API server says about them.
var wrongSamples = map[string]string{
	"gameserverset-3.yaml": "spec.replicas: Required value",
}

func TestSamplesAreAcceptedAndLoseNothing(t *testing.T) {
	server := newAPIServer(t, "gameserversets")
	for name, sample := range samples(t) {
		t.Run(name, func(t *testing.T) {
			stored := sample.DeepCopy()
			if unknown := server.prune(stored); len(unknown) > 0 {
				t.Errorf("the schema does not know %q", unknown)
			}
			if diff := cmp.Diff(sample.Object, stored.Object); diff != "" {
				t.Errorf("storing changes the object (-given +stored):\n%s", diff)
			}
			got := strings.Join(server.create(t, sample), "; ")
			switch want, wrong := wrongSamples[name]; {
			case wrong && !strings.Contains(got, want):
				t.Errorf("got %q, want a refusal with %q", got, want)
			case !wrong && got != "":
				t.Errorf("refused: %s", got)
			}
		})
	}
}

func TestSamplesSurviveTheGoTypes(t *testing.T) {
	for name, sample := range samples(t) {
		if wrongSamples[name] != "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			text, err := json.Marshal(sample.Object)
			if err != nil {
				t.Fatalf("encoding the sample: %v", err)
			}
			typed := &gamev1alpha1.GameServerSet{}
			if err := yaml.UnmarshalStrict(text, typed); err != nil {
				t.Fatalf("decoding into the Go type: %v", err)
			}
			back, err := json.Marshal(typed)
			if err != nil {
				t.Fatalf("encoding the Go type: %v", err)
			}
			var got map[string]any
			if err := yaml.Unmarshal(back, &got); err != nil {
				t.Fatalf("decoding the result: %v", err)
			}
			var want map[string]any
			if err := yaml.Unmarshal(text, &want); err != nil {
				t.Fatalf("decoding the sample: %v", err)
			}
			if diff := cmp.Diff(withoutEmpty(want), withoutEmpty(got)); diff != "" {
				t.Errorf("the Go type changes the object (-given +written):\n%s", diff)
			}
			if strings.Contains(string(back), "creationTimestamp") || strings.Contains(string(back), `"status"`) {
				t.Errorf("writing adds what nobody gave: %s", back)
			}
		})
	}
}

// samples returns the objects of this group in test/samples, by file name.
func samples(t *testing.T) map[string]*unstructured.Unstructured {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(sampleFolder, "*.yaml"))
	if err != nil {
		t.Fatalf("listing samples: %v", err)
	}
	out := map[string]*unstructured.Unstructured{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatalf("reading a sample: %v", err)
		}
		if !strings.Contains(string(text), "apiVersion: game.kruise.io/") {
			continue
		}
		if strings.Contains(string(text), "\n---\n") {
			t.Fatalf("%s holds several documents; this test reads one", file)
		}
		if obj := parse(t, string(text)); obj.GetKind() == gamev1alpha1.GameServerSetKind {
			out[filepath.Base(file)] = obj
		}
	}
	if len(out) == 0 {
		t.Fatalf("no sample found in %s", sampleFolder)
	}
	return out
}

// withoutEmpty drops empty maps at any depth: Go writes those of required structs, and they mean nothing.
func withoutEmpty(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, child := range value {
			child = withoutEmpty(child)
			if m, isMap := child.(map[string]any); isMap && len(m) == 0 {
				continue
			}
			out[key] = child
		}
		return out
	case []any:
		out := make([]any, 0, len(value))
		for _, child := range value {
			out = append(out, withoutEmpty(child))
		}
		return out
	default:
		return value
	}
}
