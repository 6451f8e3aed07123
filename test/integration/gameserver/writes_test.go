// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

const readyReport = `{"internalAddresses":[{"ip":"10.0.0.1"}],"externalAddresses":[{"ip":"203.0.113.9"}],` +
	`"currentNetworkState":"Ready","createTime":null,"lastTransitionTime":null}`

func networked(pod *corev1.Pod) {
	pod.Annotations = map[string]string{
		gamev1alpha1.GameServerNetworkType: "Some-Network", gamev1alpha1.GameServerNetworkConf: "null",
	}
}

// A server that starts as it should costs three writes: its GameServer, the state on its pod, its status. The network
// plugin's report is a fourth, by another controller.
func TestWritesFromNothingToReady(t *testing.T) {
	w := newWorld(t)
	const servers = 20
	pods := make([]*corev1.Pod, servers)
	for i := range servers {
		pods[i] = w.newPod(i, networked)
	}
	for _, pod := range pods {
		w.bind(pod, "node-"+w.namespace)
	}
	for _, pod := range pods {
		w.report(pod, func(status *corev1.PodStatus) {
			isReady(status)
			setCondition(status, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.Now()})
		})
		w.report(pod, isReady)
		w.annotate(pod, gamev1alpha1.GameServerNetworkStatus, readyReport)
	}
	for i := range pods {
		w.eventuallyGS(i, "Ready with addresses", func(gs *gamev1alpha1.GameServer) string {
			return cmp.Diff([]string{"Ready", "Ready", "203.0.113.9"}, summary(gs))
		})
	}
	w.settle()
	want := map[string]int{"POST gameservers": servers, "PATCH pods": servers, "PATCH gameservers/status": servers}
	if diff := cmp.Diff(want, suite.wire.counts(w.namespace)); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

func summary(gs *gamev1alpha1.GameServer) []string {
	list := []string{string(gs.Status.CurrentState), string(gs.Status.NetworkStatus.CurrentNetworkState)}
	for _, address := range gs.Status.NetworkStatus.ExternalAddresses {
		list = append(list, address.IP)
	}
	return list
}

// B11: servers at rest are not written, whatever heartbeats and probes go by, and however late their network is.
func TestNoWritesAtRest(t *testing.T) {
	quality := gamev1alpha1.ServiceQuality{Name: "healthy", ServiceQualityAction: []gamev1alpha1.ServiceQualityAction{
		{State: true, GameServerSpec: gamev1alpha1.GameServerSpec{OpsState: "idle"}},
	}}
	quality.Exec = &corev1.ExecAction{Command: []string{"true"}}
	w := newWorld(t, func(set *gamev1alpha1.GameServerSet) {
		set.Spec.ServiceQualities = []gamev1alpha1.ServiceQuality{quality}
	})
	plain, waiting := w.ready(0), w.ready(1, networked)
	probed := func(status *corev1.PodStatus) {
		setCondition(status, corev1.PodCondition{Type: "game.kruise.io/healthy", Status: corev1.ConditionTrue, LastProbeTime: metav1.Now()})
	}
	w.report(plain, probed)
	w.eventuallyPod(0, "opsState of the quality", func(pod *corev1.Pod) string {
		return cmp.Diff("idle", pod.Labels[gamev1alpha1.GameServerOpsStateKey])
	})
	w.pass(2 * time.Minute)
	w.annotate(waiting, "somebody", "looks")
	w.eventually("the late network is told", func(ctx context.Context) error {
		events, err := w.events(ctx, "GsNetworkState")
		if err == nil && len(events) == 0 {
			err = errors.New("no event")
		}
		return err
	})
	w.settle()

	rest := time.Now()
	for range 4 {
		w.report(plain, probed)
		w.report(waiting, func(*corev1.PodStatus) {})
		w.annotate(waiting, "somebody", time.Now().String())
		w.heartbeat()
		w.editSet(func(set *gamev1alpha1.GameServerSet) { *set.Spec.Replicas++ })
		w.settle()
	}
	if writes := suite.wire.since(rest); len(writes) != 0 {
		t.Errorf("%d writes at rest: %v", len(writes), writes)
	}
}

// heartbeat is a node's status update that says nothing new.
func (w *world) heartbeat() {
	w.t.Helper()
	node := &corev1.Node{}
	must(w.t, suite.client.Get(w.t.Context(), nodeName(w), node))
	node.Annotations = map[string]string{"beat": time.Now().String()}
	must(w.t, suite.client.Update(w.t.Context(), node))
}

// A start that takes long is reported: the state label, the status and then the change, with an event.
func TestSlowStartIsReported(t *testing.T) {
	w := newWorld(t)
	pod := w.newPod(0)
	w.bind(pod, "node-"+w.namespace)
	w.eventuallyGS(0, "a GameServer that is Creating without a write", func(gs *gamev1alpha1.GameServer) string {
		return cmp.Diff([]string{"node-" + w.namespace, "Creating"}, []string{gs.Labels[gamev1alpha1.GameServerNodeNameKey], string(gs.Status.CurrentState)})
	})
	w.settle()
	if diff := cmp.Diff(map[string]int{"POST gameservers": 1}, suite.wire.counts(w.namespace)); diff != "" {
		t.Errorf("writes while it starts (-want +got):\n%s", diff)
	}
	w.pass(2 * time.Minute)
	w.annotate(pod, "somebody", "looks")
	w.eventually("Creating", func(ctx context.Context) error { return wantState(ctx, pod, gamev1alpha1.Creating) })
	w.report(pod, isReady)
	w.eventually("Ready", func(ctx context.Context) error { return wantState(ctx, pod, gamev1alpha1.Ready) })
	w.eventuallyEvent("GsStateChanged", "State turned from Creating to Ready")
	if pod.Annotations[gamev1alpha1.GameServerStateLastChangedTime] == "" {
		t.Error("the time of the change is not on the pod")
	}
}
