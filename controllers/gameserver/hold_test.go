// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	"testing"
	"time"

	appspub "github.com/openkruise/kruise-api/apps/pub"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

func TestFirstReportOfAStart(t *testing.T) {
	t.Parallel()
	scheduled := func(p *corev1.Pod) { p.Spec.NodeName = "node-1" }
	running := func(conditions ...func(*corev1.Pod)) *corev1.Pod {
		pod := aPod(append([]func(*corev1.Pod){isNew, scheduled, phase(corev1.PodRunning)}, conditions...)...)
		return pod
	}
	ready := podCond(corev1.PodReady, corev1.ConditionTrue, "", "")
	notReady := podCond(corev1.PodReady, corev1.ConditionFalse, "ContainersNotReady", "containers with unready status: [A]")
	cases := map[string]struct {
		pod      *corev1.Pod
		stored   gamev1alpha1.GameServerStatus
		opsState gamev1alpha1.OpsState
		age      time.Duration
		wantHeld time.Duration
		wantPod  bool
	}{
		"on its way": {pod: aPod(isNew, scheduled), age: 5 * time.Second, wantHeld: 55 * time.Second},
		"on its way, as kubelets say it": {
			pod:      aPod(isNew, scheduled, podCond(corev1.ContainersReady, corev1.ConditionFalse, "ContainersNotReady", "containers with unready status: [A]")),
			wantHeld: time.Minute,
		},
		"on its way, after a status by default": {
			pod: aPod(isNew, scheduled), stored: gamev1alpha1.GameServerStatus{DesiredState: "Ready", CurrentState: "Creating"}, wantHeld: time.Minute,
		},
		"a clock that is an hour behind": {pod: aPod(isNew, scheduled), age: -time.Hour, wantPod: true},
		"on its way for too long":        {pod: aPod(isNew, scheduled), age: time.Minute, wantPod: true},
		"a wish of a user reaches the pod at once": {
			pod: aPod(isNew, scheduled), opsState: "Allocated", wantHeld: time.Minute, wantPod: true,
		},
		"no node for it":               {pod: aPod(isNew, podCond(corev1.PodScheduled, corev1.ConditionFalse, "Unschedulable", "0/3 nodes")), wantPod: true},
		"no image for it":              {pod: aPod(isNew, scheduled, containers(corev1.ContainerStatus{State: waiting("ErrImagePull", "not found")})), wantPod: true},
		"its node is gone":             {pod: aPod(isNew, func(p *corev1.Pod) { p.Spec.NodeName = "node-2" }), wantPod: true},
		"it failed":                    {pod: aPod(isNew, scheduled, phase(corev1.PodFailed)), wantPod: true},
		"its former pod was":           {pod: aPod(isNew, scheduled), stored: gamev1alpha1.GameServerStatus{CurrentState: "Deleting"}, wantPod: true},
		"it is up":                     {pod: running(ready), wantPod: true},
		"it runs and is not ready yet": {pod: running(notReady), age: 4 * time.Second, wantHeld: 6 * time.Second},
		"OpenKruise has yet to open its gate": {
			pod: running(podCond(corev1.ContainersReady, corev1.ConditionTrue, "", ""), podCond(corev1.PodReady, corev1.ConditionFalse, "ReadinessGatesNotReady", "missing")),
			age: 20 * time.Second, wantHeld: 40 * time.Second,
		},
		"it was told to be created and will be ready in a moment": {pod: running(notReady, label(gamev1alpha1.GameServerStateKey, "Creating")), wantHeld: 2 * time.Second},
		"it was told to be created and is not ready":              {pod: running(notReady, label(gamev1alpha1.GameServerStateKey, "Creating")), age: 3 * time.Second, wantPod: true},
		"it runs and does not get ready":                          {pod: running(notReady), age: 11 * time.Second, wantPod: true},
		"it is up and its network comes in a moment":              {pod: running(ready, networked("")), wantHeld: 2 * time.Second},
		"it is up and its network does not come":                  {pod: running(ready, networked("")), age: 3 * time.Second, wantPod: true},
		"it is up and its network is being made":                  {pod: running(ready, networked(`{"currentNetworkState":"Waiting"}`)), wantPod: true},
		"it was up before":                                        {pod: running(notReady, label(gamev1alpha1.GameServerStateKey, "Ready")), wantPod: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gs := aGameServer(ownerPod(podUID))
			gs.Status = tc.stored
			if tc.opsState != "" {
				gs.Spec.OpsState = tc.opsState
			}
			s := seen{pod: tc.pod, gameServer: gs, set: aSet(), now: noon().Add(tc.age)}
			if tc.pod.Spec.NodeName == "node-1" {
				s.node = aNode()
			}
			p := mustDecide(t, s)
			if held := p.status == nil; held != (tc.wantHeld > 0) {
				t.Errorf("status held %v, want %v", held, tc.wantHeld > 0)
			}
			if tc.wantHeld > 0 && p.recheckAfter != tc.wantHeld {
				t.Errorf("again after %s, want %s", p.recheckAfter, tc.wantHeld)
			}
			if p.pod.empty() == tc.wantPod {
				t.Errorf("pod changes %+v, want some: %v", p.pod, tc.wantPod)
			}
		})
	}
}

