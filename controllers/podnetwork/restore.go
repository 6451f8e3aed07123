// SPDX-License-Identifier: Apache-2.0

package podnetwork

import (
	"context"
	"math"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/berthgames/berth/network/framework"
)

// restore lets each plugin that remembers something rebuild it before the plugin is asked for the first time. It is a source
// of the controller, so it starts on the leader only, when the caches of the manager have synced. A plugin that fails is
// tried again with back-off; its pods wait without holding a worker, those of other plugins do not wait. Safe for
// concurrent use.
type restore struct {
	mu      sync.Mutex
	pending map[string]*pendingRestore
}

// pendingRestore is a plugin that was not restored yet. pods are those to wake after the next try; err is what became of
// the last one, nil before the first.
type pendingRestore struct {
	plugin framework.Restorer
	pods   map[types.NamespacedName]struct{}
	err    error
}

var _ source.Source = (*restore)(nil)

func newRestore(plugins []framework.Plugin) *restore {
	r := &restore{pending: map[string]*pendingRestore{}}
	for _, plugin := range plugins {
		if restorer, able := plugin.(framework.Restorer); able {
			r.pending[plugin.Name()] = &pendingRestore{plugin: restorer, pods: map[types.NamespacedName]struct{}{}}
		}
	}
	return r
}

// pass reports whether a plugin may be asked. If not, the pod is woken after the next try, and the error says why the last
// one failed.
func (r *restore) pass(plugin string, pod types.NamespacedName) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, pending := r.pending[plugin]
	if !pending {
		return true, nil
	}
	p.pods[pod] = struct{}{}
	if p.err == nil {
		return false, nil
	}
	return false, framework.Retryf("network plugin %s cannot rebuild what it knows of the cluster: %w", plugin, p.err)
}

// String names the source in logs.
func (*restore) String() string { return "restored network plugins" }

// Start implements source.Source. It returns at once; the tries end with ctx.
func (r *restore) Start(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, p := range r.pending {
		go r.run(ctx, name, p.plugin, queue)
	}
	return nil
}

// run tries until a plugin is restored, and wakes its pods after each try: the first that fails has something to tell.
func (r *restore) run(ctx context.Context, name string, plugin framework.Restorer, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	backOff := wait.Backoff{Duration: firstRetry, Factor: 2, Jitter: 0.1, Steps: math.MaxInt32, Cap: lastRetry}
	for {
		_, err := contained(name, func() (struct{}, error) { return struct{}{}, plugin.Restore(ctx) })
		for pod := range r.tried(name, err) {
			queue.Add(reconcile.Request{NamespacedName: pod})
		}
		if err == nil {
			return
		}
		pause := backOff.Step()
		log.FromContext(ctx).Error(err, "Restoring a network plugin failed, its pods wait", "plugin", name, "retryAfter", pause)
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// tried notes what became of a try and returns the pods that waited for it.
func (r *restore) tried(name string, err error) map[types.NamespacedName]struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.pending[name]
	woken := p.pods
	if err == nil {
		delete(r.pending, name)
		return woken
	}
	p.err, p.pods = err, map[types.NamespacedName]struct{}{}
	return woken
}
