// SPDX-License-Identifier: Apache-2.0

package ports

import "math/bits"

// The chooser fixes numbers for a pod before its node is known, so it can only make it likely that the node will have
// them free. It counts, for a set of k numbers, the nodes on which all of them are free together, and takes off what pods
// without a node are going to use. The best set wins; among equals the one that the pod's identity points at, so that
// replicas which choose at the same moment for different pods of one set choose differently.
//
// Sets are tried in blocks. All pods that want k numbers use the same aligned blocks of k numbers, so two pods either share
// a whole block or nothing. A node with room for s pods and s blocks can then always be filled, whereas free combinations
// break up the numbers of a node until no k of them are left that another pod was given
// (hostport-at-scheduling-time.md, experiments E2b and E3). That holds as long as no more blocks are in use than a node
// has room for pods; so when there are only a few blocks more than that, the surplus is left alone. Protocols that no
// number has to share, TCP for one port and UDP for another, are blocked apart from each other, since they do not
// compete. Only when no block is free anywhere numbers are combined freely.

// one is the weight of a node, and of a pod that competes for it, in scores.
const one = 1024

// Input is what a choice depends on. Choose changes nothing in it.
type Input struct {
	// Range holds the numbers. All other fields speak of a number by its offset in the range.
	Range Range
	// Wants has an element for each number that is needed: the protocols it must be free in. Never empty.
	Wants []Protocols
	// Excluded are offsets that may not be given out.
	Excluded []bool
	// Nodes are the nodes that count.
	Nodes NodeSet
	// Taken are, per protocol and offset, the nodes on which the number is in use.
	Taken *[protocolCount][]NodeSet
	// Held counts, per protocol and node, the numbers in use that could otherwise be given out.
	Held *[protocolCount][]int32
	// Demand is, per protocol and offset, how many pods with this number are still to come to one of Nodes, in units of one.
	Demand *Demand
	// Resting are offsets that were given up a short while ago. They rank behind all others that fit equally well.
	Resting []bool
	// Slots is at least how many pods like this one a node holds, whichever of Nodes it is.
	Slots int
	// Start is where the search begins; any number will do.
	Start uint32
}

// Demand counts, per protocol and offset, how many pods want a number, in units of one.
type Demand [protocolCount][]int32

// of is the demand for a number in the protocol that wants it most: a pod that wants both counts once.
func (d *Demand) of(p Protocols, offset int) int32 {
	var most int32
	p.each(func(protocol int) { most = max(most, d[protocol][offset]) })
	return most
}

// Choice is the answer of Choose.
type Choice struct {
	// Offsets has one offset for each of Wants. All differ. Nil when the range has too few numbers.
	Offsets []int
	// FreeOn is on how many of Nodes all of them are free now.
	FreeOn int

	// score is FreeOn after the demand of others, in units of one. rank is the score with a small deduction for numbers that
	// have to rest.
	score, rank int32
}

// Choose picks one number for each of in.Wants. It always answers while the range has enough numbers, be it with numbers
// that are free nowhere: a pod that waits for its number says so, a pod that was refused says nothing.
func Choose(in Input) Choice {
	c := newChooser(in)
	best := c.bestBlock()
	if best.Offsets != nil && (best.score > 0 || len(in.Wants) == 1) {
		return best
	}
	if free := c.combine(); free.Offsets != nil && (best.Offsets == nil || free.score > best.score) {
		best = free
	}
	if best.FreeOn == 0 {
		if matched := c.matchOneNode(); matched.Offsets != nil {
			best = matched
		}
	}
	return best
}

type chooser struct {
	Input
	numbers int // length of the range
	lanes   []lane
	stride  int // numbers per block
	scratch NodeSet
}

// lane is a group of wants that compete with each other, because a chain of shared protocols joins them.
type lane struct {
	protocols Protocols
	wants     []int // indexes into Wants
}

func newChooser(in Input) *chooser {
	c := &chooser{Input: in, numbers: in.Range.Len(), scratch: make(NodeSet, len(in.Nodes))}
	for i, p := range in.Wants {
		c.addToLane(i, p)
	}
	for _, l := range c.lanes {
		c.stride = max(c.stride, len(l.wants))
	}
	return c
}

// addToLane puts want i into the lane it competes with, and joins lanes that it connects.
func (c *chooser) addToLane(i int, p Protocols) {
	joined := lane{protocols: p}
	var apart []lane
	for _, l := range c.lanes {
		if l.protocols&p == 0 {
			apart = append(apart, l)
			continue
		}
		joined.protocols |= l.protocols
		joined.wants = append(joined.wants, l.wants...)
	}
	joined.wants = append(joined.wants, i)
	c.lanes = append(apart, joined)
}

// bestBlock looks at the blocks that are enough to fill every node, and when none of them is free at all others too.
func (c *chooser) bestBlock() Choice {
	blocks := c.numbers / c.stride
	if blocks < len(c.lanes) {
		return Choice{}
	}
	if few := c.Slots; len(c.lanes) <= few && few < blocks && blocks < 2*few {
		if best := c.bestOf(few, blocks); best.Offsets != nil && best.score > 0 {
			return best
		}
	}
	return c.bestOf(blocks, blocks)
}

