// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/controllers/gameserver"
)

// stale is a cache that is behind on one pod.
type stale struct {
	client.Client
	// pod is what it still shows; nil shows none.
	pod *corev1.Pod
}

func (s stale) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return s.Client.Get(ctx, key, obj, opts...)
	}
	if s.pod == nil {
		return apierrors.NewNotFound(corev1.Resource("pods"), key.Name)
	}
	s.pod.DeepCopyInto(pod)
	return nil
}

func (w *world) reconcileStale(pod *corev1.Pod) {
	w.t.Helper()
	reconciler := gameserver.New(stale{Client: suite.client, pod: pod}, suite.client, suite.clock, &events.FakeRecorder{}, gameserver.Options{
		Workers: 1, NetworkWait: time.Minute,
	})
	if _, err := reconciler.Reconcile(w.t.Context(), reconcile.Request{NamespacedName: w.name(0)}); err != nil {
		w.t.Errorf("reconciling with a stale view: %v", err)
	}
}

func TestStaleViewOfAFormerPodDoesNotTouchTheNext(t *testing.T) {
	w := newWorld(t, keepGameServers)
	former := w.ready(0)
	w.gone(former)
	next := w.ready(0)
	former.Status.Phase = corev1.PodFailed
	w.settle()
	w.reconcileStale(former)
	now := &corev1.Pod{}
	must(t, suite.client.Get(t.Context(), w.name(0), now))
	if now.UID != next.UID || now.Labels[gamev1alpha1.GameServerStateKey] != "Ready" {
		t.Errorf("the next pod was written: state %s", now.Labels[gamev1alpha1.GameServerStateKey])
	}
}

func TestStaleViewOfAFormerPodDoesNotReplaceTheGameServer(t *testing.T) {
	w := newWorld(t)
	former := w.ready(0)
	w.gone(former)
	w.ready(0)
	w.settle()
	gs := w.gameServer(0)
	w.reconcileStale(former)
	if now := w.gameServer(0); now.UID != gs.UID {
		t.Error("the GameServer of the next pod was replaced")
	}
}

func TestStaleViewWithoutAPodDoesNotDeleteTheGameServer(t *testing.T) {
	w := newWorld(t, keepGameServers)
	w.ready(0)
	w.edit(0, func(gs *gamev1alpha1.GameServer) { gs.Labels[gamev1alpha1.GameServerDeletingKey] = "true" })
	w.settle()
	gs := w.gameServer(0)
	w.reconcileStale(nil)
	if now := w.gameServer(0); now.UID != gs.UID {
		t.Error("the GameServer of a living pod was deleted")
	}
}
