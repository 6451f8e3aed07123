// SPDX-License-Identifier: Apache-2.0

package gameserverset

import (
	"context"
	"maps"
	"time"

	kruisev1alpha1 "github.com/openkruise/kruise-api/apps/v1alpha1"
	kruisev1beta1 "github.com/openkruise/kruise-api/apps/v1beta1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

// A set of a thousand servers gets thousands of events when it starts, and a pass looks at all of its servers. Events
// that come within these times share one pass.
const (
	// countsDelay is for what only changes the numbers of the status.
	countsDelay = 500 * time.Millisecond
	// wishDelay is for what somebody wants of a server, such as Kill.
	wishDelay = 100 * time.Millisecond
)

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// watcher maps the events of one kind to the set they concern.
type watcher struct {
	// setOf names the set of an object; ok is false when it has none.
	setOf func(client.Object) (key types.NamespacedName, ok bool)
	// changed is how soon an update is looked at: never when matters is false.
	changed func(before, after client.Object) (delay time.Duration, matters bool)
	// cameOrWent is how soon a creation or deletion is looked at.
	cameOrWent time.Duration
}

func (w watcher) handler() handler.EventHandler {
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) { w.add(q, e.Object, w.cameOrWent) },
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queue) { w.add(q, e.Object, w.cameOrWent) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) {
			if delay, matters := w.changed(e.ObjectOld, e.ObjectNew); matters {
				w.add(q, e.ObjectNew, delay)
			}
		},
	}
}

func (w watcher) add(q queue, obj client.Object, delay time.Duration) {
	if key, ok := w.setOf(obj); ok {
		q.AddAfter(reconcile.Request{NamespacedName: key}, delay)
	}
}

// sameName is for sets themselves and for the objects that are named like their set, also those of somebody else: when
// they go, the name is free.
func sameName(obj client.Object) (types.NamespacedName, bool) {
	return client.ObjectKeyFromObject(obj), true
}

// byOwnerLabel is for pods and GameServers.
func byOwnerLabel(obj client.Object) (types.NamespacedName, bool) {
	set := obj.GetLabels()[gamev1alpha1.GameServerOwnerGssKey]
	return types.NamespacedName{Namespace: obj.GetNamespace(), Name: set}, set != ""
}

// setChanged looks at a new status too, later: it was written on top of what the cache had, and may have been compared
// with an older one.
func setChanged(before, after client.Object) (time.Duration, bool) {
	if before.GetGeneration() != after.GetGeneration() || !maps.Equal(before.GetAnnotations(), after.GetAnnotations()) {
		return 0, true
	}
	return countsDelay, before.GetResourceVersion() != after.GetResourceVersion()
}

func workloadChanged(before, after client.Object) (time.Duration, bool) {
	if before.GetGeneration() != after.GetGeneration() || !maps.Equal(before.GetAnnotations(), after.GetAnnotations()) ||
		!equality.Semantic.DeepEqual(before.GetOwnerReferences(), after.GetOwnerReferences()) {
		return 0, true
	}
	a, okA := before.(*kruisev1beta1.StatefulSet)
	b, okB := after.(*kruisev1beta1.StatefulSet)
	return countsDelay, okA && okB && !equality.Semantic.DeepEqual(a.Status, b.Status)
}

// probesChanged: only OpenKruise's progress matters; what is wanted of the marker stands in the set.
func probesChanged(before, after client.Object) (time.Duration, bool) {
	a, okA := before.(*kruisev1alpha1.PodProbeMarker)
	b, okB := after.(*kruisev1alpha1.PodProbeMarker)
	return 0, okA && okB && (a.Status.ObservedGeneration != b.Status.ObservedGeneration ||
		!equality.Semantic.DeepEqual(a.OwnerReferences, b.OwnerReferences))
}

// podChanged looks at what a pass reads of a pod.
func podChanged(before, after client.Object) (time.Duration, bool) {
	a, okA := before.(*corev1.Pod)
	b, okB := after.(*corev1.Pod)
	if !okA || !okB {
		return 0, false
	}
	var countsA, countsB counts
	countsA.add(a)
	countsB.add(b)
	same := countsA == countsB && newServer(0, a, nil) == newServer(0, b, nil) &&
		equality.Semantic.DeepEqual(a.OwnerReferences, b.OwnerReferences)
	return countsDelay, !same
}

// gameServerChanged looks at what a pass reads of a GameServer.
func gameServerChanged(before, after client.Object) (time.Duration, bool) {
	a, okA := before.(*gamev1alpha1.GameServer)
	b, okB := after.(*gamev1alpha1.GameServer)
	if !okA || !okB {
		return 0, false
	}
	same := a.Spec.OpsState == b.Spec.OpsState &&
		equality.Semantic.DeepEqual(a.Spec.DeletionPriority, b.Spec.DeletionPriority) &&
		a.Labels[gamev1alpha1.GameServerDeletingKey] == b.Labels[gamev1alpha1.GameServerDeletingKey] &&
		equality.Semantic.DeepEqual(a.OwnerReferences, b.OwnerReferences)
	return wishDelay, !same
}
