// SPDX-License-Identifier: Apache-2.0

package ports

// matchOneNode finds numbers for wants of different protocols on a single node, when counting over all nodes led nowhere. It
// is the classic search for a matching between wants and numbers, so it succeeds whenever some node has numbers for all.
func (c *chooser) matchOneNode() Choice {
	var found Choice
	c.nodesWithEnough().each(func(node int) {
		if found.Offsets != nil {
			return
		}
		if offsets := c.match(node); offsets != nil {
			free, score, rank := c.judge(offsets)
			found = Choice{Offsets: offsets, FreeOn: free, score: score, rank: rank}
		}
	})
	return found
}

// match gives every want a number that is free on the node, or nil.
func (c *chooser) match(node int) []int {
	m := matching{chooser: c, node: node, user: map[int]int{}}
	for want := range c.Wants {
		m.tried = make([]bool, c.numbers)
		if !m.place(want) {
			return nil
		}
	}
	offsets := make([]int, len(c.Wants))
	for offset, want := range m.user {
		offsets[want] = offset
	}
	return offsets
}

type matching struct {
	*chooser
	node  int
	user  map[int]int // offset: the want that has it
	tried []bool
}

// place finds a number for a want, moving wants that were placed before if need be.
func (m *matching) place(want int) bool {
	for i := range m.numbers {
		offset := (int(m.Start%uint32(m.numbers)) + i) % m.numbers
		if m.tried[offset] || m.excluded(offset) || !m.freeOn(m.node, m.Wants[want], offset) {
			continue
		}
		m.tried[offset] = true
		if other, used := m.user[offset]; !used || m.place(other) {
			m.user[offset] = want
			return true
		}
	}
	return false
}

func (c *chooser) freeOn(node int, p Protocols, offset int) bool {
	free := true
	p.each(func(protocol int) { free = free && !c.Taken[protocol][offset].Has(node) })
	return free
}
