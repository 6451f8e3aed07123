// SPDX-License-Identifier: Apache-2.0

package processpod

import (
	"context"
	"fmt"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/klog/v2"
)

// replace has the pods run instead of those that the Deployment has now. The caller holds the lock.
func (m *Manager) replace(ctx context.Context, d *appsv1.Deployment, pods []*pod) {
	key := keyOf(d)
	w := m.workloads[key]
	if w == nil {
		w = &workload{cancel: func() {}, done: closed()}
		m.workloads[key] = w
	}
	w.group = groupOf(d)
	w.cancel()
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // until the next replace, not until the end of a request
	before, done := w.done, make(chan struct{})
	w.cancel, w.done = cancel, done
	go func() {
		defer close(done)
		defer cancel()
		<-before
		if err := m.roll(ctx, w, pods); err != nil && ctx.Err() == nil {
			klog.FromContext(ctx).Error(err, "Replacing process pods", "deployment", key)
		}
	}()
}

// roll makes the pods of w those given. At first all that are missing are added; then those of another revision are
// replaced, each when the one before is ready; then the surplus goes.
func (m *Manager) roll(ctx context.Context, w *workload, pods []*pod) error {
	m.mu.Lock()
	have := len(w.pods)
	m.mu.Unlock()
	for i := have; i < len(pods) && ctx.Err() == nil; i++ {
		if err := m.put(ctx, w, i, pods[i]); err != nil {
			return err
		}
	}
	for i := range min(have, len(pods)) {
		if m.revision(w, i) == pods[i].revision {
			m.supervisor.Nudge(pods[i].component)
			continue
		}
		if err := m.put(ctx, w, i, pods[i]); err != nil {
			return err
		}
		if err := m.supervisor.WaitReady(ctx, pods[i].component); err != nil {
			return err
		}
	}
	m.mu.Lock()
	var surplus []string
	for _, p := range w.pods[min(len(pods), len(w.pods)):] {
		surplus = append(surplus, p.component)
	}
	w.pods = w.pods[:min(len(pods), len(w.pods))]
	m.mu.Unlock()
	m.supervisor.Remove(surplus...)
	return nil
}

func (m *Manager) revision(w *workload, i int) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return w.pods[i].revision
}

// put starts p as pod i of w, after the end of the one that is there.
func (m *Manager) put(ctx context.Context, w *workload, i int, p *pod) error {
	m.supervisor.Remove(p.component)
	if err := os.RemoveAll(p.folder); err != nil {
		return fmt.Errorf("removing folder of the pod before: %w", err)
	}
	m.mu.Lock()
	if i < len(w.pods) {
		w.pods[i] = p
	} else {
		w.pods = append(w.pods, p)
	}
	m.mu.Unlock()
	return m.supervisor.Add(ctx, p.spec())
}

func closed() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}
