// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// The limiter that a controller has without one of its own waits more than 16 minutes in the end.
func TestNoServerWaitsLongAfterAnOutage(t *testing.T) {
	t.Parallel()
	limiter := (&Reconciler{}).controllerOptions().RateLimiter
	if limiter == nil {
		t.Fatal("no limiter of its own")
	}
	first := limiter.When(reconcile.Request{})
	last := first
	for range 100 {
		last = limiter.When(reconcile.Request{})
	}
	if first > 10*time.Millisecond || last != 30*time.Second {
		t.Errorf("first %s, last %s", first, last)
	}
}
