// SPDX-License-Identifier: Apache-2.0

package ports

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// snapshot is all that a ledger knows of a cluster, by names instead of internal numbers.
type snapshot struct {
	Taken     map[string][]Port
	Held      map[string][protocolCount]int32
	Requested map[string]Resources
	Demand    map[string]map[Port]int32
	Eligible  map[string][]string
}

func snap(l *Ledger) snapshot {
	s := snapshot{
		Taken: map[string][]Port{}, Held: map[string][protocolCount]int32{}, Requested: map[string]Resources{},
		Demand: map[string]map[Port]int32{}, Eligible: map[string][]string{},
	}
	for name, i := range l.nodes.byName {
		s.Requested[name] = l.nodes.list[i].requested
		var held [protocolCount]int32
		for protocol := range protocolCount {
			if i < len(l.held[protocol]) {
				held[protocol] = l.held[protocol][i]
			}
			for offset, nodes := range l.taken[protocol] {
				if nodes.Has(i) {
					s.Taken[name] = append(s.Taken[name], Port{Protocol: 1 << protocol, Number: l.options.Range.Min + int32(offset)})
				}
			}
		}
		s.Held[name] = held
	}
	for key, known := range l.selections.byKey {
		known.nodes.each(func(i int) { s.Eligible[key] = append(s.Eligible[key], l.nodes.list[i].name) })
		slices.Sort(s.Eligible[key])
		s.Demand[key] = map[Port]int32{}
		for protocol := range protocolCount {
			for offset, units := range known.demand[protocol] {
				if units != 0 {
					s.Demand[key][Port{Protocol: 1 << protocol, Number: l.options.Range.Min + int32(offset)}] = units
				}
			}
		}
	}
	return s
}

// rebuilt is a ledger that a restarted process fills from a list of what exists.
func (w *world) rebuilt(order []string) *Ledger {
	fresh := NewLedger(w.ledger.options, w.clock)
	for _, p := range []pool{"", "a", "b"} {
		fresh.selections.get(p, &fresh.nodes) // as many questions were asked of it
	}
	for i, name := range order {
		if p, ok := w.pods[name]; ok {
			fresh.SetPod(p.holder)
		}
		if i == len(order)/2 {
			for _, i := range w.ledger.nodes.byName {
				if node := w.ledger.nodes.list[i].node; node != nil {
					fresh.SetNode(node)
				}
			}
		}
	}
	return fresh
}

func wantsGen() *rapid.Generator[[]Protocols] {
	return rapid.SliceOfN(rapid.SampledFrom([]Protocols{TCP, UDP, TCP | UDP}), 1, 3)
}

