// SPDX-License-Identifier: Apache-2.0

package progress

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clocktesting "k8s.io/utils/clock/testing"
)

func TestPrinterTellsWhenAndHowLong(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	clock := clocktesting.NewFakePassiveClock(time.Unix(0, 0))
	p := New(&out, clock)
	at := func(seconds float64) { clock.SetTime(time.Unix(0, int64(seconds*1e9))) }
	at(1)
	first := p.Step()
	at(2.5)
	second := p.Step()
	second("%d nodes ready", 5)
	at(12)
	first("etcd ready")
	p.Say("that was all")
	want := "[  2.5s] 5 nodes ready (took 0.0s)\n[ 12.0s] etcd ready (took 11.0s)\n[ 12.0s] that was all\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}
