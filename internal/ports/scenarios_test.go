// SPDX-License-Identifier: Apache-2.0

package ports

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

// The scenarios of hostport-at-scheduling-time.md, section 3, and of cases.md, group A, as far as the choice decides them.
func TestScenarios(t *testing.T) {
	t.Parallel()
	cases := map[string]func(t *testing.T){
		"A01: more pods than numbers, as many as numbers times nodes": func(t *testing.T) {
			w := newWorld(t, 30000, 30001)
			for _, n := range []string{"n1", "n2", "n3"} {
				w.node(n, 10)
			}
			for i := range 6 {
				w.create(fmt.Sprintf("g-%d", i), "", TCP)
			}
			if waiting := w.schedule(); len(waiting) > 0 {
				t.Fatalf("%v wait", waiting)
			}
			w.create("g-6", "", TCP) // admitted, though it has to wait
			if diff := cmp.Diff([]string{"g-6"}, w.schedule()); diff != "" {
				t.Errorf("waiting (-want +got):\n%s", diff)
			}
			want := Outlook{Eligible: 3}
			if diff := cmp.Diff(want, w.ledger.Outlook(pool(""), w.pods["g-6"].holder.Held)); diff != "" {
				t.Errorf("outlook (-want +got):\n%s", diff)
			}
		},
		"A08: a reserved number is never given out": func(t *testing.T) {
			w := newWorld(t, 30000, 30001, 30000)
			w.node("a", 10)
			if got := w.admit("g-0", "", TCP); !slices.Equal(got, []int32{30001}) {
				t.Errorf("got %v", got)
			}
		},
		"A09: the number that is free where there is room": func(t *testing.T) {
			w := newWorld(t, 30000, 30001)
			w.node("a", 1)
			w.node("b", 0)
			w.foreign("a", 30000, TCP)
			w.run("g-0", "", TCP)
		},
		"A10: pods beyond the cluster are admitted, and run as nodes come": func(t *testing.T) {
			w := newWorld(t, 30000, 30001)
			w.node("n1", 10)
			for i := range 5 {
				w.create(fmt.Sprintf("g-%d", i), "", TCP)
			}
			if got := len(w.schedule()); got != 3 {
				t.Errorf("%d wait, want 3", got)
			}
			w.node("n2", 10)
			if got := len(w.schedule()); got != 1 {
				t.Errorf("%d wait after a second node, want 1", got)
			}
			w.node("n3", 10)
			if got := w.schedule(); len(got) != 0 {
				t.Errorf("%v wait after a third node", got)
			}
		},
		"A14: a pair does not get a number that is taken in one protocol": func(t *testing.T) {
			w := newWorld(t, 30000, 30001)
			w.node("n1", 10)
			w.foreign("n1", 30000, TCP)
			if got := w.admit("g-0", "", TCP|UDP); !slices.Equal(got, []int32{30001}) {
				t.Errorf("pair: got %v", got)
			}
			w.run("h-1", "", UDP) // 30000/UDP is free, and so is 30001/UDP until the pair is there
		},
		"A24: TCP and UDP of a number share a node": func(t *testing.T) {
			w := newWorld(t, 30000, 30000)
			w.node("n1", 10)
			w.run("t-0", "", TCP)
			w.run("u-0", "", UDP)
		},
		"S1: a small pool": func(t *testing.T) {
			w := newWorld(t, 8000, 8003)
			for _, n := range []string{"a1/a", "b1/b", "b2/b", "b3/b"} {
				w.node(n, 8)
			}
			w.run("a-0", "a", TCP)
			w.run("b-0", "b", TCP)
			w.run("b-1", "b", TCP)
			w.run("b-2", "b", TCP)
			w.run("a-1", "a", TCP)
		},
		"S2: a port that others hold on all nodes": func(t *testing.T) {
			w := newWorld(t, 8000, 8003)
			for _, n := range []string{"n1", "n2"} {
				w.node(n, 4)
				w.foreign(n, 8000, TCP)
			}
			for i := range 8 {
				w.create(fmt.Sprintf("g-%d", i), "", TCP)
				w.schedule()
			}
			if got := len(w.waiting()); got != 2 {
				t.Fatalf("%d wait, want 2", got)
			}
		},
		"S2b: the same under light load": func(t *testing.T) {
			w := newWorld(t, 8000, 8003)
			for _, n := range []string{"n1", "n2"} {
				w.node(n, 4)
				w.foreign(n, 8000, TCP)
			}
			for i := range 3 {
				w.run(fmt.Sprintf("g-%d", i), "", TCP)
			}
		},
		"S3: protocols apart": func(t *testing.T) {
			w := newWorld(t, 8000, 8001)
			w.node("n1", 4)
			w.run("t-0", "", TCP)
			w.run("u-0", "", UDP)
			w.run("t-1", "", TCP)
			w.run("u-1", "", UDP)
		},
		"S4: slots run out before numbers": func(t *testing.T) {
			w := newWorld(t, 8000, 8002)
			w.node("n1", 2)
			w.node("n2", 2)
			for i, node := range []string{"n1", "n2", "n2"} {
				name := fmt.Sprintf("q-%d", i)
				w.create(name, "", TCP)
				w.bind(name, node)
			}
			w.run("q-3", "", TCP)
		},
		"S5: two numbers per pod": func(t *testing.T) {
			w := newWorld(t, 8000, 8004)
			w.node("n1", 2)
			w.node("n2", 2)
			for i := range 4 {
				w.run(fmt.Sprintf("m-%d", i), "", TCP, TCP)
			}
		},
		"S6: a node is removed": func(t *testing.T) {
			w := newWorld(t, 8000, 8003)
			for _, n := range []string{"n0", "n1", "n2"} {
				w.node(n, 3)
			}
			for i := range 6 {
				w.run(fmt.Sprintf("w-%d", i), "", TCP)
			}
			var back []string
			for name, p := range w.pods {
				if p.holder.Node == "n2" {
					back = append(back, name)
				}
			}
			w.removeNode("n2")
			for _, name := range back {
				w.delete(name)
			}
			for _, name := range back {
				w.run(name, "", TCP)
			}
		},
		"S7, H6: refused creations leave nothing behind": func(t *testing.T) {
			w := newWorld(t, 8000, 8003)
			w.node("n1", 4)
			w.admit("l-0", "", TCP)
			for i := range 3 {
				w.run(fmt.Sprintf("r-%d", i), "", TCP)
			}
			w.admit("l-1", "", TCP)
			for i := range 3 {
				w.delete(fmt.Sprintf("r-%d", i))
			}
			w.clock.SetTime(w.clock.Now().Add(w.ledger.options.PromiseFor))
			for i := range 4 {
				w.run(fmt.Sprintf("a-%d", i), "", TCP)
			}
		},
		"S8: a number that is free beats one that a pod of lower priority holds": func(t *testing.T) {
			w := newWorld(t, 8000, 8001)
			w.node("n1", 4)
			w.node("n2", 4)
			w.run("l-0", "n1", TCP)
			w.run("o-0", "n2", TCP)
			w.run("h-0", "n1", TCP)
		},
		"S10: pinned by a volume": func(t *testing.T) {
			w := newWorld(t, 8000, 8001)
			w.node("n1", 4)
			w.node("n2", 4)
			w.run("x-0", "n1", TCP)
			w.run("y-0", "n2", TCP)
			w.run("g-0", "n1", TCP)
		},
		"S11: a terminating pod holds its number, and the next one takes another": func(t *testing.T) {
			w := newWorld(t, 8000, 8001)
			w.node("n1", 4)
			w.run("p-0", "", TCP)
			w.run("q-0", "", TCP)
		},
		"S16: mixed sizes": func(t *testing.T) {
			w := newWorld(t, 8000, 8003)
			w.node("n1", 3)
			w.node("n2", 3)
			w.run("v-0", "", TCP, TCP)
			w.run("v-1", "", TCP, TCP, TCP)
			w.run("v-2", "", TCP, TCP)
		},
	}
	for name, run := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t)
		})
	}
}

