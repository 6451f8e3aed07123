// SPDX-License-Identifier: Apache-2.0

package hostport

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/berthgames/berth/internal/ports"
)

// Observe implements framework.Observer: the ledger follows all pods and nodes of the cluster.
func (p *Plugin) Observe(ctx context.Context, informers cache.Informers) error {
	var synced []toolscache.InformerSynced
	for _, source := range []struct {
		object  client.Object
		handler toolscache.ResourceEventHandler
	}{
		{&corev1.Pod{}, handler(p.podSeen, p.podGone)},
		{&corev1.Node{}, handler(p.ledger.SetNode, func(n *corev1.Node) { p.ledger.RemoveNode(n.Name) })},
	} {
		informer, err := informers.GetInformer(ctx, source.object)
		if err != nil {
			return fmt.Errorf("watching %T: %w", source.object, err)
		}
		registration, err := informer.AddEventHandler(source.handler)
		if err != nil {
			return fmt.Errorf("handling events of %T: %w", source.object, err)
		}
		synced = append(synced, registration.HasSynced)
	}
	p.synced.Store(&synced)
	return nil
}

// Observed implements framework.Observer.
func (p *Plugin) Observed() bool {
	synced := p.synced.Load()
	if synced == nil {
		return false
	}
	for _, done := range *synced {
		if !done() {
			return false
		}
	}
	return true
}

// handler calls seen for every state of an object and gone when it is no more, also when that was noticed late.
func handler[T client.Object](seen, gone func(T)) toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			if o, ok := obj.(T); ok {
				seen(o)
			}
		},
		UpdateFunc: func(before, obj any) {
			o, ok := obj.(T)
			if !ok {
				return
			}
			// Replaced while the watch was broken: the list that ends the gap knows the name only, so no deletion is told.
			if old, ok := before.(T); ok && old.GetUID() != o.GetUID() {
				gone(old)
			}
			seen(o)
		},
		DeleteFunc: func(obj any) {
			if late, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
				obj = late.Obj
			}
			if o, ok := obj.(T); ok {
				gone(o)
			}
		},
	}
}

func (p *Plugin) podSeen(pod *corev1.Pod) {
	if ports.Finished(pod) {
		p.podGone(pod)
		return
	}
	p.ledger.SetPod(holderOf(pod))
}

func (p *Plugin) podGone(pod *corev1.Pod) { p.ledger.RemovePod(pod.UID) }

func holderOf(pod *corev1.Pod) ports.Holder {
	h := ports.Holder{
		Name:     types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name},
		UID:      pod.UID,
		Node:     pod.Spec.NodeName,
		Held:     ports.HeldBy(pod),
		Requests: requestsOf(pod),
	}
	if h.Node == "" && len(h.Held) > 0 {
		// Without its volumes' rules: where a waiting pod may come is an estimate anyhow. An error cannot happen, and would only
		// mean that the pod may come to any node.
		if s, err := newSelector(pod, nil); err == nil {
			h.Selector = s
		}
	}
	return h
}
