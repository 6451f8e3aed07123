// SPDX-License-Identifier: Apache-2.0

package kruise

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	appspub "github.com/openkruise/kruise-api/apps/pub"
	kruisev1beta1 "github.com/openkruise/kruise-api/apps/v1beta1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/berthgames/berth/internal/idset"
)

// The planner of the product trusts that its interval arithmetic gives the members that OpenKruise counts out.
func TestMembersAreWhatTheIntervalsSay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		reserved := idset.Of(rapid.SliceOfN(rapid.Int32Range(0, 40), 0, 30).Draw(t, "reserved")...)
		replicas := rapid.IntRange(0, 30).Draw(t, "replicas")
		got := Members(replicas, reserved.List())
		want := reserved.FirstOutside(int64(replicas))
		if int64(len(got)) != want.Len() {
			t.Fatalf("%d members, want %s", len(got), want)
		}
		for id := range want.All() {
			if !got[int(id)] {
				t.Fatalf("%d is no member; want %s", id, want)
			}
		}
	})
}

func TestPlan(t *testing.T) {
	t.Parallel()
	workload := func(edit func(*kruisev1beta1.StatefulSetSpec)) *kruisev1beta1.StatefulSet {
		w := &kruisev1beta1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "arena", UID: "w"}}
		w.Spec.Replicas = ptr.To[int32](3)
		w.Spec.Selector = &metav1.LabelSelector{}
		if edit != nil {
			edit(&w.Spec)
		}
		return w
	}
	hooked := func(s *kruisev1beta1.StatefulSetSpec) {
		s.Replicas = ptr.To[int32](2)
		s.Lifecycle = &appspub.Lifecycle{PreDelete: &appspub.LifecycleHook{LabelsHandler: map[string]string{"hold": "true"}}}
	}
	byPriority := func(s *kruisev1beta1.StatefulSetSpec) {
		s.UpdateStrategy.RollingUpdate = &kruisev1beta1.RollingUpdateStatefulSetStrategy{
			PodUpdatePolicy: "InPlaceIfPossible", MaxUnavailable: ptr.To(intstr.FromInt32(2)), Partition: ptr.To[int32](1),
			UnorderedUpdate: &kruisev1beta1.UnorderedUpdateStrategy{PriorityStrategy: &appspub.UpdatePriorityStrategy{
				OrderPriority: []appspub.UpdatePriorityOrderTerm{{OrderedKey: "prio"}}}},
		}
	}
	outdated := func(p *corev1.Pod) { p.Labels[appsv1.ControllerRevisionHashLabelKey] = "old" }
	for name, tc := range map[string]struct {
		workload *kruisev1beta1.StatefulSet
		pods     map[int]func(*corev1.Pod)
		want     []string
	}{
		"missing members are made": {workload: workload(nil), pods: map[int]func(*corev1.Pod){1: nil}, want: []string{"create 0", "create 2"}},
		"around reserved ids": {workload: workload(func(s *kruisev1beta1.StatefulSetSpec) {
			s.ReserveOrdinals = []intstr.IntOrString{intstr.FromString("0-1")}
		}), want: []string{"create 2", "create 3", "create 4"}},
		"condemned go highest first":   {workload: workload(func(s *kruisev1beta1.StatefulSetSpec) { s.Replicas = ptr.To[int32](1) }), pods: map[int]func(*corev1.Pod){0: nil, 1: nil, 2: nil}, want: []string{"delete 2", "delete 1"}},
		"a hook holds a condemned one": {workload: workload(hooked), pods: map[int]func(*corev1.Pod){0: nil, 1: nil, 2: func(p *corev1.Pod) { p.Labels["hold"] = "true" }}, want: []string{"hold 2"}},
		"a hook lets it go":            {workload: workload(hooked), pods: map[int]func(*corev1.Pod){0: nil, 1: nil, 2: func(p *corev1.Pod) { p.Labels["hold"] = "false" }}, want: []string{"delete 2"}},
		"updates go by priority":       {workload: workload(byPriority), pods: map[int]func(*corev1.Pod){0: func(p *corev1.Pod) { outdated(p); p.Labels["prio"] = "20" }, 1: outdated, 2: outdated}, want: []string{"update 0", "update 2"}},
		"recreation one by one":        {workload: workload(nil), pods: map[int]func(*corev1.Pod){0: outdated, 1: outdated, 2: outdated}, want: []string{"delete 2"}},
		"the scale limit holds back pods": {workload: workload(func(s *kruisev1beta1.StatefulSetSpec) {
			s.ScaleStrategy = &kruisev1beta1.StatefulSetScaleStrategy{MaxUnavailable: ptr.To(intstr.FromInt32(1))}
		}), want: []string{"create 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var pods []corev1.Pod
			for id, edit := range tc.pods {
				pod := newPod(tc.workload, id)
				pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
				if edit != nil {
					edit(pod)
				}
				pods = append(pods, *pod)
			}
			var got []string
			for _, action := range Plan(tc.workload, pods) {
				got = append(got, fmt.Sprintf("%s %d", []string{"create", "delete", "hold", "update", "ready"}[action.Kind], action.Ordinal))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
		})
	}
}
