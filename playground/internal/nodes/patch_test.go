// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/kwok/pkg/utils/gotpl"
)

// kubelet is the part of RunKubelets between a match and a write: template, decision, patch.
type kubelet struct {
	t        *testing.T
	clock    *testingclock.FakePassiveClock
	renderer gotpl.Renderer
	// asked is how often addresses were asked for.
	asked int
}

func newKubelet(t *testing.T) *kubelet {
	k := &kubelet{t: t, clock: testingclock.NewFakePassiveClock(start)}
	k.renderer = gotpl.NewRenderer(templateFuncs(k.clock, func(*corev1.Pod) (hostIPs, podIPs []string, err error) {
		k.asked++
		return []string{"10.0.0.1"}, []string{"10.64.0.1"}, nil
	}))
	return k
}

// write returns object after the patch that template makes for it.
func write[T any](k *kubelet, template string, object *T) *T {
	k.t.Helper()
	patch, err := k.renderer.ToJSON(template, object)
	if err != nil {
		k.t.Fatalf("rendering: %v", err)
	}
	before, err := json.Marshal(object)
	if err != nil {
		k.t.Fatalf("encoding: %v", err)
	}
	text, err := strategicpatch.StrategicMergePatch(before, patch, new(T))
	if err != nil {
		k.t.Fatalf("patching: %v", err)
	}
	after := new(T)
	if err := json.Unmarshal(text, after); err != nil {
		k.t.Fatalf("decoding: %v", err)
	}
	return after
}

func TestPodPatchLeavesConditionsOfOthersAndClearsReasons(t *testing.T) {
	t.Parallel()
	k := newKubelet(t)
	pod := newLife(t, gated("InPlaceUpdateReady")).pod
	foreign := corev1.PodCondition{Type: "InPlaceUpdateReady", Status: corev1.ConditionFalse, Reason: "theirs"}
	pod.Status.Conditions = []corev1.PodCondition{foreign}

	pod = write(k, templatePod, pod)
	if got := conditionOf(pod.Status.Conditions, corev1.PodReady); got.Status != corev1.ConditionFalse || got.Reason == "" {
		t.Fatalf("Ready is %v, want False with a reason", got)
	}
	if diff := cmp.Diff(foreign, conditionOf(pod.Status.Conditions, foreign.Type)); diff != "" {
		t.Errorf("condition of somebody else (-before +after):\n%s", diff)
	}

	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == foreign.Type {
			pod.Status.Conditions[i].Status = corev1.ConditionTrue
		}
	}
	pod = write(k, templatePod, pod)
	want := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue}
	if diff := cmp.Diff(want, conditionOf(pod.Status.Conditions, corev1.PodReady), ignoreTimes); diff != "" {
		t.Errorf("Ready (-want +got):\n%s", diff)
	}
}

var ignoreTimes = cmpopts.IgnoreFields(corev1.PodCondition{}, "LastTransitionTime")

func conditionOf(conditions []corev1.PodCondition, kind corev1.PodConditionType) corev1.PodCondition {
	for _, c := range conditions {
		if c.Type == kind {
			return c
		}
	}
	return corev1.PodCondition{}
}

func TestPodPatchOfASteadyPodChangesNothing(t *testing.T) {
	t.Parallel()
	k := newKubelet(t)
	pod := write(k, templatePod, newLife(t, withInit).pod)
	k.clock.SetTime(start.Add(time.Minute))
	if diff := cmp.Diff(pod, write(k, templatePod, pod)); diff != "" {
		t.Errorf("pod (-before +after):\n%s", diff)
	}
	if k.asked != 1 {
		t.Errorf("addresses were asked for %d times, want once", k.asked)
	}
}

func TestPodPatchNamesThePodItIsFor(t *testing.T) {
	t.Parallel()
	patch, err := newKubelet(t).renderer.ToJSON(templatePod, newLife(t).pod)
	if err != nil {
		t.Fatalf("rendering: %v", err)
	}
	var got struct {
		Metadata struct{ UID, ResourceVersion string }
	}
	if err := json.Unmarshal(patch, &got); err != nil {
		t.Fatalf("decoding: %v", err)
	}
	if got.Metadata.UID != "1" || got.Metadata.ResourceVersion != "7" {
		t.Errorf("the patch is for UID %q at version %q, want 1 at 7: it must not reach a later state or a later pod of the same name",
			got.Metadata.UID, got.Metadata.ResourceVersion)
	}
}

func TestNodePatchReportsTroubleAndRecovery(t *testing.T) {
	t.Parallel()
	k := newKubelet(t)
	node := write(k, templateNode, &corev1.Node{})
	check := func(want corev1.ConditionStatus, since time.Time) {
		t.Helper()
		for _, c := range node.Status.Conditions {
			if c.Type == corev1.NodeReady && (c.Status != want || !c.LastTransitionTime.Equal(&metav1.Time{Time: since})) {
				t.Errorf("Ready is %s since %s, want %s since %s", c.Status, c.LastTransitionTime, want, since)
			}
			if c.LastHeartbeatTime.Unix() != k.clock.Now().Unix() {
				t.Errorf("heartbeat of %s is %s, want %s", c.Type, c.LastHeartbeatTime, k.clock.Now())
			}
		}
		if len(node.Status.Conditions) != 4 {
			t.Errorf("node has %d conditions, want 4", len(node.Status.Conditions))
		}
	}
	check(corev1.ConditionTrue, start)
	k.clock.SetTime(start.Add(time.Minute))
	node = write(k, templateNode, node)
	check(corev1.ConditionTrue, start)
	node.Annotations = map[string]string{AnnotationNotReady: "true"}
	node = write(k, templateNode, node)
	check(corev1.ConditionFalse, start.Add(time.Minute))
	node.Annotations = nil
	k.clock.SetTime(start.Add(2 * time.Minute))
	node = write(k, templateNode, node)
	check(corev1.ConditionTrue, start.Add(2*time.Minute))
}