// The way of an in-place update is reported as Updating and Ready, and nothing between.
func TestInPlaceUpdateIsReportedInTwoSteps(t *testing.T) {
	t.Parallel()
	unready := func(pod *corev1.Pod) {
		podCond(corev1.PodReady, corev1.ConditionFalse, "ReadinessGatesNotReady", "gate")(pod)
		podCondition(pod, corev1.PodReady).LastTransitionTime = metav1.Time{} // as OpenKruise leaves it
	}
	closed := podCond(gamev1alpha1.InPlaceUpdateReady, corev1.ConditionFalse, "StartInPlaceUpdate", "")
	containersUnready := podCond(corev1.ContainersReady, corev1.ConditionFalse, "ContainersNotReady", "[A]")
	cases := map[string]struct {
		from     *corev1.Pod
		pod      *corev1.Pod
		age      time.Duration
		wantHeld time.Duration
	}{
		"the gate closes":                    {from: aPod(), pod: aPod(unready, closed), wantHeld: 2 * time.Second},
		"the gate closed and no update came": {from: aPod(), pod: aPod(unready, closed), age: 3 * time.Second},
		"it stops being ready by itself":     {from: aPod(), pod: aPod(unready)},
		"it is Updating":                     {from: aPod(), pod: aPod(unready, closed, lifecycle(appspub.LifecycleStateUpdating))},
		"its containers restart": {
			from: aPod(unready, closed, lifecycle(appspub.LifecycleStateUpdating)),
			pod:  aPod(unready, closed, containersUnready, lifecycle(appspub.LifecycleStateUpdating)), wantHeld: 10 * time.Second,
		},
		"it was updated and will be ready soon": {
			from: aPod(unready, closed, lifecycle(appspub.LifecycleStateUpdating), annotation(gamev1alpha1.GameServerUpdatingContainersKey, "A")),
			pod:  aPod(unready, containersUnready, lifecycle(appspub.LifecycleStateUpdated), annotation(gamev1alpha1.GameServerUpdatingContainersKey, "A")), age: 4 * time.Second, wantHeld: 6 * time.Second,
		},
		"it was updated, is normal and will be ready soon": {
			from: aPod(unready, closed, lifecycle(appspub.LifecycleStateUpdating)),
			pod:  aPod(unready, podCond(gamev1alpha1.InPlaceUpdateReady, corev1.ConditionTrue, "", ""), lifecycle(appspub.LifecycleStateNormal)), wantHeld: 10 * time.Second,
		},
		"it was updated and does not get ready": {
			from: aPod(unready, closed, lifecycle(appspub.LifecycleStateUpdating)),
			pod:  aPod(unready, containersUnready, lifecycle(appspub.LifecycleStateUpdated)), age: 11 * time.Second,
		},
		"the new image is not there": {
			from: aPod(unready, closed, lifecycle(appspub.LifecycleStateUpdating)),
			pod:  aPod(unready, closed, lifecycle(appspub.LifecycleStateUpdating), containers(corev1.ContainerStatus{State: waiting("ErrImagePull", "not found")})),
		},
		"it is ready again": {
			from: aPod(unready, closed, lifecycle(appspub.LifecycleStateUpdating)), pod: aPod(lifecycle(appspub.LifecycleStateUpdated)),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := settled(t, func(s *seen) { s.pod = tc.from })
			label(gamev1alpha1.GameServerStateKey, string(stateOf(tc.from)))(tc.pod)
			s.pod, s.now = tc.pod, noon().Add(tc.age)
			p := mustDecide(t, s)
			if held := p.status == nil; held != (tc.wantHeld > 0) || p.recheckAfter != tc.wantHeld {
				t.Errorf("held %v, again after %s, want %s", held, p.recheckAfter, tc.wantHeld)
			}
			if wrote := !p.pod.empty(); wrote && tc.wantHeld > 0 {
				t.Errorf("the pod would be written: %+v", p.pod)
			}
		})
	}
}
