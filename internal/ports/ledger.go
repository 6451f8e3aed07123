// SPDX-License-Identifier: Apache-2.0

package ports

import (
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// Options say what a Ledger gives out.
type Options struct {
	// Range holds the numbers, Blocked those of them that are never given out.
	Range   Range
	Blocked []int32
	// PromiseFor is how long a granted number counts as wanted while the pod was not seen. It has to be longer than the way
	// from an admission to the event of the stored pod, and short, because a creation that was refused promises too.
	PromiseFor time.Duration
	// CoolDown is how long a number that was given up ranks behind its equals. Zero: it does not.
	CoolDown time.Duration
}

// Ledger knows which numbers are in use on which node, by whomever, and grants numbers to pods that are being created.
//
// It is fed with every pod and node of the cluster. The same event may come twice, and late; the order of two pods
// does not matter, so a ledger filled from a list equals one that saw every event. Safe for concurrent use.
type Ledger struct {
	options  Options
	clock    clock.PassiveClock
	excluded []bool // by offset

	mu         sync.Mutex
	nodes      nodeTable
	pods       map[types.UID]*record
	names      map[types.NamespacedName]types.UID
	taken      [protocolCount][]NodeSet // by offset
	held       [protocolCount][]int32   // by node: numbers in use that could be given out
	released   []time.Time              // by offset: when a pod last gave the number up
	selections *selections
	promises   promises
}

// record is a Holder as it was booked.
type record struct {
	Holder
	node      int        // index, or noNode
	selection *selection // set while the pod has no node and holds numbers of the range
}

const noNode = -1

// NewLedger returns an empty ledger. The range must be valid.
func NewLedger(options Options, clk clock.PassiveClock) *Ledger {
	numbers := options.Range.Len()
	l := &Ledger{
		options:    options,
		clock:      clk,
		excluded:   make([]bool, numbers),
		nodes:      nodeTable{byName: map[string]int{}},
		pods:       map[types.UID]*record{},
		names:      map[types.NamespacedName]types.UID{},
		released:   make([]time.Time, numbers),
		selections: newSelections(numbers),
		promises:   promises{byPod: map[types.NamespacedName]*promise{}},
	}
	for p := range protocolCount {
		l.taken[p] = make([]NodeSet, numbers)
	}
	for _, n := range options.Blocked {
		if offset, ok := l.offset(n); ok {
			l.excluded[offset] = true
		}
	}
	return l
}

func (l *Ledger) offset(number int32) (int, bool) {
	if !l.options.Range.Contains(number) {
		return 0, false
	}
	return int(number - l.options.Range.Min), true
}

// SetPod books a pod as it is now. Call it for every pod that exists and has not finished, whatever changed.
func (l *Ledger) SetPod(h Holder) {
	l.mu.Lock()
	defer l.mu.Unlock()
	old := l.pods[h.UID]
	if old != nil {
		if old.sameBooking(h) {
			return
		}
		l.unbook(old, old.Node == h.Node)
	} else {
		// A name belongs to one pod at a time: whoever had it is gone, also when its deletion was missed.
		if gone, ok := l.pods[l.names[h.Name]]; ok {
			l.remove(gone)
		}
		if p, ok := l.promises.byPod[h.Name]; ok {
			l.endPromise(p)
		}
	}
	l.book(h)
}

// RemovePod forgets a pod that is gone, or has finished.
func (l *Ledger) RemovePod(uid types.UID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r, ok := l.pods[uid]; ok {
		l.remove(r)
	}
}

// SetNode books a node as it is now. The ledger keeps the node and does not change it.
func (l *Ledger) SetNode(node *corev1.Node) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := l.nodes.index(node.Name)
	before := l.nodes.list[i].node
	l.nodes.list[i].node = node
	l.nodes.list[i].allocatable = resourcesOf(node.Status.Allocatable)
	if before == nil || !selectAlike(before, node) {
		l.selections.nodeChanged(i, node)
	}
}

// RemoveNode forgets a node that is gone. Pods that are still bound to it keep their numbers there until they are gone too.
func (l *Ledger) RemoveNode(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i, ok := l.nodes.byName[name]
	if !ok {
		return
	}
	l.nodes.list[i].node = nil
	l.selections.nodeGone(i)
	l.nodes.free(i)
}

func (r *record) sameBooking(h Holder) bool {
	if r.Node != h.Node || r.Name != h.Name || r.Requests != h.Requests || len(r.Held) != len(h.Held) {
		return false
	}
	for i, p := range r.Held {
		if p != h.Held[i] {
			return false
		}
	}
	return true // which nodes a pod may use matters only before it has one, and can hardly change
}

func (l *Ledger) remove(r *record) {
	l.unbook(r, false)
	delete(l.pods, r.UID)
	if l.names[r.Name] == r.UID {
		delete(l.names, r.Name)
	}
}

func (l *Ledger) book(h Holder) {
	r := &record{Holder: h, node: noNode}
	l.pods[h.UID] = r
	l.names[h.Name] = h.UID
	if h.Node == "" {
		if l.anyInRange(h.Held) {
			r.selection = l.selections.get(h.Selector, &l.nodes)
			r.selection.add(l, h.Held, 1)
		}
		return
	}
	r.node = l.nodes.index(h.Node)
	n := &l.nodes.list[r.node]
	n.pods++
	n.requested.add(h.Requests, 1)
	for _, p := range h.Held {
		l.take(r.node, p)
	}
}

func (l *Ledger) anyInRange(held []Port) bool {
	return slices.ContainsFunc(held, func(p Port) bool { return l.options.Range.Contains(p.Number) })
}

// unbook undoes book. A pod that stays, on the node it is on, does not give its numbers up.
func (l *Ledger) unbook(r *record, stays bool) {
	if r.selection != nil {
		r.selection.add(l, r.Held, -1)
		r.selection = nil
	}
	if r.node == noNode {
		return
	}
	n := &l.nodes.list[r.node]
	n.pods--
	n.requested.add(r.Requests, -1)
	for _, p := range r.Held {
		l.giveUp(r.node, p, stays)
	}
	l.nodes.free(r.node)
	r.node = noNode
}

func (l *Ledger) take(node int, p Port) {
	offset, ok := l.offset(p.Number)
	if !ok {
		return
	}
	n := &l.nodes.list[node]
	if n.holders == nil {
		n.holders = map[Port]int{}
	}
	n.holders[p]++
	if n.holders[p] > 1 {
		return
	}
	p.Protocol.each(func(protocol int) {
		l.taken[protocol][offset].Add(node)
		l.count(protocol, offset, node, 1)
	})
}

func (l *Ledger) giveUp(node int, p Port, stays bool) {
	offset, ok := l.offset(p.Number)
	if !ok {
		return
	}
	n := &l.nodes.list[node]
	n.holders[p]--
	if n.holders[p] > 0 {
		return
	}
	delete(n.holders, p)
	if !stays {
		l.released[offset] = l.clock.Now()
	}
	p.Protocol.each(func(protocol int) {
		l.taken[protocol][offset].Remove(node)
		l.count(protocol, offset, node, -1)
	})
}

// count keeps how many numbers a node has in use; those that are never given out do not count.
func (l *Ledger) count(protocol, offset, node int, by int32) {
	if l.excluded[offset] {
		return
	}
	for len(l.held[protocol]) <= node {
		l.held[protocol] = append(l.held[protocol], 0)
	}
	l.held[protocol][node] += by
}
