// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

func nodeName(w *world) types.NamespacedName {
	return types.NamespacedName{Name: "node-" + w.namespace}
}

func TestWishesReachThePodInOnePatch(t *testing.T) {
	w := newWorld(t)
	w.ready(0)
	w.settle()
	before := suite.wire.counts(w.namespace)["PATCH pods"]
	w.edit(0, func(gs *gamev1alpha1.GameServer) {
		gs.Labels["gs-sync/hold"] = "true"
		gs.Spec = gamev1alpha1.GameServerSpec{
			OpsState: gamev1alpha1.Maintaining, UpdatePriority: ptr.To(intstr.FromString("20")), DeletionPriority: ptr.To(intstr.FromInt32(10)),
			NetworkDisabled: ptr.To(true), Containers: []gamev1alpha1.GameServerContainer{{Name: "game", Image: "game:v2"}},
		}
	})
	w.eventuallyPod(0, "all wishes", func(pod *corev1.Pod) string {
		keys := []string{
			gamev1alpha1.GameServerOpsStateKey, gamev1alpha1.GameServerUpdatePriorityKey, gamev1alpha1.GameServerDeletePriorityKey,
			gamev1alpha1.GameServerNetworkDisabled, "gs-sync/hold",
		}
		got := []string{pod.Spec.Containers[0].Image}
		for _, key := range keys {
			got = append(got, pod.Labels[key])
		}
		return cmp.Diff([]string{"game:v2", "Maintaining", "20", "10", "true", "true"}, got)
	})
	w.eventuallyEvent("GsStateChanged", "OpsState turned from None to Maintaining")
	w.settle()
	if n := suite.wire.counts(w.namespace)["PATCH pods"] - before; n != 1 {
		t.Errorf("%d patches of the pod", n)
	}
	w.eventuallyGS(0, "priorities in the status", func(gs *gamev1alpha1.GameServer) string {
		return cmp.Diff([]string{"20", "10"}, []string{gs.Status.UpdatePriority.String(), gs.Status.DeletionPriority.String()})
	})

	w.edit(0, func(gs *gamev1alpha1.GameServer) { delete(gs.Labels, "gs-sync/hold") })
	w.eventuallyPod(0, "G-12: the copied label gone", func(pod *corev1.Pod) string {
		if _, ok := pod.Labels["gs-sync/hold"]; ok {
			return "still there"
		}
		return ""
	})
}

func TestServiceQualityActs(t *testing.T) {
	quality := gamev1alpha1.ServiceQuality{Name: "players", ServiceQualityAction: []gamev1alpha1.ServiceQualityAction{{
		State: true,
		GameServerSpec: gamev1alpha1.GameServerSpec{
			OpsState:         `{{if eq .Result "0"}}WaitToBeDeleted{{else}}Allocated{{end}}`,
			DeletionPriority: ptr.To(intstr.FromString("{{.Result}}")),
		},
		Annotations: map[string]string{"players": "{{.Result}}"},
	}}}
	quality.Exec = &corev1.ExecAction{Command: []string{"true"}}
	w := newWorld(t, func(set *gamev1alpha1.GameServerSet) {
		set.Spec.ServiceQualities = []gamev1alpha1.ServiceQuality{quality}
	})
	pod := w.ready(0)
	probe := func(result string) {
		w.report(pod, func(status *corev1.PodStatus) {
			setCondition(status, corev1.PodCondition{Type: "game.kruise.io/players", Status: corev1.ConditionTrue, Message: result, LastProbeTime: metav1.Now()})
		})
	}
	want := func(opsState, priority, players string) func(*gamev1alpha1.GameServer) string {
		return func(gs *gamev1alpha1.GameServer) string {
			return cmp.Diff([]string{opsState, priority, players}, []string{string(gs.Spec.OpsState), gs.Spec.DeletionPriority.String(), gs.Annotations["players"]})
		}
	}
	probe("3")
	w.eventuallyGS(0, "three players", want("Allocated", "3", "3"))
	w.edit(0, func(gs *gamev1alpha1.GameServer) { gs.Spec.OpsState = "mine" })
	probe("3")
	w.settle()
	if diff := want("mine", "3", "3")(w.gameServer(0)); diff != "" {
		t.Errorf("what the user wrote did not stand: %s", diff)
	}
	probe("no number")
	w.eventuallyGS(0, "G-10: all but the priority", want("Allocated", "3", "no number"))
	w.eventuallyEvent("InvalidDeletionPriority",
		`Service quality players: deletionPriority: Invalid value: "no number": must be an integer from 0 to 2147483647; the field stays as it is`)
	probe("0")
	w.eventuallyGS(0, "no players", want("WaitToBeDeleted", "0", "0"))
	w.eventuallyPod(0, "no players", func(pod *corev1.Pod) string {
		return cmp.Diff("WaitToBeDeleted", pod.Labels[gamev1alpha1.GameServerOpsStateKey])
	})
}

