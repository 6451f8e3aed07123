// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	watchtools "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// portKey is what two live pods may never share.
type portKey struct {
	node, hostIP string
	protocol     corev1.Protocol
	number       int32
}

// portWatch follows all pods of the cluster and holds the promises that count most at every single event: no two live
// pods share a host port of a node, a set never has more live pods than wanted, and no server that runs is lost.
type portWatch struct {
	mu      sync.Mutex
	holders map[portKey]types.UID
	live    map[types.UID]string
	lost    []string
	most    int
	broken  []string
	done    chan struct{}
}

// watchPorts starts watching, until the test ends. The limit bounds the live pods of the test's namespace. A connection
// that breaks is taken up where it broke, so that no event is missed.
func (e env) watchPorts(limit int) *portWatch {
	e.Helper()
	w := &portWatch{holders: map[portKey]types.UID{}, live: map[types.UID]string{}, done: make(chan struct{})}
	var pods corev1.PodList
	e.must(berth.Client.List(e.Context(), &pods), "listing pods")
	for i := range pods.Items {
		w.see(watch.Added, &pods.Items[i], e.namespace, limit)
	}
	ctx, cancel := context.WithCancel(e.Context())
	events, err := watchtools.NewRetryWatcherWithContext(ctx, pods.ResourceVersion, podWatcher{})
	e.must(err, "watching pods")
	go func() {
		defer close(w.done)
		for event := range events.ResultChan() {
			if pod, ok := event.Object.(*corev1.Pod); ok {
				w.see(event.Type, pod, e.namespace, limit)
			}
		}
	}()
	e.Cleanup(func() { cancel(); events.Stop() })
	return w
}

// podWatcher opens one connection that watches all pods.
type podWatcher struct{}

func (podWatcher) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return berth.Client.Watch(ctx, &corev1.PodList{}, &client.ListOptions{Raw: &options})
}

func (w *portWatch) see(event watch.EventType, pod *corev1.Pod, namespace string, limit int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	over := event == watch.Deleted || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	for _, key := range portsOf(pod) {
		holder, taken := w.holders[key]
		switch {
		case over && holder == pod.UID:
			delete(w.holders, key)
		case !over && taken && holder != pod.UID:
			w.broken = append(w.broken, fmt.Sprintf("%s and another live pod share %+v", pod.Name, key))
		case !over:
			w.holders[key] = pod.UID
		}
	}
	if pod.Namespace != namespace {
		return
	}
	if over || pod.DeletionTimestamp != nil {
		if _, lived := w.live[pod.UID]; lived && pod.Spec.NodeName != "" {
			w.lost = append(w.lost, pod.Name)
		}
		delete(w.live, pod.UID)
	} else {
		w.live[pod.UID] = pod.Name
	}
	w.most = max(w.most, len(w.live))
	if len(w.live) > limit {
		w.broken = append(w.broken, fmt.Sprintf("%d live pods, wanted at most %d", len(w.live), limit))
	}
}

// check reports every broken promise so far, and that the watch saw something at all.
func (w *portWatch) check(e env) {
	e.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, message := range w.broken {
		if i == 10 {
			e.Errorf("and %d more", len(w.broken)-i)
			return
		}
		e.Error(message)
	}
	if len(w.lost) > 0 {
		e.Errorf("servers that ran were lost: %v", w.lost)
	}
	if w.most == 0 {
		e.Error("the watch saw no pod of the test")
	}
	select {
	case <-w.done:
		e.Error("the watch ended early")
	default:
	}
}

func portsOf(pod *corev1.Pod) []portKey {
	if pod.Spec.NodeName == "" {
		return nil
	}
	var keys []portKey
	for _, container := range pod.Spec.Containers {
		for _, port := range container.Ports {
			if port.HostPort != 0 {
				keys = append(keys, portKey{pod.Spec.NodeName, port.HostIP, port.Protocol, port.HostPort})
			}
		}
	}
	return keys
}
