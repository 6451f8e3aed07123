// SPDX-License-Identifier: Apache-2.0

package gameserverset

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	kruisev1beta1 "github.com/openkruise/kruise-api/apps/v1beta1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/internal/apply"
	"github.com/berthgames/berth/test/build"
)

func podWith(labels map[string]string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: labels}}
}

// Rows of core-controllers.md 5.9.
func TestNewStatus(t *testing.T) {
	t.Parallel()
	ops := func(state string) *corev1.Pod {
		return podWith(map[string]string{gamev1alpha1.GameServerOpsStateKey: state})
	}
	for name, tc := range map[string]struct {
		replicas int32
		pods     []*corev1.Pod
		workload *kruisev1beta1.StatefulSet
		want     gamev1alpha1.GameServerSetStatus
	}{
		"counts of the workload and of the pods": {
			replicas: 5,
			pods:     []*corev1.Pod{ops("Maintaining"), ops("WaitToBeDeleted"), ops("None")},
			workload: &kruisev1beta1.StatefulSet{Status: kruisev1beta1.StatefulSetStatus{
				ReadyReplicas: 3, AvailableReplicas: 3, UpdatedReplicas: 5, UpdatedReadyReplicas: 3, LabelSelector: "a=b"}},
			want: gamev1alpha1.GameServerSetStatus{
				ObservedGeneration: 4, Replicas: 5, CurrentReplicas: 3, ReadyReplicas: 3, AvailableReplicas: 3, UpdatedReplicas: 5,
				UpdatedReadyReplicas: 3, LabelSelector: "a=b",
				MaintainingReplicas: ptr.To[int32](1), WaitToBeDeletedReplicas: ptr.To[int32](1), PreDeleteReplicas: ptr.To[int32](0),
			},
		},
		"one server held by a hook": {
			replicas: 3,
			pods:     []*corev1.Pod{podWith(map[string]string{gamev1alpha1.GameServerStateKey: "PreDelete"}), ops("None")},
			workload: &kruisev1beta1.StatefulSet{Status: kruisev1beta1.StatefulSetStatus{ReadyReplicas: 2}},
			want: gamev1alpha1.GameServerSetStatus{
				ObservedGeneration: 4, Replicas: 3, CurrentReplicas: 2, ReadyReplicas: 2,
				MaintainingReplicas: ptr.To[int32](0), WaitToBeDeletedReplicas: ptr.To[int32](0), PreDeleteReplicas: ptr.To[int32](1),
			},
		},
		"no workload of its own": {
			replicas: 3,
			want: gamev1alpha1.GameServerSetStatus{
				ObservedGeneration: 4, Replicas: 3,
				MaintainingReplicas: ptr.To[int32](0), WaitToBeDeletedReplicas: ptr.To[int32](0), PreDeleteReplicas: ptr.To[int32](0),
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := build.GameServerSet("arena").Replicas(tc.replicas).Obj()
			set.Generation = 4
			var pods counts
			for _, pod := range tc.pods {
				pods.add(pod)
			}
			if diff := cmp.Diff(tc.want, newStatus(set, tc.workload, pods)); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
		})
	}
}

// S-13: upstream leaves a field that became empty out of its patch, so that the old value stays for ever.
func TestStatusThatBecomesEmptyIsCleared(t *testing.T) {
	t.Parallel()
	before := build.GameServerSet("arena").Replicas(0).Obj()
	before.Status = gamev1alpha1.GameServerSetStatus{LabelSelector: "a=b", UpdatedReadyReplicas: 3, ReadyReplicas: 3,
		MaintainingReplicas: ptr.To[int32](2), WaitToBeDeletedReplicas: ptr.To[int32](0), PreDeleteReplicas: ptr.To[int32](0)}
	after := before.DeepCopy()
	after.Status = newStatus(before, &kruisev1beta1.StatefulSet{}, counts{})
	patch, err := apply.MergePatch(before, after)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"status":{"labelSelector":null,"maintainingReplicas":0,"readyReplicas":0,"updatedReadyReplicas":null}}`
	if string(patch) != want {
		t.Errorf("patch %s, want %s", patch, want)
	}
	if again, err := apply.MergePatch(after, after.DeepCopy()); err != nil || again != nil {
		t.Errorf("a second patch: %s, %v", again, err)
	}
}

func TestFindingsAreToldOncePerChange(t *testing.T) {
	t.Parallel()
	first, later := time.Unix(1000, 5), time.Unix(2000, 0)
	refused := finding{condition: "WorkloadReady", reason: ReasonRefused, message: "no", warn: true}
	otherwise := finding{condition: "WorkloadReady", reason: ReasonRefused, message: "really no", warn: true}
	waiting := finding{condition: "WorkloadReady", reason: ReasonWaitingForProbes, message: "waiting"}
	fine := finding{condition: "WorkloadReady", fine: true, reason: ReasonAsWanted}
	remark := finding{condition: "WorkloadReady", fine: true, reason: ReasonStrayPods, message: "x", warn: true}
	for name, tc := range map[string]struct {
		before, now finding
		wantWarned  bool
		wantSince   time.Time
	}{
		"the same again":                {before: refused, now: refused, wantSince: first},
		"another message":               {before: refused, now: otherwise, wantWarned: true, wantSince: first},
		"waiting is no warning":         {before: fine, now: waiting, wantSince: later},
		"refused after waiting":         {before: waiting, now: refused, wantWarned: true, wantSince: first},
		"fine again":                    {before: refused, now: fine, wantSince: later},
		"a remark":                      {before: fine, now: remark, wantWarned: true, wantSince: first},
		"a remark that was told":        {before: remark, now: remark, wantSince: first},
		"refused after fine, once more": {before: fine, now: refused, wantWarned: true, wantSince: later},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var status gamev1alpha1.GameServerSetStatus
			if got := setFindings(&status, []finding{tc.before}, first); (len(got) == 1) != tc.before.warn {
				t.Errorf("first warnings %v", got)
			}
			warned := setFindings(&status, []finding{tc.now}, later)
			if (len(warned) == 1) != tc.wantWarned {
				t.Errorf("warned: %v, want %v", warned, tc.wantWarned)
			}
			want := []metav1.Condition{{Type: "WorkloadReady", Status: metav1.ConditionFalse, Reason: tc.now.reason, Message: tc.now.message,
				LastTransitionTime: metav1.NewTime(tc.wantSince.Truncate(time.Second))}}
			if tc.now.fine {
				want[0].Status = metav1.ConditionTrue
			}
			if diff := cmp.Diff(want, status.Conditions, cmpopts.EquateApproxTime(0)); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRefusedDelayGrows(t *testing.T) {
	t.Parallel()
	now := time.Unix(10000, 0)
	since := func(status metav1.ConditionStatus, ago time.Duration) *metav1.Condition {
		return &metav1.Condition{Status: status, LastTransitionTime: metav1.NewTime(now.Add(-ago))}
	}
	for name, tc := range map[string]struct {
		before *metav1.Condition
		want   time.Duration
	}{
		"the first refusal":    {want: 5 * time.Second},
		"refused after fine":   {before: since(metav1.ConditionTrue, time.Hour), want: 5 * time.Second},
		"refused just now":     {before: since(metav1.ConditionFalse, time.Second), want: 5 * time.Second},
		"refused for a minute": {before: since(metav1.ConditionFalse, time.Minute), want: time.Minute},
		"refused for a day":    {before: since(metav1.ConditionFalse, 24*time.Hour), want: 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := refusedDelay(tc.before, now); got != tc.want {
				t.Errorf("%v, want %v", got, tc.want)
			}
		})
	}
}