// Two replicas that have not seen each other's promises yet choose for different pods of one set.
func TestReplicasChooseApart(t *testing.T) {
	t.Parallel()
	a, b := newWorld(t, 8000, 8099), newWorld(t, 8000, 8099)
	seen := map[int32]string{}
	for i := range 100 {
		w := a
		if i%2 == 1 {
			w = b
		}
		name := fmt.Sprintf("arena-%d", i)
		number := w.admit(name, "", UDP)[0]
		if other, taken := seen[number]; taken {
			t.Fatalf("%s and %s both got %d", name, other, number)
		}
		seen[number] = name
	}
}

// A whole set is created before the scheduler acts, each pod with several numbers, and the numbers of all nodes are just
// enough: experiments E1, E2, E2b and E3 with all pods at once, and the runs that issue reports measured upstream.
func TestBurstFillsTheCluster(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		nodes   int
		slots   int64
		numbers int32
		wants   []Protocols
	}{
		"E1: one number":                          {nodes: 10, slots: 16, numbers: 20, wants: []Protocols{TCP}},
		"E2: two numbers":                         {nodes: 10, slots: 10, numbers: 20, wants: []Protocols{TCP, TCP}},
		"E2b: two numbers and one left over":      {nodes: 10, slots: 10, numbers: 21, wants: []Protocols{TCP, TCP}},
		"E3: three numbers and two left over":     {nodes: 10, slots: 6, numbers: 20, wants: []Protocols{TCP, TCP, TCP}},
		"one UDP and one TCP, 22 numbers":         {nodes: 5, slots: 20, numbers: 22, wants: []Protocols{UDP, TCP}},
		"two UDP, 44 numbers":                     {nodes: 5, slots: 20, numbers: 44, wants: []Protocols{UDP, UDP}},
		"pairs":                                   {nodes: 5, slots: 20, numbers: 21, wants: []Protocols{TCP | UDP}},
		"a pair and a number of its own protocol": {nodes: 5, slots: 10, numbers: 21, wants: []Protocols{TCP | UDP, UDP}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 8000, 8000+tc.numbers-1)
			for i := range tc.nodes {
				w.node(fmt.Sprintf("n%02d", i), tc.slots)
			}
			for i := range tc.nodes * int(tc.slots) {
				w.create(fmt.Sprintf("arena-%d", i), "", tc.wants...)
			}
			if waiting := w.schedule(); len(waiting) > 0 {
				t.Errorf("%d of %d wait: %v", len(waiting), len(w.pods), waiting)
			}
		})
	}
}

