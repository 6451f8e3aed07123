// SPDX-License-Identifier: Apache-2.0

package ports

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// counting is a selector that counts how often it is asked about a node.
type counting struct {
	pool
	asked *int
}

func (c counting) Matches(node *corev1.Node) bool {
	*c.asked++
	return c.pool.Matches(node)
}

// Pods of one kind do not make every node be looked at again; a node that changed is looked at once, and only when a
// selector can tell the difference.
func TestNodesAreAskedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 8000, 8009)
	for i := range 100 {
		w.node(fmt.Sprintf("n%d", i), 10)
	}
	asked := 0
	grant := func(name string) {
		t.Helper()
		req := w.request(name, "", TCP)
		req.Selector = counting{pool: "a", asked: &asked}
		if _, err := w.ledger.Grant(req); err != nil {
			t.Fatal(err)
		}
	}
	steps := []struct {
		what string
		do   func()
		want int
	}{
		{"the first pod", func() { grant("g-0") }, 100},
		{"the second pod", func() { grant("g-1") }, 0},
		{"a heartbeat", func() { w.node("n7", 10) }, 0},
		{"a new pool", func() { w.node("n7/a", 10) }, 1},
		{"a cordon", func() {
			w.ledger.SetNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n8", Labels: map[string]string{"pool": ""}}, Spec: corev1.NodeSpec{Unschedulable: true}})
		}, 1},
		{"a new node", func() { w.node("n100", 10) }, 1},
		{"the third pod", func() { grant("g-2") }, 0},
	}
	for _, step := range steps {
		asked = 0
		step.do()
		if asked != step.want {
			t.Errorf("%s: %d nodes were looked at, want %d", step.what, asked, step.want)
		}
	}
}

// Kinds of pods that nobody uses any more are forgotten, those that somebody waits in are not.
func TestSelectionsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 8000, 8009)
	w.node("n1", 10)
	w.create("waiting-0", "first", TCP)
	for i := range 2 * maxSelections {
		req := w.request("g-0", pool(fmt.Sprint(i)), TCP)
		req.DryRun = true
		if _, err := w.ledger.Grant(req); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(w.ledger.selections.byKey); n != maxSelections {
		t.Errorf("%d are kept, want %d", n, maxSelections)
	}
	if _, kept := w.ledger.selections.byKey["pool=first"]; !kept {
		t.Error("the one with a waiting pod was forgotten")
	}
}

// A rollout of a daemon set has a kind of pod per node. They all are kept while their pods wait, and no longer.
func TestSelectionsShrinkBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 8000, 8009)
	w.node("n1", 10)
	const kinds = 2 * maxSelections
	for i := range kinds {
		w.store(fmt.Sprintf("agent-%d", i), "", pool(fmt.Sprint(i)), []Port{{Protocol: TCP, Number: 8000}}, Resources{})
	}
	if n := len(w.ledger.selections.byKey); n != kinds {
		t.Errorf("%d are kept while pods wait in %d", n, kinds)
	}
	for i := range kinds {
		w.delete(fmt.Sprintf("agent-%d", i))
	}
	w.admit("g-0", "another", TCP)
	if n := len(w.ledger.selections.byKey); n != maxSelections {
		t.Errorf("%d are kept when nobody waits any more, want %d", n, maxSelections)
	}
	if _, kept := w.ledger.selections.byKey[pool(fmt.Sprint(kinds-1)).Key()]; !kept {
		t.Error("the one that was used last was forgotten before older ones")
	}
}

// What a pod waits with that the ledger does not give out costs nothing.
func TestWaitingOutsideTheRange(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		held []Port
		want int // selections
	}{
		"no host port":                          {nil, 0},
		"below and above the range":             {[]Port{{TCP, 7999}, {UDP, 8010}}, 0},
		"one of two in the range":               {[]Port{{TCP, 7999}, {TCP, 8009}}, 1},
		"a number of the range that is blocked": {[]Port{{TCP, 8001}}, 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 8000, 8009, 8001)
			w.store("agent-0", "", "a", tc.held, Resources{})
			if n := len(w.ledger.selections.byKey); n != tc.want {
				t.Errorf("%d selections, want %d", n, tc.want)
			}
			w.delete("agent-0")
		})
	}
}

// Demand is kept only in the protocols that somebody waits for, and only as long.
func TestDemandIsKeptWhileWaitedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 8000, 8009)
	w.node("n1", 10)
	kept := func() string {
		var protocols Protocols
		for p, units := range w.ledger.selections.byKey["pool="].demand {
			if units != nil {
				protocols |= 1 << p
			}
		}
		return protocols.String()
	}
	steps := []struct {
		what string
		do   func()
		want string
	}{
		{"a look without a promise", func() { w.ledger.Outlook(pool(""), nil) }, ""},
		{"a pod waits", func() { w.create("g-0", "", UDP) }, "UDP"},
		{"a second one", func() { w.create("g-1", "", TCP) }, "TCP+UDP"},
		{"the first is gone", func() { w.delete("g-0") }, "TCP+UDP"},
		{"the last has a node", func() { w.bind("g-1", "n1") }, ""},
		{"a third one", func() { w.create("g-2", "", TCP) }, "TCP"},
	}
	for _, step := range steps {
		step.do()
		if got := kept(); got != step.want {
			t.Errorf("%s: demand in %q, want %q", step.what, got, step.want)
		}
	}
}
