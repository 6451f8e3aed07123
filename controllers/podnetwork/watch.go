// SPDX-License-Identifier: Apache-2.0

package podnetwork

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/network/framework"
)

// watch builds the controller: pods with a network, and what their plugins depend on.
func (r *Reconciler) watch(mgr ctrl.Manager) *builder.Builder {
	b := ctrl.NewControllerManagedBy(mgr).
		Named(ControllerName).
		For(&corev1.Pod{}, builder.WithPredicates(podMatters())).
		WithOptions(controller.Options{MaxConcurrentReconciles: r.options.Workers})
	for _, plugin := range r.plugins.All() {
		watcher, able := plugin.(framework.Watcher)
		if !able {
			continue
		}
		for _, w := range watcher.Watches() {
			b = b.Watches(w.Object, podsOf(mgr, w), builder.WithPredicates(relevant(w)))
		}
	}
	return b
}

// podsOf maps events of a plugin's kind to pods: as the plugin says, or to the pod that owns the object.
func podsOf(mgr ctrl.Manager, w framework.Watch) handler.EventHandler {
	if w.Pods == nil {
		return handler.EnqueueRequestForOwner(mgr.GetScheme(), mgr.GetRESTMapper(), &corev1.Pod{})
	}
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, obj client.Object) []reconcile.Request {
		var requests []reconcile.Request
		for _, pod := range w.Pods(ctx, obj) {
			requests = append(requests, reconcile.Request{NamespacedName: pod})
		}
		return requests
	})
}

func relevant(w framework.Watch) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return w.Relevant == nil || w.Relevant(e.ObjectOld, e.ObjectNew)
	}}
}

// podMatters lets pods with a network type through, and of their updates those that an answer may depend on. Our own write
// of the status is none of them; somebody else's is, so that it is set right again.
func podMatters() predicate.Predicate {
	hasNetwork := func(obj client.Object) bool {
		return obj.GetAnnotations()[gamev1alpha1.GameServerNetworkType] != ""
	}
	return predicate.Funcs{
		CreateFunc:  func(e event.CreateEvent) bool { return hasNetwork(e.Object) },
		DeleteFunc:  func(e event.DeleteEvent) bool { return hasNetwork(e.Object) },
		GenericFunc: func(e event.GenericEvent) bool { return hasNetwork(e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, okBefore := e.ObjectOld.(*corev1.Pod)
			after, okAfter := e.ObjectNew.(*corev1.Pod)
			return okBefore && okAfter && hasNetwork(after) && podChanged(before, after)
		},
	}
}

// podChanged reports whether something changed that the answer of a plugin may depend on.
func podChanged(before, after *corev1.Pod) bool {
	return before.UID != after.UID ||
		before.Spec.NodeName != after.Spec.NodeName ||
		before.Status.Phase != after.Status.Phase ||
		!slices.Equal(before.Status.PodIPs, after.Status.PodIPs) ||
		before.Status.PodIP != after.Status.PodIP ||
		(before.DeletionTimestamp == nil) != (after.DeletionTimestamp == nil) ||
		conditionsChanged(before, after) ||
		keysChanged(before.Annotations, after.Annotations, watchedAnnotations()) ||
		keysChanged(before.Labels, after.Labels, watchedLabels())
}

// watchedAnnotations include the status, so that a foreign edit is noticed. The event of our own write finds the
// annotation as it should be and ends there.
func watchedAnnotations() []string {
	return []string{
		gamev1alpha1.GameServerNetworkType, gamev1alpha1.GameServerNetworkConf,
		gamev1alpha1.GameServerNetworkStatus, gamev1alpha1.GameServerNetworkTriggerTime,
	}
}

func watchedLabels() []string {
	return []string{
		gamev1alpha1.GameServerNetworkDisabled, gamev1alpha1.InplaceUpdateNotReadyBlocker, gamev1alpha1.LifecycleStateKey,
	}
}

func keysChanged(before, after map[string]string, keys []string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return before[key] != after[key] })
}

// conditionsChanged looks at readiness and scheduling, by which plugins open and close a server or tell why it waits.
func conditionsChanged(before, after *corev1.Pod) bool {
	for _, kind := range []corev1.PodConditionType{corev1.PodReady, corev1.PodScheduled} {
		b, a := conditionOf(before, kind), conditionOf(after, kind)
		if b.Status != a.Status || b.Reason != a.Reason {
			return true
		}
	}
	return false
}

func conditionOf(pod *corev1.Pod, kind corev1.PodConditionType) corev1.PodCondition {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == kind {
			return condition
		}
	}
	return corev1.PodCondition{}
}