func TestGrant(t *testing.T) {
	t.Parallel()
	cases := map[string]func(t *testing.T){
		"the same request gets the same answer, counted once": func(t *testing.T) {
			w := newWorld(t, 8000, 8009)
			w.node("n1", 10)
			first := w.admit("g-0", "", TCP)
			if diff := cmp.Diff(first, w.admit("g-0", "", TCP)); diff != "" {
				t.Errorf("second answer (-want +got):\n%s", diff)
			}
			if got := w.ledger.selections.byKey["pool="].waiting; got != 1 {
				t.Errorf("counted %d times", got)
			}
		},
		"H7: a pod that now wants another number of ports gets them": func(t *testing.T) {
			w := newWorld(t, 8000, 8009)
			w.node("n1", 10)
			w.admit("g-0", "", TCP)
			w.uids++ // another request
			if got := w.admit("g-0", "", TCP, TCP); len(got) != 2 {
				t.Errorf("got %v", got)
			}
			if got := w.ledger.selections.byKey["pool="].waiting; got != 1 {
				t.Errorf("counted %d times", got)
			}
		},
		"H8: a dry run gets the answer of the real request and leaves nothing": func(t *testing.T) {
			w := newWorld(t, 8000, 8009)
			w.node("n1", 10)
			req := w.request("g-0", "", TCP)
			req.DryRun = true
			dry, err := w.ledger.Grant(req)
			if err != nil {
				t.Fatal(err)
			}
			if got := w.ledger.selections.byKey["pool="].waiting; got != 0 || len(w.ledger.promises.byPod) != 0 {
				t.Errorf("%d waiting, %d promises", got, len(w.ledger.promises.byPod))
			}
			if diff := cmp.Diff(dry, w.admit("g-0", "", TCP)); diff != "" {
				t.Errorf("real request (-dry +got):\n%s", diff)
			}
		},
		"H6: a promise ends when its time is up": func(t *testing.T) {
			w := newWorld(t, 8000, 8000)
			w.node("n1", 10)
			w.admit("g-0", "", TCP)
			w.clock.SetTime(w.clock.Now().Add(10 * time.Second))
			w.admit("h-0", "", TCP)
			if got := len(w.ledger.promises.byPod); got != 1 {
				t.Errorf("%d promises, want that of h-0 alone", got)
			}
		},
		"a promise ends when the pod is seen, not when its predecessor is": func(t *testing.T) {
			w := newWorld(t, 8000, 8009)
			w.node("n1", 10)
			w.create("g-0", "", TCP)
			old := w.pods["g-0"].holder
			w.bind("g-0", "n1")
			w.uids++
			w.admit("g-0", "", TCP)
			old.Node = "n1"
			w.ledger.SetPod(old) // a late event
			w.ledger.RemovePod(old.UID)
			if got := len(w.ledger.promises.byPod); got != 1 {
				t.Errorf("%d promises while the pod was not seen", got)
			}
			w.store("g-0", "", "", nil, Resources{Pods: 1})
			if got := len(w.ledger.promises.byPod); got != 0 {
				t.Errorf("%d promises after it was seen", got)
			}
		},
		"H3: more numbers than the range has are refused": func(t *testing.T) {
			w := newWorld(t, 8000, 8002, 8001)
			_, err := w.ledger.Grant(w.request("g-0", "", UDP, UDP, UDP))
			var exhausted *ExhaustedError
			if !errors.As(err, &exhausted) {
				t.Fatalf("got %v", err)
			}
			exhausted.Kind = "host port"
			if diff := cmp.Diff("3 host ports (UDP) in 8000-8002 wanted, 2 free", err.Error()); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		},
		"H10: a number that the pod holds anyhow is not given to it": func(t *testing.T) {
			w := newWorld(t, 8000, 8001)
			w.node("n1", 10)
			req := w.request("g-0", "", UDP)
			req.Own = []Port{{Protocol: TCP, Number: 8000}}
			got, err := w.ledger.Grant(req)
			if err != nil || !slices.Equal(got, []int32{8001}) {
				t.Errorf("got %v, %v", got, err)
			}
		},
		"three different numbers for three ports": func(t *testing.T) {
			w := newWorld(t, 8000, 8010)
			got := w.admit("g-0", "", TCP, TCP, UDP)
			slices.Sort(got)
			if len(slices.Compact(got)) != 3 {
				t.Errorf("got %v", got)
			}
		},
		"without any node the answer still spreads": func(t *testing.T) {
			w := newWorld(t, 8000, 8009)
			counts := map[int32]int{}
			for i := range 30 {
				counts[w.create(fmt.Sprintf("g-%d", i), "", TCP).numbers[0]]++
			}
			for n, count := range counts {
				if count != 3 {
					t.Errorf("%d given %d times, want 3", n, count)
				}
			}
		},
		"A27: a number that was just given up ranks behind its equals": func(t *testing.T) {
			w := newWorld(t, 8000, 8001)
			w.ledger.options.CoolDown = time.Minute
			w.node("n1", 10)
			w.run("g-0", "", UDP)
			before := w.pods["g-0"].numbers[0]
			w.delete("g-0")
			if got := w.admit("g-0", "", UDP)[0]; got == before {
				t.Errorf("got %d again at once", got)
			}
			w.clock.SetTime(w.clock.Now().Add(2 * time.Minute))
			if got := w.admit("g-0", "", UDP)[0]; got != before {
				t.Errorf("got %d after the cool-down, want %d again", got, before)
			}
		},
	}
	for name, run := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t)
		})
	}
}

