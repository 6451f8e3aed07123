// SPDX-License-Identifier: Apache-2.0

package podnetwork

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

func podWithNetwork() *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		UID:         "1",
		Annotations: map[string]string{gamev1alpha1.GameServerNetworkType: "Test"},
		Labels:      map[string]string{gamev1alpha1.GameServerOwnerGssKey: "a"},
	}}
}

func TestWhichUpdatesOfPodsMatter(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change func(*corev1.Pod)
		want   bool
	}{
		"nothing":                     {func(*corev1.Pod) {}, false},
		"a label of the game":         {func(p *corev1.Pod) { p.Labels["x"] = "y" }, false},
		"the state of the server":     {func(p *corev1.Pod) { p.Labels[gamev1alpha1.GameServerStateKey] = "Ready" }, false},
		"the network is disabled":     {func(p *corev1.Pod) { p.Labels[gamev1alpha1.GameServerNetworkDisabled] = "true" }, true},
		"a node":                      {func(p *corev1.Pod) { p.Spec.NodeName = "n1" }, true},
		"an address":                  {func(p *corev1.Pod) { p.Status.PodIP = "10.0.0.1" }, true},
		"a second address":            {func(p *corev1.Pod) { p.Status.PodIPs = []corev1.PodIP{{IP: "10.0.0.1"}, {IP: "fd00::1"}} }, true},
		"parameters":                  {func(p *corev1.Pod) { p.Annotations[gamev1alpha1.GameServerNetworkConf] = "[]" }, true},
		"somebody wrote the status":   {func(p *corev1.Pod) { p.Annotations[gamev1alpha1.GameServerNetworkStatus] = "{}" }, true},
		"somebody asked for a look":   {func(p *corev1.Pod) { p.Annotations[gamev1alpha1.GameServerNetworkTriggerTime] = "now" }, true},
		"a deletion":                  {func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }, true},
		"the end":                     {func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }, true},
		"readiness":                   {conditions(corev1.PodReady, corev1.ConditionTrue), true},
		"the scheduler found no node": {conditions(corev1.PodScheduled, corev1.ConditionFalse), true},
		"a condition of others":       {conditions("game.kruise.io/idle", corev1.ConditionTrue), false},
		"no network any more":         {func(p *corev1.Pod) { delete(p.Annotations, gamev1alpha1.GameServerNetworkType) }, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, after := podWithNetwork(), podWithNetwork()
			tc.change(after)
			if got := podMatters().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}); got != tc.want {
				t.Errorf("the update matters: %t, want %t", got, tc.want)
			}
		})
	}
}

func conditions(kind corev1.PodConditionType, status corev1.ConditionStatus) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Status.Conditions = []corev1.PodCondition{{Type: kind, Status: status}} }
}

func TestPodsWithoutNetworkDoNotMatter(t *testing.T) {
	t.Parallel()
	if podMatters().Create(event.CreateEvent{Object: &corev1.Pod{}}) || podMatters().Delete(event.DeleteEvent{Object: &corev1.Pod{}}) {
		t.Error("a pod without a network type wakes the controller")
	}
	if !podMatters().Create(event.CreateEvent{Object: podWithNetwork()}) || !podMatters().Delete(event.DeleteEvent{Object: podWithNetwork()}) {
		t.Error("a pod with a network type does not wake the controller")
	}
}
