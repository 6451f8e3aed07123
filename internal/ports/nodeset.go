// SPDX-License-Identifier: Apache-2.0

package ports

import "math/bits"

// NodeSet is a set of nodes, each known by a small index. The nil set is empty. Sets of different length may be mixed.
type NodeSet []uint64

const wordBits = 64

// Has reports whether node i is in the set.
func (s NodeSet) Has(i int) bool {
	w := i / wordBits
	return w < len(s) && s[w]&(1<<(i%wordBits)) != 0
}

// Add puts node i into the set.
func (s *NodeSet) Add(i int) {
	w := i / wordBits
	for len(*s) <= w {
		*s = append(*s, 0)
	}
	(*s)[w] |= 1 << (i % wordBits)
}

// Remove takes node i out of the set.
func (s NodeSet) Remove(i int) {
	if w := i / wordBits; w < len(s) {
		s[w] &^= 1 << (i % wordBits)
	}
}

// Len counts the nodes.
func (s NodeSet) Len() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// each calls f with the index of every node in ascending order.
func (s NodeSet) each(f func(i int)) {
	for at, w := range s {
		for ; w != 0; w &= w - 1 {
			f(at*wordBits + bits.TrailingZeros64(w))
		}
	}
}

// countWithout counts the nodes of s that are not in t.
func (s NodeSet) countWithout(t NodeSet) int {
	n := 0
	both := min(len(s), len(t))
	for i, w := range s[:both] {
		n += bits.OnesCount64(w &^ t[i])
	}
	for _, w := range s[both:] {
		n += bits.OnesCount64(w)
	}
	return n
}

// countWith counts the nodes that are in both sets.
func (s NodeSet) countWith(t NodeSet) int {
	n := 0
	for i, w := range s[:min(len(s), len(t))] {
		n += bits.OnesCount64(w & t[i])
	}
	return n
}

// subtract takes the nodes of t out of s.
func (s NodeSet) subtract(t NodeSet) {
	for i := range s[:min(len(s), len(t))] {
		s[i] &^= t[i]
	}
}
