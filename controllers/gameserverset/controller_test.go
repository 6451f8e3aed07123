// SPDX-License-Identifier: Apache-2.0

package gameserverset

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func TestASetIsTriedAgainSoonAfterALongOutage(t *testing.T) {
	t.Parallel()
	retries := newRetries()
	if got := retries.When(reconcile.Request{}); got > 10*time.Millisecond {
		t.Errorf("the first retry comes after %s", got)
	}
	var last time.Duration
	for range 50 {
		last = retries.When(reconcile.Request{})
	}
	if last > 30*time.Second {
		t.Errorf("after an outage a set waits for %s, want 30s at most", last)
	}
}
