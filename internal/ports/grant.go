// SPDX-License-Identifier: Apache-2.0

package ports

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Request asks for the numbers of one pod that is being created.
type Request struct {
	Pod types.NamespacedName
	// ID identifies the request. The same one gets the same answer while its promise lasts.
	ID types.UID
	// Wants has an element per number: the protocols it must be free in. Never empty.
	Wants []Protocols
	// Own are host ports that the pod holds anyhow. Their numbers are not given out to it again.
	Own []Port
	// Selector says which nodes the pod may use; nil means all.
	Selector Selector
	// Requests is the room the pod needs.
	Requests Resources
	// Start is where the search for numbers begins. Pods of one set should have consecutive ones.
	Start uint32
	// DryRun leaves no promise behind.
	DryRun bool
}

// Grant picks numbers for a pod, in the order of Request.Wants, all different. It prefers numbers that are free on many of
// the nodes that the pod may use and that have room for it. When none fits now the pod still gets the ones most likely
// to become free. The only error is an *ExhaustedError without Kind and Where: the range does not have that many numbers.
func (l *Ledger) Grant(req Request) ([]int32, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	l.promises.expire(l, now)

	before := l.promises.byPod[req.Pod]
	if before != nil && before.request == req.ID && len(before.numbers) == len(req.Wants) {
		return slices.Clone(before.numbers), nil
	}
	if before != nil { // its last creation was refused, or came to nothing; it does not compete with itself
		before.selection.add(l, before.ports, -1)
	}
	chosen, usable := l.choose(req, now)
	if chosen == nil {
		l.restore(before)
		return nil, &ExhaustedError{Protocols: union(req.Wants), Range: l.options.Range, Want: len(req.Wants), Free: usable}
	}
	numbers := make([]int32, len(chosen))
	for i, offset := range chosen {
		numbers[i] = l.options.Range.Min + int32(offset)
	}
	if req.DryRun {
		l.restore(before)
		return numbers, nil
	}
	l.promise(req, numbers, now)
	return slices.Clone(numbers), nil
}

func (l *Ledger) restore(before *promise) {
	if before != nil {
		before.selection.add(l, before.ports, 1)
	}
}

// choose returns offsets, or nil and how many numbers could be given out at all.
func (l *Ledger) choose(req Request, now time.Time) ([]int, int) {
	excluded := slices.Clone(l.excluded)
	for _, p := range req.Own {
		if offset, ok := l.offset(p.Number); ok {
			excluded[offset] = true
		}
	}
	usable := 0
	for _, out := range excluded {
		if !out {
			usable++
		}
	}
	if usable < len(req.Wants) {
		return nil, usable
	}
	eligible := l.selections.get(req.Selector, &l.nodes).nodes
	nodes, slots := l.nodes.room(eligible, req.Requests)
	if nodes.Len() == 0 {
		nodes = eligible
	}
	choice := Choose(Input{
		Range: l.options.Range, Wants: req.Wants, Excluded: excluded, Nodes: nodes, Taken: &l.taken, Held: &l.held,
		Demand: l.selections.demandOn(eligible), Resting: l.resting(now), Slots: slots, Start: req.Start,
	})
	return choice.Offsets, usable
}

func (l *Ledger) resting(now time.Time) []bool {
	if l.options.CoolDown == 0 {
		return nil
	}
	resting := make([]bool, len(l.released))
	for offset, at := range l.released {
		resting[offset] = !at.IsZero() && now.Sub(at) < l.options.CoolDown
	}
	return resting
}

func union(wants []Protocols) Protocols {
	var all Protocols
	for _, p := range wants {
		all |= p
	}
	return all
}

// promises keeps what was granted until the pod is seen or time is up.
type promises struct {
	byPod map[types.NamespacedName]*promise
	queue []*promise // oldest first; all live equally long
}

type promise struct {
	pod       types.NamespacedName
	request   types.UID
	numbers   []int32
	ports     []Port
	selection *selection
	expires   time.Time
}

func (l *Ledger) promise(req Request, numbers []int32, now time.Time) {
	p := &promise{
		pod: req.Pod, request: req.ID, numbers: numbers, expires: now.Add(l.options.PromiseFor),
		selection: l.selections.get(req.Selector, &l.nodes),
	}
	for i, number := range numbers {
		for protocol := range protocolCount {
			if req.Wants[i]&(1<<protocol) != 0 {
				p.ports = append(p.ports, Port{Protocol: 1 << protocol, Number: number})
			}
		}
	}
	p.selection.add(l, p.ports, 1)
	l.promises.byPod[req.Pod] = p
	l.promises.queue = append(l.promises.queue, p)
}

// endPromise ends the promise to a pod, which was seen or whose time is up.
func (l *Ledger) endPromise(p *promise) {
	if l.promises.byPod[p.pod] == p {
		p.selection.add(l, p.ports, -1)
		delete(l.promises.byPod, p.pod)
	}
}

func (s *promises) expire(l *Ledger, now time.Time) {
	for len(s.queue) > 0 && !s.queue[0].expires.After(now) {
		l.endPromise(s.queue[0])
		s.queue[0] = nil
		s.queue = s.queue[1:]
	}
}
