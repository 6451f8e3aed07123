// SPDX-License-Identifier: Apache-2.0

package ports

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// maxSelections bounds how many answers to "which nodes may it use" are kept that no pod waits for. There is about one per
// kind of pod, but one per node for a daemon set.
const maxSelections = 256

// selections remembers, for each kind of pod, the nodes it may use, and how many pods of that kind look for a node with
// which numbers. A node that changes is asked about again, all others are not.
type selections struct {
	byKey   map[string]*selection
	numbers int
	tick    uint64
}

type selection struct {
	selector Selector // nil: all nodes
	nodes    NodeSet
	usedAt   uint64
	waiting  int    // pods without a node, and promises, that are in demand
	demand   Demand // of a protocol that nobody waits for: nil
}

func newSelections(numbers int) *selections {
	return &selections{byKey: map[string]*selection{}, numbers: numbers}
}

// get returns the selection of a selector. nil is every node.
func (s *selections) get(selector Selector, nodes *nodeTable) *selection {
	key := ""
	if selector != nil {
		key = selector.Key()
	}
	s.tick++
	if known, ok := s.byKey[key]; ok {
		known.usedAt = s.tick
		return known
	}
	s.evict()
	fresh := &selection{selector: selector, usedAt: s.tick}
	for i := range nodes.list {
		if nodes.list[i].node != nil {
			fresh.ask(i, nodes.list[i].node)
		}
	}
	s.byKey[key] = fresh
	return fresh
}

// evict makes room for one more by forgetting selections that nobody waits in, those first that were not used for the longest
// time. After a time of many waiting kinds this can be more than one.
func (s *selections) evict() {
	excess := len(s.byKey) - maxSelections + 1
	if excess <= 0 {
		return
	}
	var idle []string
	for key, known := range s.byKey {
		if known.waiting == 0 {
			idle = append(idle, key)
		}
	}
	slices.SortFunc(idle, func(a, b string) int { return cmp.Compare(s.byKey[a].usedAt, s.byKey[b].usedAt) })
	for _, key := range idle[:min(excess, len(idle))] {
		delete(s.byKey, key)
	}
}

func (s *selections) nodeChanged(i int, node *corev1.Node) {
	for _, known := range s.byKey {
		known.ask(i, node)
	}
}

func (s *selections) nodeGone(i int) {
	for _, known := range s.byKey {
		known.nodes.Remove(i)
	}
}

func newDemand(numbers int) Demand {
	var d Demand
	for p := range protocolCount {
		d[p] = make([]int32, numbers)
	}
	return d
}

// demandOn sums up what pods without a node want, each in the share in which it may come to one of nodes: a pod that can
// use twenty nodes is unlikely to come to the one that is looked at.
func (s *selections) demandOn(nodes NodeSet) *Demand {
	sum := newDemand(s.numbers)
	for _, known := range s.byKey {
		if known.waiting == 0 {
			continue
		}
		shared, all := known.nodes.countWith(nodes), known.nodes.Len()
		if all == 0 && nodes.Len() == 0 {
			shared, all = 1, 1 // both wait for nodes that are still to come
		}
		if shared > 0 {
			sum.addShare(&known.demand, shared, all)
		}
	}
	return &sum
}

func (d *Demand) addShare(o *Demand, shared, all int) {
	for p := range protocolCount {
		for offset, units := range o[p] {
			if units != 0 {
				d[p][offset] += int32(int64(units) * int64(shared) / int64(all))
			}
		}
	}
}

func (s *selection) ask(i int, node *corev1.Node) {
	if s.selector == nil || s.selector.Matches(node) {
		s.nodes.Add(i)
		return
	}
	s.nodes.Remove(i)
}

// add counts a pod that is still to come, or counts it no more. by is 1 or -1.
func (s *selection) add(l *Ledger, held []Port, by int32) {
	s.waiting += int(by)
	if s.waiting == 0 {
		s.demand = Demand{}
		return
	}
	for _, p := range held {
		offset, ok := l.offset(p.Number)
		if !ok {
			continue
		}
		p.Protocol.each(func(protocol int) {
			if s.demand[protocol] == nil {
				s.demand[protocol] = make([]int32, l.options.Range.Len())
			}
			s.demand[protocol][offset] += by * one
		})
	}
}
