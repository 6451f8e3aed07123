// SPDX-License-Identifier: Apache-2.0

package podnetwork

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/network/framework"
)

// watchedKind is a kind that wakes pods, with all that plugins said of it.
type watchedKind struct {
	object  client.Object
	watches []pluginWatch
}

// pluginWatch is a framework.Watch with the name of its plugin.
type pluginWatch struct {
	framework.Watch
	plugin string
}

// watchedKinds gathers the watches of all plugins by kind, so that an object is looked at once per event however many
// plugins watch its kind. Kinds are in the order of their first plugin.
func watchedKinds(plugins []framework.Plugin, scheme *runtime.Scheme) ([]watchedKind, error) {
	var kinds []watchedKind
	at := map[schema.GroupVersionKind]int{}
	for _, plugin := range plugins {
		watcher, able := plugin.(framework.Watcher)
		if !able {
			continue
		}
		for _, w := range watcher.Watches() {
			gvk, err := apiutil.GVKForObject(w.Object, scheme)
			if err != nil {
				return nil, fmt.Errorf("watching %T for network plugin %s: %w", w.Object, plugin.Name(), err)
			}
			i, known := at[gvk]
			if !known {
				i = len(kinds)
				at[gvk] = i
				kinds = append(kinds, watchedKind{object: w.Object})
			}
			kinds[i].watches = append(kinds[i].watches, pluginWatch{Watch: w, plugin: plugin.Name()})
		}
	}
	return kinds, nil
}

// handler wakes the pods that events of the kind concern. Objects that are there from the beginning wake nobody: every pod
// is looked at then anyhow.
func (k watchedKind) handler() handler.EventHandler {
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			if !e.IsInInitialList {
				wake(q, k.podsOf(ctx, e.Object))
			}
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			wake(q, k.podsOfChange(ctx, e.ObjectOld, e.ObjectNew))
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			wake(q, k.podsOf(ctx, e.Object))
		},
	}
}

func wake(q workqueue.TypedRateLimitingInterface[reconcile.Request], pods map[types.NamespacedName]struct{}) {
	for pod := range pods {
		q.Add(reconcile.Request{NamespacedName: pod})
	}
}

func (k watchedKind) podsOf(ctx context.Context, obj client.Object) map[types.NamespacedName]struct{} {
	pods := map[types.NamespacedName]struct{}{}
	for _, w := range k.watches {
		w.collect(ctx, pods, obj)
	}
	return pods
}

// podsOfChange has the pods of the object as it was and as it is, since a change may be that it passed to another pod.
func (k watchedKind) podsOfChange(ctx context.Context, before, after client.Object) map[types.NamespacedName]struct{} {
	pods := map[types.NamespacedName]struct{}{}
	for _, w := range k.watches {
		if w.relevant(ctx, before, after) {
			w.collect(ctx, pods, before)
			w.collect(ctx, pods, after)
		}
	}
	return pods
}

// relevant asks the plugin's filter. A filter that panics lets the change through; on this goroutine it would end the
// process.
func (w pluginWatch) relevant(ctx context.Context, before, after client.Object) bool {
	if w.Relevant == nil {
		return true
	}
	is, err := contained(w.plugin, func() (bool, error) { return w.Relevant(before, after), nil })
	if err != nil {
		log.FromContext(ctx).Error(err, "Filter of a network plugin panicked", "kind", fmt.Sprintf("%T", after), "object", client.ObjectKeyFromObject(after))
		return true
	}
	return is
}

// collect adds the pods that an object concerns: as the plugin says, or those that own it.
func (w pluginWatch) collect(ctx context.Context, pods map[types.NamespacedName]struct{}, obj client.Object) {
	find := w.Pods
	if find == nil {
		find = owningPods
	}
	found, err := contained(w.plugin, func() ([]types.NamespacedName, error) { return find(ctx, obj), nil })
	if err != nil {
		log.FromContext(ctx).Error(err, "Network plugin panicked on an event", "kind", fmt.Sprintf("%T", obj), "object", client.ObjectKeyFromObject(obj))
	}
	for _, pod := range found {
		pods[pod] = struct{}{}
	}
}

func owningPods(_ context.Context, obj client.Object) []types.NamespacedName {
	var pods []types.NamespacedName
	for _, owner := range obj.GetOwnerReferences() {
		if owner.APIVersion == "v1" && owner.Kind == "Pod" {
			pods = append(pods, types.NamespacedName{Namespace: obj.GetNamespace(), Name: owner.Name})
		}
	}
	return pods
}

// podMatters lets pods with a network type through, and of their updates those that an answer may depend on. The status
// that we wrote ourselves is none of them; somebody else's is, so that it is set right again.
func podMatters(isOwn func(*corev1.Pod) bool) predicate.Predicate {
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
			return okBefore && okAfter && (hasNetwork(before) || hasNetwork(after)) &&
				(podChanged(before, after) || foreignStatus(before, after, isOwn))
		},
	}
}

// podChanged reports whether something changed that the answer of a plugin may depend on. An update without a new version is
// a look that --sync-period, or a watch that broke off, asks for.
func podChanged(before, after *corev1.Pod) bool {
	return before.UID != after.UID || before.ResourceVersion == after.ResourceVersion ||
		before.Spec.NodeName != after.Spec.NodeName ||
		before.Status.Phase != after.Status.Phase ||
		before.Status.PodIP != after.Status.PodIP || !slices.Equal(before.Status.PodIPs, after.Status.PodIPs) ||
		before.Status.HostIP != after.Status.HostIP || !slices.Equal(before.Status.HostIPs, after.Status.HostIPs) ||
		(before.DeletionTimestamp == nil) != (after.DeletionTimestamp == nil) ||
		conditionsChanged(before, after) ||
		keysChanged(before.Annotations, after.Annotations, watchedAnnotations()) ||
		keysChanged(before.Labels, after.Labels, watchedLabels())
}

func foreignStatus(before, after *corev1.Pod, isOwn func(*corev1.Pod) bool) bool {
	const key = gamev1alpha1.GameServerNetworkStatus
	return before.Annotations[key] != after.Annotations[key] && !isOwn(after)
}

func watchedAnnotations() []string {
	return []string{
		gamev1alpha1.GameServerNetworkType, gamev1alpha1.GameServerNetworkConf, gamev1alpha1.GameServerNetworkTriggerTime,
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
