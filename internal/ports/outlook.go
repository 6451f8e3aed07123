// SPDX-License-Identifier: Apache-2.0

package ports

// Outlook says how a pod stands that has its numbers and waits for a node.
type Outlook struct {
	// Eligible is how many nodes it may use at all, Fitting on how many of them all its numbers are free.
	Eligible, Fitting int
	// MostFree is how many numbers in its protocols the emptiest eligible node has free.
	MostFree int
}

// Outlook looks at the nodes of selector for a pod that holds these ports.
func (l *Ledger) Outlook(selector Selector, held []Port) Outlook {
	l.mu.Lock()
	defer l.mu.Unlock()
	eligible := l.selections.get(selector, &l.nodes).nodes
	fitting := make(NodeSet, len(eligible))
	copy(fitting, eligible)
	var protocols Protocols
	for _, p := range held {
		if offset, ok := l.offset(p.Number); ok {
			protocols |= p.Protocol
			p.Protocol.each(func(protocol int) { fitting.subtract(l.taken[protocol][offset]) })
		}
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
		protocols.each(func(protocol int) {
			if node < len(l.held[protocol]) {
				free = min(free, usable-int(l.held[protocol][node]))
			}
		})
		outlook.MostFree = max(outlook.MostFree, free)
	})
	return outlook
}
