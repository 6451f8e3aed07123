// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/kwok/pkg/utils/lifecycle"
)

// played is what KWOK would do with an object: the stages that match it and the delay of the only one.
type played struct {
	Stages []string
	Delay  time.Duration
}

func play(t *testing.T, kind string, object any, annotations map[string]string, now time.Time) played {
	t.Helper()
	all, err := lifecycle.NewLifecycle(stages()[ref(kind)])
	if err != nil {
		t.Fatalf("reading stages: %v", err)
	}
	event := &lifecycle.Event{Annotations: annotations, Data: object}
	matching, err := all.ListAllPossible(t.Context(), event)
	if err != nil {
		t.Fatalf("matching stages: %v", err)
	}
	var got played
	for _, stage := range matching {
		got.Stages = append(got.Stages, stage.Name())
		if got.Delay, _, err = stage.Delay(t.Context(), event, now); err != nil {
			t.Fatalf("computing delay of %s: %v", stage.Name(), err)
		}
	}
	return got
}

func TestEveryPodHasAtMostOneStage(t *testing.T) {
	t.Parallel()
	const settle = settleMilliseconds * time.Millisecond
	deleted := func(pod *corev1.Pod) {
		pod.DeletionTimestamp = &metav1.Time{Time: start.Add(30 * time.Second)}
		pod.DeletionGracePeriodSeconds = ptr.To[int64](30)
	}
	// ended is what the API server notes when the kubelet deletes a pod that finalizers hold.
	ended := func(pod *corev1.Pod) { pod.DeletionGracePeriodSeconds = ptr.To[int64](0) }
	held := func(pod *corev1.Pod) { pod.Finalizers = []string{"berth.games/hold"} }
	started := func(mods ...func(*corev1.Pod)) *corev1.Pod { return newLife(t, mods...).step().pod }
	with := func(pod *corev1.Pod, mods ...func(*corev1.Pod)) *corev1.Pod {
		for _, mod := range mods {
			mod(pod)
		}
		return pod
	}
	cases := map[string]struct {
		pod  *corev1.Pod
		want played
	}{
		"a new pod is looked at":                        {newLife(t).pod, played{[]string{"pod-sync"}, settle}},
		"a running pod is looked at":                    {started(), played{[]string{"pod-sync"}, settle}},
		"a starting pod waits":                          {started(annotated(AnnotationStartDelay, "5s")), played{[]string{"pod-start-ends"}, 5 * time.Second}},
		"a fraction of a second counts":                 {started(annotated(AnnotationStartDelay, "250ms")), played{[]string{"pod-start-ends"}, 250 * time.Millisecond}},
		"a failed pod is left alone":                    {started(annotated(AnnotationFailReason, "Evicted")), played{}},
		"a deleted pod goes at once":                    {with(started(), deleted), played{[]string{"pod-delete"}, 0}},
		"a deleted pod that was starting goes at once":  {with(started(annotated(AnnotationStartDelay, "5s")), deleted), played{[]string{"pod-delete"}, 0}},
		"a deleted pod goes after the asked time":       {with(started(annotated(AnnotationStopDelay, "7s")), deleted), played{[]string{"pod-delete"}, 7 * time.Second}},
		"a deleted pod uses its grace period if asked":  {with(started(annotated(AnnotationStopDelay, "grace")), deleted), played{[]string{"pod-delete"}, 30 * time.Second}},
		"a deleted pod that is held stops":              {with(started(), deleted, held), played{[]string{"pod-stop"}, 0}},
		"a deleted pod that is held stops after a time": {with(started(annotated(AnnotationStopDelay, "7s")), deleted, held), played{[]string{"pod-stop"}, 7 * time.Second}},
		"a stopped pod that is held is left alone":      {with(started(), deleted, held, ended), played{}},
		"a stopped pod goes without the kubelet":        {with(started(), deleted, ended), played{}},
		"a failed pod can be deleted":                   {with(started(annotated(AnnotationFailReason, "Evicted")), deleted), played{[]string{"pod-delete"}, 0}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := play(t, "Pod", tc.pod, tc.pod.Annotations, start)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("stages (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNodesAreCorrectedAtOnceAndReportedRarely(t *testing.T) {
	t.Parallel()
	ready := func(status corev1.ConditionStatus) []corev1.NodeCondition {
		return []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status}}
	}
	broken := map[string]string{AnnotationNotReady: "true"}
	cases := map[string]struct {
		conditions  []corev1.NodeCondition
		annotations map[string]string
		want        string
	}{
		"a new node":                       {want: "node-change"},
		"a ready node":                     {conditions: ready(corev1.ConditionTrue), want: "node-heartbeat"},
		"a node given up by the cluster":   {conditions: ready(corev1.ConditionUnknown), want: "node-change"},
		"a node that is to break":          {conditions: ready(corev1.ConditionTrue), annotations: broken, want: "node-change"},
		"a broken node":                    {conditions: ready(corev1.ConditionFalse), annotations: broken, want: "node-heartbeat"},
		"a broken node that is to recover": {conditions: ready(corev1.ConditionFalse), want: "node-change"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-0", Annotations: tc.annotations}}
			node.Status.Conditions = tc.conditions
			got := play(t, "Node", node, tc.annotations, start)
			if diff := cmp.Diff([]string{tc.want}, got.Stages); diff != "" {
				t.Errorf("stages (-want +got):\n%s", diff)
			}
			if slow := tc.want == "node-heartbeat"; slow != (got.Delay >= 5*time.Minute) {
				t.Errorf("delay is %s, want a long one: %t", got.Delay, slow)
			}
		})
	}
}
