// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/internal/index"
)

// gameServerEvents passes everything but updates of the status alone, which are our own.
func gameServerEvents() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e ctrlevent.UpdateEvent) bool {
		return e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration() ||
			!maps.Equal(e.ObjectOld.GetLabels(), e.ObjectNew.GetLabels()) ||
			!maps.Equal(e.ObjectOld.GetAnnotations(), e.ObjectNew.GetAnnotations()) ||
			!equality.Semantic.DeepEqual(e.ObjectOld.GetOwnerReferences(), e.ObjectNew.GetOwnerReferences())
	}}
}

// ownedPods passes pods that carry the name of a set, before or after the change.
func ownedPods() predicate.Predicate {
	owned := func(obj client.Object) bool { return obj.GetLabels()[gamev1alpha1.GameServerOwnerGssKey] != "" }
	return predicate.Funcs{
		CreateFunc:  func(e ctrlevent.CreateEvent) bool { return owned(e.Object) },
		UpdateFunc:  func(e ctrlevent.UpdateEvent) bool { return owned(e.ObjectOld) || owned(e.ObjectNew) },
		DeleteFunc:  func(e ctrlevent.DeleteEvent) bool { return owned(e.Object) },
		GenericFunc: func(ctrlevent.GenericEvent) bool { return false },
	}
}

// nodeHealth passes nodes that come, go, or whose conditions say something else. Heartbeats do not pass. Addresses do not
// pass either: they reach a GameServer through the status of its pod and the report of its network plugin.
func nodeHealth() predicate.Predicate {
	return predicate.Funcs{
		// The pods of nodes that are there from the beginning are looked at anyhow.
		CreateFunc: func(e ctrlevent.CreateEvent) bool { return !e.IsInInitialList },
		UpdateFunc: func(e ctrlevent.UpdateEvent) bool {
			before, ok := e.ObjectOld.(*corev1.Node)
			after, alsoOK := e.ObjectNew.(*corev1.Node)
			return ok && alsoOK && !slices.EqualFunc(before.Status.Conditions, after.Status.Conditions, sameNodeCondition)
		},
		GenericFunc: func(ctrlevent.GenericEvent) bool { return false },
	}
}

func sameNodeCondition(a, b corev1.NodeCondition) bool {
	return a.Type == b.Type && a.Status == b.Status && a.Reason == b.Reason && a.Message == b.Message
}

// setMatters passes sets that appear, because their pods may have been seen before them, and those that change in what
// GameServers take from them: template metadata, service qualities, reclaim policy.
func setMatters() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(e ctrlevent.CreateEvent) bool { return !e.IsInInitialList },
		UpdateFunc: func(e ctrlevent.UpdateEvent) bool {
			before, ok := e.ObjectOld.(*gamev1alpha1.GameServerSet)
			after, alsoOK := e.ObjectNew.(*gamev1alpha1.GameServerSet)
			if !ok || !alsoOK || before.Generation == after.Generation {
				return false
			}
			was, is := &before.Spec.GameServerTemplate, &after.Spec.GameServerTemplate
			return was.ReclaimPolicy != is.ReclaimPolicy || metadataHash(was) != metadataHash(is) ||
				!equality.Semantic.DeepEqual(before.Spec.ServiceQualities, after.Spec.ServiceQualities)
		},
		DeleteFunc:  func(ctrlevent.DeleteEvent) bool { return false },
		GenericFunc: func(ctrlevent.GenericEvent) bool { return false },
	}
}

// podsOnNode finds the game servers of a node through the index of pods by node.
func (r *Reconciler) podsOnNode(ctx context.Context, node client.Object) []reconcile.Request {
	return r.podRequests(ctx, client.MatchingFields{index.PodNodeName: node.GetName()}, client.HasLabels{gamev1alpha1.GameServerOwnerGssKey})
}

func (r *Reconciler) podsOfSet(ctx context.Context, set client.Object) []reconcile.Request {
	return r.podRequests(ctx, client.InNamespace(set.GetNamespace()), client.MatchingFields{index.OwnerGss: set.GetName()})
}

func (r *Reconciler) podRequests(ctx context.Context, opts ...client.ListOption) []reconcile.Request {
	var pods corev1.PodList
	if err := r.client.List(ctx, &pods, append(opts, client.UnsafeDisableDeepCopy)...); err != nil {
		// A map function has nowhere to return an error to.
		log.FromContext(ctx).Error(err, "Listing pods of a changed object failed, its GameServers follow with their next event")
		return nil
	}
	requests := make([]reconcile.Request, 0, len(pods.Items))
	for i := range pods.Items {
		requests = append(requests, requestFor(&pods.Items[i].ObjectMeta))
	}
	return requests
}

func requestFor(meta *metav1.ObjectMeta) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKey{Namespace: meta.Namespace, Name: meta.Name}}
}
