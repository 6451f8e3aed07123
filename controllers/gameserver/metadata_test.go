// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

func aTemplate(labels, annotations map[string]string) *gamev1alpha1.GameServerTemplate {
	t := &gamev1alpha1.GameServerTemplate{}
	t.Labels, t.Annotations = labels, annotations
	return t
}

// visible is metadata without the controller's own annotations.
func visible(gs *gamev1alpha1.GameServer) (labels, annotations map[string]string) {
	own := []string{gamev1alpha1.GsTemplateMetadataHashKey, templateKeysKey}
	return merge(nil, gs.Labels, nil), merge(merge(nil, gs.Annotations, nil), nil, own)
}

func TestMergeTemplate(t *testing.T) {
	t.Parallel()
	gs := &gamev1alpha1.GameServer{}
	gs.Labels = map[string]string{"mine": "1"}
	steps := []struct {
		name                  string
		template              *gamev1alpha1.GameServerTemplate
		user                  func()
		wantLabels, wantNotes map[string]string
	}{
		{
			name: "B17: metadata of the template comes", template: aTemplate(map[string]string{"region": "eu", "tier": "a"}, map[string]string{"note": "x"}),
			wantLabels: map[string]string{"mine": "1", "region": "eu", "tier": "a"}, wantNotes: map[string]string{"note": "x"},
		},
		{
			name: "what users write stands while the template is the same", template: aTemplate(map[string]string{"region": "eu", "tier": "a"}, map[string]string{"note": "x"}),
			user:       func() { gs.Labels["tier"] = "user" },
			wantLabels: map[string]string{"mine": "1", "region": "eu", "tier": "user"}, wantNotes: map[string]string{"note": "x"},
		},
		{
			name: "G-12: what leaves the template leaves the GameServer", template: aTemplate(map[string]string{"tier": "b"}, nil),
			wantLabels: map[string]string{"mine": "1", "tier": "b"},
		},
		{name: "a template without metadata", template: aTemplate(nil, nil), wantLabels: map[string]string{"mine": "1"}},
	}
	for _, step := range steps {
		if step.user != nil {
			step.user()
		}
		mergeTemplate(gs, step.template)
		labels, notes := visible(gs)
		if diff := cmp.Diff(step.wantLabels, labels); diff != "" {
			t.Errorf("%s: labels (-want +got):\n%s", step.name, diff)
		}
		if diff := cmp.Diff(merge(nil, step.wantNotes, nil), notes); diff != "" {
			t.Errorf("%s: annotations (-want +got):\n%s", step.name, diff)
		}
	}
	if _, ok := gs.Annotations[templateKeysKey]; ok {
		t.Error("keys are remembered though there are none")
	}
}

func TestTakeOverOfAnUpstreamHashMergesOnce(t *testing.T) {
	t.Parallel()
	gs := &gamev1alpha1.GameServer{}
	gs.Annotations = map[string]string{gamev1alpha1.GsTemplateMetadataHashKey: "3867404253"}
	mergeTemplate(gs, aTemplate(map[string]string{"region": "eu"}, nil))
	merged := gs.DeepCopy()
	mergeTemplate(gs, aTemplate(map[string]string{"region": "eu"}, nil))
	if diff := cmp.Diff(merged, gs); diff != "" || gs.Labels["region"] != "eu" {
		t.Errorf("labels %v, second merge (-want +got):\n%s", gs.Labels, diff)
	}
}

func TestMetadataHashTellsMetadataApart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		metadata := rapid.MapOf(rapid.SampledFrom([]string{"a", "b", "ab"}), rapid.SampledFrom([]string{"", "a", "b", "ab"}))
		a := aTemplate(metadata.Draw(t, "labelsA"), metadata.Draw(t, "annotationsA"))
		b := aTemplate(metadata.Draw(t, "labelsB"), metadata.Draw(t, "annotationsB"))
		same := cmp.Equal(a.Labels, b.Labels) && cmp.Equal(a.Annotations, b.Annotations)
		if got := metadataHash(a) == metadataHash(b); got != same {
			t.Fatalf("equal metadata %v, equal hashes %v", same, got)
		}
	})
}