// The allocation tests of upstream as facts: network-kubernetes.md, A6. Pods of many sets come without ever being bound.
func TestUpstreamAllocationFacts(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		low, high int32
		pods      int
		min, max  int // how often each number is given
	}{
		"8000-8009, 30 pods: every number three times":         {low: 8000, high: 8009, pods: 30, min: 3, max: 3},
		"8000-8009, 100 pods: every number ten times":          {low: 8000, high: 8009, pods: 100, min: 10, max: 10},
		"8000-9000, 10 pods: no number twice":                  {low: 8000, high: 9000, pods: 10, min: 0, max: 1},
		"a range of 3, 10 pods: three or four times":           {low: 8000, high: 8002, pods: 10, min: 3, max: 4},
		"8000-8500, 1000 pods: once or twice":                  {low: 8000, high: 8500, pods: 1000, min: 1, max: 2},
		"800-810, 2 pods while three numbers are used: unused": {low: 800, high: 810, pods: 2, min: 0, max: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tc.low, tc.high)
			w.node("n1", 2000)
			var wg sync.WaitGroup
			numbers := make([]int32, tc.pods)
			for i := range tc.pods {
				wg.Add(1)
				go func() {
					defer wg.Done()
					req := Request{
						Pod: types.NamespacedName{Namespace: "games", Name: fmt.Sprintf("pod-%d", i)}, ID: types.UID(fmt.Sprint(i)),
						Wants: []Protocols{TCP}, Selector: pool(""), Requests: Resources{Pods: 1}, Start: uint32(i) * 2654435761,
					}
					got, err := w.ledger.Grant(req)
					if err != nil {
						t.Errorf("pod %d: %v", i, err)
						return
					}
					numbers[i] = got[0]
					w.ledger.SetPod(Holder{Name: req.Pod, UID: req.ID, Held: []Port{{TCP, got[0]}}, Selector: pool("")})
				}()
			}
			wg.Wait()
			given := map[int32]int{}
			for _, n := range numbers {
				given[n]++
			}
			for n := tc.low; n <= tc.high; n++ {
				if given[n] < tc.min || given[n] > tc.max {
					t.Errorf("%d was given %d times, want %d to %d", n, given[n], tc.min, tc.max)
				}
			}
		})
	}
}