// Random histories: no number twice, nothing lost, a restart knows as much, and whoever comes alone is not left waiting
// while a node has a slot and enough numbers.
func TestLedgerProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(rt, 8000, 8000+rapid.Int32Range(3, 9).Draw(rt, "numbers"), 8001)
		for _, p := range []pool{"", "a", "b"} {
			w.ledger.selections.get(p, &w.ledger.nodes)
		}
		pools := rapid.SampledFrom([]pool{"", "a", "b"})
		next := 0
		anyPod := func() string {
			names := make([]string, 0, len(w.pods))
			for name := range w.pods {
				names = append(names, name)
			}
			slices.Sort(names)
			if len(names) == 0 {
				rt.Skip("no pods")
			}
			return rapid.SampledFrom(names).Draw(rt, "pod")
		}
		anyNode := func() string {
			if len(w.nodes) == 0 {
				rt.Skip("no nodes")
			}
			return rapid.SampledFrom(w.nodeNames()).Draw(rt, "node")
		}
		rt.Repeat(map[string]func(*rapid.T){
			"add a node": func(rt *rapid.T) {
				name := fmt.Sprintf("n%d", rapid.IntRange(0, 70).Draw(rt, "name"))
				if _, known := w.nodes[name]; !known {
					w.node(name+"/"+string(pools.Draw(rt, "pool")), rapid.Int64Range(0, 4).Draw(rt, "slots"))
				}
			},
			"remove a node and its pods": func(rt *rapid.T) {
				node := anyNode()
				w.removeNode(node)
				for _, name := range w.podNames() {
					if w.pods[name].holder.Node == node {
						w.delete(name)
					}
				}
			},
			"create": func(rt *rapid.T) {
				next++
				p, wants := pools.Draw(rt, "pool"), wantsGen().Draw(rt, "wants")
				if len(wants) > w.ledger.options.Range.Len()-1 {
					rt.Skip("range too small")
				}
				name := fmt.Sprintf("arena-%d", next)
				alone := len(w.waiting()) == 0 && len(w.ledger.promises.byPod) == 0
				created := w.create(name, p, wants...)
				if err := w.wellFormed(created); err != "" {
					rt.Fatal(err)
				}
				if !alone {
					return
				}
				could := w.couldRun(p, wants)
				if waiting := w.schedule(); len(waiting) > 0 && could {
					rt.Fatalf("%s wants %v, got %v and waits though a node has a slot and numbers", name, wants, created.numbers)
				}
			},
			"refused creation": func(rt *rapid.T) {
				next++
				_, _ = w.ledger.Grant(w.request(fmt.Sprintf("arena-%d", next), pools.Draw(rt, "pool"), wantsGen().Draw(rt, "wants")...))
			},
			"dry run": func(rt *rapid.T) {
				before := snap(w.ledger)
				req := w.request(fmt.Sprintf("arena-%d", next+1), pools.Draw(rt, "pool"), wantsGen().Draw(rt, "wants")...)
				req.DryRun = true
				_, _ = w.ledger.Grant(req)
				if diff := cmp.Diff(before, snap(w.ledger)); diff != "" {
					rt.Fatalf("a dry run changed the ledger (-before +after):\n%s", diff)
				}
			},
			"schedule": func(*rapid.T) { w.schedule() },
			"delete":   func(*rapid.T) { w.delete(anyPod()) },
			"the same event again": func(*rapid.T) {
				w.ledger.SetPod(w.pods[anyPod()].holder)
			},
			"a deletion that was missed": func(*rapid.T) {
				name := anyPod()
				p := w.pods[name]
				w.store(name, "", p.pool, nil, Resources{Pods: 1})
			},
			"a foreign pod": func(rt *rapid.T) {
				w.foreign(anyNode(), rapid.Int32Range(7999, 8010).Draw(rt, "number"), rapid.SampledFrom([]Protocols{TCP, UDP}).Draw(rt, "protocol"))
			},
			"time passes": func(rt *rapid.T) {
				w.clock.SetTime(w.clock.Now().Add(time.Duration(rapid.IntRange(1, 40).Draw(rt, "seconds")) * time.Second))
				w.ledger.promises.expire(w.ledger, w.clock.Now())
			},
			"": func(rt *rapid.T) {
				for _, p := range w.ledger.promises.byPod { // promises do not outlive a process
					p.selection.add(w.ledger, p.ports, -1)
				}
				live := snap(w.ledger)
				for _, p := range w.ledger.promises.byPod {
					p.selection.add(w.ledger, p.ports, 1)
				}
				order := rapid.Permutation(append(w.podNames(), "")).Draw(rt, "order")
				if diff := cmp.Diff(snap(w.rebuilt(order)), live); diff != "" {
					rt.Fatalf("a restarted ledger differs (-restarted +live):\n%s", diff)
				}
			},
		})
		for _, name := range w.podNames() {
			w.delete(name)
		}
		for _, node := range w.nodeNames() {
			w.removeNode(node)
		}
		w.ledger.promises.expire(w.ledger, w.clock.Now().Add(time.Hour))
		empty := newWorld(rt, 8000, 8001)
		for _, p := range []pool{"", "a", "b"} {
			empty.ledger.selections.get(p, &empty.ledger.nodes)
		}
		if diff := cmp.Diff(snap(empty.ledger), snap(w.ledger)); diff != "" {
			rt.Fatalf("an empty cluster leaves something behind (-want +got):\n%s", diff)
		}
		if n := len(w.ledger.nodes.unused); n != len(w.ledger.nodes.list) {
			rt.Fatalf("%d of %d node numbers are free", n, len(w.ledger.nodes.list))
		}
	})
}

func (w *world) podNames() []string {
	names := make([]string, 0, len(w.pods))
	for name := range w.pods {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (w *world) wellFormed(p *worldPod) string {
	sorted := slices.Clone(p.numbers)
	slices.Sort(sorted)
	if len(slices.Compact(sorted)) != len(p.numbers) {
		return fmt.Sprintf("%v has a number twice", p.numbers)
	}
	for _, n := range p.numbers {
		offset, ok := w.ledger.offset(n)
		if !ok || w.ledger.excluded[offset] {
			return fmt.Sprintf("%d may not be given out", n)
		}
	}
	return ""
}

// couldRun reports whether some node could take another pod with these wants: every way to pick numbers is tried.
func (w *world) couldRun(p pool, wants []Protocols) bool {
	// The pod that was just created waits and holds nothing on a node yet.
	for _, node := range w.nodeNames() {
		probe := &worldPod{pool: p}
		probe.holder.Requests = Resources{Pods: 1}
		if w.feasible(probe, node) && w.canPick(node, wants, nil) {
			return true
		}
	}
	return false
}

func (w *world) canPick(node string, wants []Protocols, picked []int32) bool {
	if len(picked) == len(wants) {
		return true
	}
	for n := w.ledger.options.Range.Min; n <= w.ledger.options.Range.Max; n++ {
		offset, _ := w.ledger.offset(n)
		if w.ledger.excluded[offset] || slices.Contains(picked, n) || !w.freeOn(node, n, wants[len(picked)]) {
			continue
		}
		if w.canPick(node, wants, append(slices.Clone(picked), n)) {
			return true
		}
	}
	return false
}

func (w *world) freeOn(node string, n int32, p Protocols) bool {
	for _, other := range w.pods {
		for _, held := range other.holder.Held {
			if other.holder.Node == node && held.Number == n && held.Protocol&p != 0 {
				return false
			}
		}
	}
	return true
}
