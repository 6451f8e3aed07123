// SPDX-License-Identifier: Apache-2.0

package ports

import "math/bits"

// Outlook says how a pod stands that has its numbers and waits for a node.
type Outlook struct {
	// Eligible is how many nodes it may use at all, Fitting on how many of them all its numbers are free.
	Eligible, Fitting int
	// MostFree is how many numbers the emptiest eligible node has free for it. A number that the pod holds in several protocols
	// needs one that is free in all of them; of numbers it holds in different protocols, the scarcest kind counts.
	MostFree int
}

// Outlook looks at the nodes of selector for a pod that holds these ports.
func (l *Ledger) Outlook(selector Selector, held []Port) Outlook {
	l.mu.Lock()
	defer l.mu.Unlock()
	eligible := l.selections.get(selector, &l.nodes).nodes
	fitting := make(NodeSet, len(eligible))
	copy(fitting, eligible)
	wants := map[int32]Protocols{} // by number
	for _, p := range held {
		if offset, ok := l.offset(p.Number); ok {
			wants[p.Number] |= p.Protocol
			p.Protocol.each(func(protocol int) { fitting.subtract(l.taken[protocol][offset]) })
		}
	}
	kinds := map[Protocols]bool{}
	for _, protocols := range wants {
		kinds[protocols] = true
	}
	outlook := Outlook{Eligible: eligible.Len(), Fitting: fitting.Len()}
	usable := 0
	for _, out := range l.excluded {
		if !out {
			usable++
		}
	}
	eligible.each(func(node int) {
		free := usable
		for protocols := range kinds {
			free = min(free, usable-l.heldOn(node, protocols))
		}
		outlook.MostFree = max(outlook.MostFree, free)
	})
	return outlook
}

// heldOn counts the numbers that could be given out and that are in use on a node in any of protocols.
func (l *Ledger) heldOn(node int, protocols Protocols) int {
	if bits.OnesCount8(uint8(protocols)) == 1 { // counted already
		if held := l.held[bits.TrailingZeros8(uint8(protocols))]; node < len(held) {
			return int(held[node])
		}
		return 0
	}
	numbers := map[int]bool{}
	for p := range l.nodes.list[node].holders {
		if offset, ok := l.offset(p.Number); ok && !l.excluded[offset] && p.Protocol&protocols != 0 {
			numbers[offset] = true
		}
	}
	return len(numbers)
}
