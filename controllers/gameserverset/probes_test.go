// SPDX-License-Identifier: Apache-2.0

package gameserverset

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	kruisev1alpha1 "github.com/openkruise/kruise-api/apps/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/test/build"
)

func mustProbes(t *testing.T, set *gamev1alpha1.GameServerSet) *kruisev1alpha1.PodProbeMarker {
	t.Helper()
	marker, err := newProbes(set)
	if err != nil {
		t.Fatalf("newProbes: %v", err)
	}
	return marker
}

// Rows of core-controllers.md 5.8.
func TestNewProbes(t *testing.T) {
	t.Parallel()
	healthy := corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"ls", "/"}}}
	set := build.GameServerSet("arena").UID("u").Quality("healthy", "ls", "/").Obj()
	got := mustProbes(t, set)
	if !metav1.IsControlledBy(got, set) || got.Name != "arena" || got.Namespace != "default" {
		t.Errorf("metadata %+v", got.ObjectMeta)
	}
	want := kruisev1alpha1.PodProbeMarkerSpec{
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"game.kruise.io/owner-gss": "arena"}},
		Probes: []kruisev1alpha1.PodContainerProbe{{
			Name: "healthy", ContainerName: "game", PodConditionType: "game.kruise.io/healthy",
			Probe: kruisev1alpha1.ContainerProbeSpec{Probe: corev1.Probe{ProbeHandler: healthy,
				InitialDelaySeconds: 10, TimeoutSeconds: 5, PeriodSeconds: 3, SuccessThreshold: 1, FailureThreshold: 3}},
		}},
	}
	if diff := cmp.Diff(want, got.Spec); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}

	custom := corev1.Probe{ProbeHandler: healthy, InitialDelaySeconds: 1, TimeoutSeconds: 2, PeriodSeconds: 4, SuccessThreshold: 6, FailureThreshold: 7}
	set.Spec.ServiceQualities[0].Probe = custom
	if diff := cmp.Diff(custom, mustProbes(t, set).Spec.Probes[0].Probe.Probe); diff != "" {
		t.Errorf("numbers of the user were changed (-want +got):\n%s", diff)
	}
	if got.Annotations[gamev1alpha1.PpmHashKey] == mustProbes(t, set).Annotations[gamev1alpha1.PpmHashKey] {
		t.Error("B15: another probe has the same hash")
	}
}

func TestNoQualitiesMeanNoProbes(t *testing.T) {
	t.Parallel()
	for name, qualities := range map[string][]gamev1alpha1.ServiceQuality{
		"absent":                   nil,
		"S-4: empty equals absent": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := build.GameServerSet("arena").Obj()
			set.Spec.ServiceQualities = qualities
			if got := mustProbes(t, set); got != nil {
				t.Errorf("a marker: %v", got)
			}
		})
	}
}

// The table "PPM" of core-controllers.md 2.5, and the rows of 5.8.
func TestNextProbeStep(t *testing.T) {
	t.Parallel()
	set := build.GameServerSet("arena").UID("u").Quality("healthy", "ls").Obj()
	marker := func(edit func(*kruisev1alpha1.PodProbeMarker)) *kruisev1alpha1.PodProbeMarker {
		m := mustProbes(t, set)
		m.Generation, m.Status.ObservedGeneration = 1, 1
		if edit != nil {
			edit(m)
		}
		return m
	}
	for name, tc := range map[string]struct {
		wanted, have *kruisev1alpha1.PodProbeMarker
		want         probeStep
	}{
		"none there and none wanted":    {want: probesDone},
		"none there":                    {wanted: marker(nil), want: probesCreate},
		"none wanted":                   {have: marker(nil), want: probesDelete},
		"as wanted, and seen":           {wanted: marker(nil), have: marker(nil), want: probesDone},
		"as wanted, and not seen":       {wanted: marker(nil), have: marker(func(m *kruisev1alpha1.PodProbeMarker) { m.Status.ObservedGeneration = 0 }), want: probesWait},
		"other probes":                  {wanted: marker(nil), have: marker(func(m *kruisev1alpha1.PodProbeMarker) { m.Annotations = nil }), want: probesUpdate},
		"S-4: deletion hangs":           {have: marker(ending), want: probesWait},
		"the old one is still deleting": {wanted: marker(nil), have: marker(ending), want: probesWait},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := nextProbeStep(tc.wanted, tc.have); got != tc.want {
				t.Errorf("step %d, want %d", got, tc.want)
			}
		})
	}
}

func ending(m *kruisev1alpha1.PodProbeMarker) {
	m.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
}

func TestFirstCreationWaitsThirtySeconds(t *testing.T) {
	t.Parallel()
	start := time.Unix(1000, 0)
	set := build.GameServerSet("arena").Created(metav1.NewTime(start)).Obj()
	late := &kruisev1alpha1.PodProbeMarker{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(start.Add(20 * time.Second))}}
	for name, tc := range map[string]struct {
		have *kruisev1alpha1.PodProbeMarker
		now  time.Duration
		want time.Duration
	}{
		"at once":                      {want: 30 * time.Second},
		"S-5: then it goes on":         {now: 31 * time.Second, want: -time.Second},
		"counted from a later marker":  {have: late, now: 31 * time.Second, want: 19 * time.Second},
		"S-5: and then it goes on too": {have: late, now: 50 * time.Second, want: 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := probesWaitLeft(set, tc.have, start.Add(tc.now)); got != tc.want {
				t.Errorf("%v left, want %v", got, tc.want)
			}
		})
	}
}

func TestProbesOfOthersAreLeftAlone(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		owner      ownership
		wanted     bool
		wantReason string
		wantWarn   bool
	}{
		"S-6: of somebody else":            {owner: foreign, wanted: true, wantReason: ReasonNameConflict, wantWarn: true},
		"of an earlier set of this name":   {owner: ofEarlierSet, wanted: true, wantReason: ReasonEarlierSet},
		"S-6: of no matter without probes": {owner: foreign, wantReason: ReasonNoProbes},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &pass{set: build.GameServerSet("arena").Obj()}
			p.foreignProbes(tc.owner, tc.wanted)
			got := p.findings[0]
			if got.reason != tc.wantReason || got.warn != tc.wantWarn || got.fine == tc.wanted || p.probesSettled == tc.wanted {
				t.Errorf("found %+v, settled %v; want reason %s, warning %v", got, p.probesSettled, tc.wantReason, tc.wantWarn)
			}
		})
	}
}
