// SPDX-License-Identifier: Apache-2.0

package ports

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// bigWorld is a cluster whose pods hold one UDP number each, spread as the webhook would give them out.
func bigWorld(b testing.TB, nodes, pods int) *world {
	w := newWorld(b, 8000, 9000)
	for i := range nodes {
		w.node(fmt.Sprintf("n%04d", i), 110)
	}
	for i := range pods {
		h := Holder{
			Name: types.NamespacedName{Namespace: "games", Name: fmt.Sprintf("old-%d", i)}, UID: types.UID(fmt.Sprintf("old-%d", i)),
			Node: fmt.Sprintf("n%04d", i%nodes), Requests: Resources{Pods: 1}, Selector: pool(""),
			Held: []Port{{Protocol: UDP, Number: 8000 + int32(i*7%1001)}},
		}
		w.ledger.SetPod(h)
	}
	return w
}

func bigRequest(i int, wants ...Protocols) Request {
	return Request{
		Pod: types.NamespacedName{Namespace: "games", Name: fmt.Sprintf("new-%d", i%1000)}, ID: types.UID(fmt.Sprint(i)),
		Wants: wants, Selector: pool(""), Requests: Resources{Pods: 1, MilliCPU: 0}, Start: uint32(i), DryRun: true,
	}
}

// Target: a choice under 100 µs in a cluster of 5,000 nodes and 50,000 pods (hostport-at-scheduling-time.md, section 8).
func BenchmarkGrant(b *testing.B) {
	for name, wants := range map[string][]Protocols{"one-udp": {UDP}, "pair": {TCP | UDP}, "two-udp": {UDP, UDP}} {
		b.Run("nodes=5000/pods=50000/"+name, func(b *testing.B) {
			w := bigWorld(b, 5000, 50000)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := w.ledger.Grant(bigRequest(i, wants...)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Target: a pod event under 5 µs, whatever the size of the cluster.
func BenchmarkSetPod(b *testing.B) {
	b.Run("nodes=5000/pods=50000", func(b *testing.B) {
		w := bigWorld(b, 5000, 50000)
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			name := fmt.Sprintf("pod-%d", i)
			h := Holder{Name: types.NamespacedName{Namespace: "games", Name: name}, UID: types.UID(name), Node: "n0001", Held: []Port{{UDP, 8500}}}
			w.ledger.SetPod(h)
			w.ledger.RemovePod(h.UID)
		}
	})
}

// The budget is a hundred times the benchmark's target, because tests share their machine with others and run under the race
// detector; it catches a walk over all pods, which takes milliseconds.
func TestGrantStaysWithinBudget(t *testing.T) {
	w := bigWorld(t, 5000, 50000)
	const rounds = 50
	start := time.Now()
	for i := range rounds {
		if _, err := w.ledger.Grant(bigRequest(i, UDP)); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(start) / rounds; took > 10*time.Millisecond {
		t.Errorf("a choice took %s", took)
	}
}
