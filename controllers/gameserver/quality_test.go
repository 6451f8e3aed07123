// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

type (
	quality = gamev1alpha1.ServiceQuality
	action  = gamev1alpha1.ServiceQualityAction
	record  = gamev1alpha1.ServiceQualityCondition
	spec    = gamev1alpha1.GameServerSpec
)

func number(n int32) *intstr.IntOrString { return ptr.To(intstr.FromInt32(n)) }

// healthy raises the update priority when it succeeds and the deletion priority when it fails.
func healthy(permanent bool) quality {
	return quality{Name: "healthy", Permanent: permanent, ServiceQualityAction: []action{
		{State: true, GameServerSpec: spec{UpdatePriority: number(20)}},
		{State: false, GameServerSpec: spec{DeletionPriority: number(10)}},
	}}
}

func probe(name string, status corev1.ConditionStatus, message string) func(*corev1.Pod) {
	return podCond(corev1.PodConditionType("game.kruise.io/"+name), status, "", message)
}

func TestRunQualities(t *testing.T) {
	t.Parallel()
	earlier, now := stamp(start()), stamp(noon())
	byResult := quality{Name: "healthy", ServiceQualityAction: []action{
		{State: true, Result: "A", GameServerSpec: spec{OpsState: "A"}},
		{State: true, Result: "B", GameServerSpec: spec{OpsState: "B"}},
		{State: true, Result: "C", GameServerSpec: spec{OpsState: "C"}},
	}}
	onlyTrue := healthy(true)
	onlyTrue.ServiceQualityAction = onlyTrue.ServiceQualityAction[:1]
	annotated := healthy(false)
	annotated.ServiceQualityAction[0].Annotations = map[string]string{"case-4": "new"}

	cases := map[string]struct {
		quality    quality
		probe      func(*corev1.Pod)
		stored     []record
		want       func(*gamev1alpha1.GameServer)
		wantStatus string
		wantResult string
		wantAction metav1.Time
		wantActed  bool
	}{
		"0: the first success of a permanent quality acts": {
			quality: healthy(true), probe: probe("healthy", "True", ""),
			want:       func(gs *gamev1alpha1.GameServer) { gs.Spec.UpdatePriority = number(20) },
			wantStatus: "True", wantAction: now, wantActed: true,
		},
		"1: a permanent quality that has acted does not act again": {
			quality: healthy(true), probe: probe("healthy", "True", ""),
			stored:     []record{{Name: "healthy", Status: "False", LastActionTransitionTime: earlier}},
			wantStatus: "True", wantAction: earlier,
		},
		"2: without a result there is a record with a name": {quality: healthy(true)},
		"3: no action for the status": {
			quality: onlyTrue, probe: probe("healthy", "False", ""), wantStatus: "False",
		},
		"4: a quality that is not permanent acts again and brings metadata": {
			quality: annotated, probe: probe("healthy", "True", ""),
			stored: []record{{Name: "healthy", Status: "False", LastActionTransitionTime: earlier}},
			want: func(gs *gamev1alpha1.GameServer) {
				gs.Spec.UpdatePriority = number(20)
				gs.Annotations = map[string]string{"case-4": "new"}
			},
			wantStatus: "True", wantAction: now, wantActed: true,
		},
		"5: the result chooses the action": {
			quality: byResult, probe: probe("healthy", "True", "B"),
			want:       func(gs *gamev1alpha1.GameServer) { gs.Spec.OpsState = "B" },
			wantStatus: "True", wantResult: "B", wantAction: now, wantActed: true,
		},
		"6, H07: the same status with another result acts": {
			quality: byResult, probe: probe("healthy", "True", "A"),
			stored:     []record{{Name: "healthy", Status: "True", Result: "B", LastActionTransitionTime: earlier}},
			want:       func(gs *gamev1alpha1.GameServer) { gs.Spec.OpsState = "A" },
			wantStatus: "True", wantResult: "A", wantAction: now, wantActed: true,
		},
		"the same status and result leave what users wrote": {
			quality: byResult, probe: probe("healthy", "True", "B"),
			stored:     []record{{Name: "healthy", Status: "True", Result: "B", LastActionTransitionTime: earlier}},
			wantStatus: "True", wantResult: "B", wantAction: earlier,
		},
		"a status without an action clears the time of the last one": {
			quality: byResult, probe: probe("healthy", "False", ""),
			stored:     []record{{Name: "healthy", Status: "True", Result: "B", LastActionTransitionTime: earlier}},
			wantStatus: "False",
		},
		"Unknown matches no action": {
			quality: healthy(false), probe: probe("healthy", "Unknown", ""), wantStatus: "Unknown",
		},
		"G-11: a result with a pipe and line breaks matches an action that is written the same way": {
			quality:    quality{Name: "healthy", ServiceQualityAction: []action{{State: true, Result: "a|b", GameServerSpec: spec{OpsState: "AB"}}}},
			probe:      probe("healthy", "True", "a|b\r\n"),
			want:       func(gs *gamev1alpha1.GameServer) { gs.Spec.OpsState = "AB" },
			wantStatus: "True", wantResult: "ab", wantAction: now, wantActed: true,
		},
		"a later action wins over an earlier one": {
			quality: quality{Name: "healthy", ServiceQualityAction: []action{
				{State: true, GameServerSpec: spec{OpsState: "first", UpdatePriority: number(1)}},
				{State: true, GameServerSpec: spec{OpsState: "second"}},
			}},
			probe: probe("healthy", "True", ""),
			want: func(gs *gamev1alpha1.GameServer) {
				gs.Spec.OpsState, gs.Spec.UpdatePriority = "second", number(1)
			},
			wantStatus: "True", wantAction: now, wantActed: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := aPod()
			if tc.probe != nil {
				tc.probe(pod)
			}
			gs := newGameServer(pod)
			gs.Status.ServiceQualitiesCondition = tc.stored
			want := gs.DeepCopy()
			if tc.want != nil {
				tc.want(want)
			}
			out := runQualities([]quality{tc.quality}, pod, gs, now)
			if diff := cmp.Diff(want, gs); diff != "" {
				t.Errorf("GameServer (-want +got):\n%s", diff)
			}
			if out.acted != tc.wantActed || len(out.events) != 0 {
				t.Errorf("acted %v, events %v", out.acted, out.events)
			}
			if len(out.records) != 1 {
				t.Fatalf("records %v", out.records)
			}
			got := out.records[0]
			wantRecord := record{Name: "healthy", Status: tc.wantStatus, Result: tc.wantResult, LastActionTransitionTime: tc.wantAction,
				LastProbeTime: got.LastProbeTime, LastTransitionTime: later(tc.wantAction, got.LastProbeTime)}
			if diff := cmp.Diff(wantRecord, got); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRecordTakesTheTimesOfTheProbe(t *testing.T) {
	t.Parallel()
	probed := stamp(noon().Add(-1))
	pod := aPod(probe("healthy", "True", ""), func(p *corev1.Pod) {
		p.Status.Conditions[len(p.Status.Conditions)-1].LastProbeTime = probed
	})
	gs := newGameServer(pod)
	gs.Status.ServiceQualitiesCondition = []record{{Name: "healthy", Status: "True", LastActionTransitionTime: stamp(start())}}
	got := runQualities([]quality{healthy(true)}, pod, gs, stamp(noon())).records[0]
	if !got.LastProbeTime.Equal(&probed) || !got.LastTransitionTime.Equal(&probed) {
		t.Errorf("probe time %v, transition time %v, want %v", got.LastProbeTime, got.LastTransitionTime, probed)
	}
}

func TestActionsSetOnlyWhatTheySay(t *testing.T) {
	t.Parallel()
	limits := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	before := spec{
		OpsState: "Allocated", UpdatePriority: number(3), DeletionPriority: number(4), NetworkDisabled: ptr.To(true),
		Containers: []gamev1alpha1.GameServerContainer{{Name: "A", Image: "A-v2", Resources: corev1.ResourceRequirements{Limits: limits}}},
	}
	cases := map[string]struct {
		action action
		result string
		want   func(*spec)
	}{
		"G-9: an empty action leaves everything": {want: func(*spec) {}},
		"G-9: networkDisabled false can be said": {
			action: action{GameServerSpec: spec{NetworkDisabled: ptr.To(false)}},
			want:   func(s *spec) { s.NetworkDisabled = ptr.To(false) },
		},
		"G-9: containers are merged by name": {
			action: action{GameServerSpec: spec{Containers: []gamev1alpha1.GameServerContainer{{Name: "A", Image: "A-v3"}, {Name: "B", Image: "B-v2"}}}},
			want: func(s *spec) {
				s.Containers[0].Image = "A-v3"
				s.Containers = append(s.Containers, gamev1alpha1.GameServerContainer{Name: "B", Image: "B-v2"})
			},
		},
		"a priority from the result": {
			action: action{GameServerSpec: spec{UpdatePriority: ptr.To(intstr.FromString("{{.Result}}"))}}, result: "75",
			want: func(s *spec) { s.UpdatePriority = number(75) },
		},
		"a priority as text": {
			action: action{GameServerSpec: spec{DeletionPriority: ptr.To(intstr.FromString("75"))}},
			want:   func(s *spec) { s.DeletionPriority = number(75) },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gs := &gamev1alpha1.GameServer{Spec: *before.DeepCopy()}
			want := before.DeepCopy()
			tc.want(want)
			if events := applyAction(gs, &tc.action, record{Name: "healthy", Result: tc.result}); len(events) != 0 {
				t.Errorf("events %v", events)
			}
			if diff := cmp.Diff(want, &gs.Spec); diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}
		})
	}
}

func TestG10ABadValueOfAnActionSkipsOnlyItsField(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		action action
		result string
		reason string
		names  string
	}{
		"an opsState that is no label value": {
			action: action{GameServerSpec: spec{OpsState: "{{.Result}}"}}, result: "in match/3",
			reason: reasonInvalidAction, names: `opsState: Invalid value: "in match/3"`,
		},
		"an opsState that is empty": {
			action: action{GameServerSpec: spec{OpsState: "{{.Result}}"}},
			reason: reasonInvalidAction, names: `opsState: Invalid value: ""`,
		},
		"a label that is no label value": {
			action: action{Labels: map[string]string{"map": "{{.Result}}"}}, result: "de dust",
			reason: reasonInvalidAction, names: `labels[map]: Invalid value: "de dust"`,
		},
		"a label key that is none": {
			action: action{Labels: map[string]string{"a b": "x"}},
			reason: reasonInvalidAction, names: "labels[a b]",
		},
		"an annotation key that is none": {
			action: action{Annotations: map[string]string{"a b": "x"}},
			reason: reasonInvalidAction, names: "annotations[a b]",
		},
		"an update priority that is a word": {
			action: action{GameServerSpec: spec{UpdatePriority: ptr.To(intstr.FromString("high"))}},
			reason: reasonInvalidUpdatePriority, names: `updatePriority: Invalid value: "high"`,
		},
		"a deletion priority that is empty": {
			action: action{GameServerSpec: spec{DeletionPriority: ptr.To(intstr.FromString("{{.Result}}"))}},
			reason: reasonInvalidDeletionPriority, names: `deletionPriority: Invalid value: ""`,
		},
		"a negative deletion priority": {
			action: action{GameServerSpec: spec{DeletionPriority: number(-5)}},
			reason: reasonInvalidDeletionPriority, names: `deletionPriority: Invalid value: "-5"`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.action.NetworkDisabled = ptr.To(true)
			if tc.action.Annotations == nil {
				tc.action.Annotations = map[string]string{}
			}
			tc.action.Annotations["z-last"] = "set"
			gs := newGameServer(aPod())
			want := gs.DeepCopy()
			want.Spec.NetworkDisabled = ptr.To(true)
			want.Annotations = map[string]string{"z-last": "set"}

			events := applyAction(gs, &tc.action, record{Name: "healthy", Result: tc.result})
			if diff := cmp.Diff(want, gs); diff != "" {
				t.Errorf("GameServer (-want +got):\n%s", diff)
			}
			if len(events) != 1 || events[0].reason != tc.reason || events[0].eventType != corev1.EventTypeWarning ||
				!strings.Contains(events[0].note, tc.names) || !strings.Contains(events[0].note, "healthy") {
				t.Errorf("events %+v, want one %s that names %s", events, tc.reason, tc.names)
			}
		})
	}
}