func TestNodeTroubleIsSeen(t *testing.T) {
	w := newWorld(t)
	w.ready(0)
	node := &corev1.Node{}
	must(t, suite.client.Get(t.Context(), nodeName(w), node))
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown", Message: "Kubelet stopped posting node status."}}
	must(t, suite.client.Status().Update(t.Context(), node))
	want := func(text string) func(*gamev1alpha1.GameServer) string {
		return func(gs *gamev1alpha1.GameServer) string {
			return cmp.Diff(text, conditionOf(gs, gamev1alpha1.NodeNormal))
		}
	}
	w.eventuallyGS(0, "a sick node", want("False Ready:NodeStatusUnknown: Kubelet stopped posting node status."))
	w.eventuallyEvent("Ready:NodeStatusUnknown", "NodeNormal is False: Kubelet stopped posting node status.")
	must(t, suite.client.Delete(t.Context(), node))
	w.eventuallyGS(0, "G-5: no node", want("False NodeNotFound: There is no node named node-"+w.namespace+" in cluster"))
	must(t, suite.client.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-" + w.namespace}}))
	w.eventuallyGS(0, "the node again", want("True : "))
}

func TestF02EvictedPodIsACrash(t *testing.T) {
	w := newWorld(t)
	pod := w.ready(0)
	w.report(pod, func(status *corev1.PodStatus) {
		*status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "The node was low on resource: memory"}
	})
	w.eventually("Crash", func(ctx context.Context) error { return wantState(ctx, pod, gamev1alpha1.Crash) })
	w.eventuallyEvent("Evicted", "PodNormal is False: The node was low on resource: memory")
}

func TestDeletionTimeIsSeenWhileThePodGoes(t *testing.T) {
	w := newWorld(t)
	pod := w.ready(0, func(pod *corev1.Pod) { pod.Finalizers = []string{"test.berth/hold"} })
	must(t, suite.client.Delete(t.Context(), pod))
	w.eventually("Deleting", func(ctx context.Context) error { return wantState(ctx, pod, gamev1alpha1.Deleting) })
}

func TestMissingClaimIsNamed(t *testing.T) {
	w := newWorld(t)
	w.ready(0, func(pod *corev1.Pod) {
		pod.Spec.Volumes = []corev1.Volume{{Name: "save", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "save-arena-0"},
		}}}
	})
	w.eventuallyGS(0, "G-5: the claim", func(gs *gamev1alpha1.GameServer) string {
		want := "False PersistentVolumeClaim Not Found: There is no pvc named " + w.namespace + "/save-arena-0 in cluster"
		return cmp.Diff(want, conditionOf(gs, gamev1alpha1.PersistentVolumeNormal))
	})
}

func TestG15LateNetworkIsToldOnce(t *testing.T) {
	w := newWorld(t)
	pod := w.ready(0, networked)
	w.pass(2 * time.Minute)
	for range 3 {
		w.annotate(pod, "somebody", time.Now().String())
		w.settle()
	}
	events, err := w.events(t.Context(), "GsNetworkState")
	must(t, err)
	if len(events) != 1 || events[0].Series != nil || events[0].Type != corev1.EventTypeWarning {
		t.Errorf("events %+v", events)
	}
	w.annotate(pod, gamev1alpha1.GameServerNetworkStatus, readyReport)
	w.eventuallyGS(0, "the network after all", func(gs *gamev1alpha1.GameServer) string {
		return cmp.Diff([]string{"Ready", "Ready", "203.0.113.9"}, summary(gs))
	})
	w.edit(0, func(gs *gamev1alpha1.GameServer) { gs.Spec.NetworkDisabled = ptr.To(true) })
	w.eventuallyGS(0, "another wish", func(gs *gamev1alpha1.GameServer) string {
		return cmp.Diff(gamev1alpha1.NetworkNotReady, gs.Status.NetworkStatus.DesiredNetworkState)
	})
}
