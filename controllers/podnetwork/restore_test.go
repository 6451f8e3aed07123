// SPDX-License-Identifier: Apache-2.0

package podnetwork

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/berthgames/berth/network/framework"
)

// restorer is a plugin whose Restore does what a test says.
type restorer struct {
	name    string
	restore func(context.Context) error
}

func (r *restorer) Name() string                                        { return r.name }
func (*restorer) Alias() string                                         { return "" }
func (*restorer) Validate(framework.ValidateRequest) framework.Findings { return framework.Findings{} }
func (r *restorer) Restore(ctx context.Context) error                   { return r.restore(ctx) }

// plain is a plugin that remembers nothing.
type plain struct{ framework.Plugin }

func (plain) Name() string { return "Plain" }

// queue keeps what was added.
type queue struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]
	mu    sync.Mutex
	added []string
}

func (q *queue) Add(request reconcile.Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.added = append(q.added, request.Name)
}

func (q *queue) take() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	taken := q.added
	q.added = nil
	slices.Sort(taken)
	return taken
}

func passes(t *testing.T, r *restore, plugin, pod string) (bool, error) {
	t.Helper()
	return r.pass(plugin, types.NamespacedName{Namespace: "ns", Name: pod})
}

func expectWoken(t *testing.T, q *queue, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, q.take()); diff != "" {
		t.Errorf("woken pods (-want +got):\n%s", diff)
	}
}

func TestPodsWaitUntilTheirPluginIsRestored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		finish := make(chan error)
		slow := &restorer{name: "Slow", restore: func(context.Context) error { return <-finish }}
		r, q := newRestore([]framework.Plugin{slow, plain{}}), &queue{}
		if err := r.Start(t.Context(), q); err != nil {
			t.Fatal(err)
		}
		if passed, err := passes(t, r, "Plain", "p-0"); !passed || err != nil {
			t.Errorf("a plugin that remembers nothing: %t, %v; want to pass", passed, err)
		}
		for _, pod := range []string{"a-0", "a-1", "a-0"} {
			if passed, err := passes(t, r, "Slow", pod); passed || err != nil {
				t.Errorf("before the first try ended: %t, %v; want to wait without trouble", passed, err)
			}
		}
		synctest.Wait()
		expectWoken(t, q)

		finish <- errors.New("no such list")
		synctest.Wait()
		expectWoken(t, q, "a-0", "a-1")
		passed, err := passes(t, r, "Slow", "a-0")
		want := "network plugin Slow cannot rebuild what it knows of the cluster: no such list"
		if passed || err == nil || err.Error() != want || framework.EventReason(err) != framework.ReasonRetry {
			t.Errorf("after a try that failed: %t, %v; want %s", passed, err, want)
		}

		time.Sleep(2 * firstRetry) // of the bubble's clock
		finish <- nil
		synctest.Wait()
		expectWoken(t, q, "a-0")
		if passed, err := passes(t, r, "Slow", "a-1"); !passed || err != nil {
			t.Errorf("restored: %t, %v; want to pass", passed, err)
		}
	})
}

func TestRestoreIsTriedAgainMoreAndMoreSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var mu sync.Mutex
		var tries []time.Duration
		start := time.Now()
		broken := &restorer{name: "Broken", restore: func(context.Context) error {
			mu.Lock()
			defer mu.Unlock()
			tries = append(tries, time.Since(start))
			panic("nil map")
		}}
		r := newRestore([]framework.Plugin{broken})
		if err := r.Start(ctx, &queue{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute) // of the bubble's clock
		cancel()
		synctest.Wait()
		count := len(tries)
		if count < 10 || count > 25 {
			t.Errorf("%d tries in ten minutes: %v", count, tries)
		}
		if first := tries[1] - tries[0]; first < firstRetry || first > 2*firstRetry {
			t.Errorf("the second try came after %s", first)
		}
		if last := tries[count-1] - tries[count-2]; last < lastRetry || last > lastRetry+lastRetry/5 {
			t.Errorf("the last pause was %s", last)
		}
		time.Sleep(10 * time.Minute)
		if len(tries) != count {
			t.Error("it is tried after the process was told to stop")
		}
	})
}