// bestOf looks at the first few of all blocks, beginning with the one that Start points at.
func (c *chooser) bestOf(few, blocks int) Choice {
	var best Choice
	all := int32(c.Nodes.Len()) * one
	offsets := make([]int, len(c.Wants))
	for i := range few {
		block := (int(c.Start%uint32(few)) + i) % few
		if !c.fill(offsets, block, blocks) {
			continue
		}
		free, score, rank := c.judge(offsets)
		if best.Offsets == nil || rank > best.rank {
			best = Choice{Offsets: append(best.Offsets[:0], offsets...), FreeOn: free, score: score, rank: rank}
		}
		if rank == all {
			break // free everywhere and nobody else wants it: there is nothing better
		}
	}
	return best
}

// fill writes the numbers of a block: each lane uses a block of its own, so that all numbers differ. False when one of
// them may not be given out.
func (c *chooser) fill(offsets []int, block, blocks int) bool {
	for at, l := range c.lanes {
		first := (block + at) % blocks * c.stride
		for j, want := range l.wants {
			if c.excluded(first + j) {
				return false
			}
			offsets[want] = first + j
		}
	}
	return true
}

func (c *chooser) excluded(offset int) bool {
	return offset < len(c.Excluded) && c.Excluded[offset]
}

func (c *chooser) resting(offset int) bool {
	return offset < len(c.Resting) && c.Resting[offset]
}

// judge counts the nodes on which all numbers are free together, and what is left of them after the demand of others.
func (c *chooser) judge(offsets []int) (free int, score, rank int32) {
	var demand int32
	rest := false
	for i, p := range c.Wants {
		demand = max(demand, c.Demand.of(p, offsets[i]))
		rest = rest || c.resting(offsets[i])
	}
	free = c.freeTogether(offsets)
	score = int32(free)*one - demand
	return free, score, deduct(score, rest)
}

// deduct ranks numbers that have to rest behind their equals.
func deduct(score int32, rest bool) int32 {
	if rest {
		return score - 1
	}
	return score
}

func (c *chooser) freeTogether(offsets []int) int {
	if len(offsets) == 1 && bits.OnesCount8(uint8(c.Wants[0])) == 1 {
		return c.Nodes.countWithout(c.Taken[bits.TrailingZeros8(uint8(c.Wants[0]))][offsets[0]])
	}
	copy(c.scratch, c.Nodes)
	for i, p := range c.Wants {
		p.each(func(protocol int) { c.scratch.subtract(c.Taken[protocol][offsets[i]]) })
	}
	return c.scratch.Len()
}

// combine picks number after number, the ones with the most protocols first, each time the one that leaves the most
// nodes.
func (c *chooser) combine() Choice {
	alive := c.nodesWithEnough()
	offsets := make([]int, len(c.Wants))
	chosen := make([]bool, c.numbers)
	for _, want := range c.hardestFirst() {
		offset, ok := c.bestNumber(c.Wants[want], alive, chosen)
		if !ok {
			return Choice{}
		}
		offsets[want], chosen[offset] = offset, true
		c.Wants[want].each(func(protocol int) { alive.subtract(c.Taken[protocol][offset]) })
	}
	free, score, rank := c.judge(offsets)
	return Choice{Offsets: offsets, FreeOn: free, score: score, rank: rank}
}

// bestNumber is the number that is free on the most of alive after the demand of others, the first one from Start on among
// equals.
func (c *chooser) bestNumber(p Protocols, alive NodeSet, chosen []bool) (int, bool) {
	best, found := 0, false
	var bestRank int32
	for i := range c.numbers {
		offset := (int(c.Start%uint32(c.numbers)) + i) % c.numbers
		if chosen[offset] || c.excluded(offset) {
			continue
		}
		copy(c.scratch, alive)
		p.each(func(protocol int) { c.scratch.subtract(c.Taken[protocol][offset]) })
		rank := deduct(int32(c.scratch.Len())*one-c.Demand.of(p, offset), c.resting(offset))
		if !found || rank > bestRank {
			best, bestRank, found = offset, rank, true
		}
	}
	return best, found
}

// nodesWithEnough are the nodes that have, protocol by protocol, as many free numbers as are wanted.
func (c *chooser) nodesWithEnough() NodeSet {
	usable := c.numbers
	for _, excluded := range c.Excluded {
		if excluded {
			usable--
		}
	}
	enough := make(NodeSet, len(c.Nodes))
	copy(enough, c.Nodes)
	for protocol := range protocolCount {
		wanted := 0
		for _, p := range c.Wants {
			wanted += int(p >> protocol & 1)
		}
		held := c.Held[protocol]
		c.Nodes.each(func(node int) {
			if node < len(held) && usable-int(held[node]) < wanted {
				enough.Remove(node)
			}
		})
	}
	return enough
}

// hardestFirst orders the wants by their number of protocols, stable.
func (c *chooser) hardestFirst() []int {
	var order []int
	for size := protocolCount; size > 0; size-- {
		for i, p := range c.Wants {
			if bits.OnesCount8(uint8(p)) == size {
				order = append(order, i)
			}
		}
	}
	return order
}
