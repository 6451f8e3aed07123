// SPDX-License-Identifier: Apache-2.0

package indexoffset

import (
	"math"
	"math/bits"
	"slices"

	fwk "k8s.io/kube-scheduler/framework"

	"github.com/berthgames/berth/api/schedulerconfig"
)

const (
	// noPeers is the raw score of a place without peers. It is larger than any distance.
	noPeers int64 = math.MaxInt64
	// farthest is the highest final score of a place with peers; one without peers gets fwk.MaxScore.
	farthest = fwk.MaxScore - 1
	// establishedFactor is how many times as far away a peer counts that is older than the window of recent ones.
	establishedFactor = 2
	// nobody stands for a missing neighbour. Indexes are never negative.
	nobody int64 = -1
)

// neighbours are the two peers of one place that matter to a pod: the largest index not above its own, and the smallest
// one above. nobody where there is none.
type neighbours struct {
	below, above int64
}

// findNeighbours searches the peers of one place. ordinals must be ascending.
func findNeighbours(ordinals []int32, of int32) neighbours {
	n := neighbours{below: nobody, above: nobody}
	at, same := slices.BinarySearch(ordinals, of)
	if same {
		// Pods of two sets may carry the same index. Whatever follows is above: looking past a run of equal ones would
		// not change any distance, which is zero already.
		n.below = int64(of)
		return n
	}
	if at > 0 {
		n.below = int64(ordinals[at-1])
	}
	if at < len(ordinals) {
		n.above = int64(ordinals[at])
	}
	return n
}

// merge returns the neighbours in two places taken as one.
func (n neighbours) merge(o neighbours) neighbours {
	n.below = max(n.below, o.below)
	if n.above == nobody || (o.above != nobody && o.above < n.above) {
		n.above = o.above
	}
	return n
}

// nearest is the distance to the closer neighbour, noPeers without any.
func (n neighbours) nearest(of int32) int64 {
	distance := noPeers
	if n.below != nobody {
		distance = int64(of) - n.below
	}
	if n.above != nobody {
		distance = min(distance, n.above-int64(of))
	}
	return distance
}

// preceding is the raw score of OpenKruiseGame's scheduler: the distance to the neighbour below; the smallest peer
// index, which then is the neighbour above, if none is below; noPeers without any.
// Source: scheduler-index-offset spec, section 3.
func (n neighbours) preceding(of int32) int64 {
	switch {
	case n.below != nobody:
		return int64(of) - n.below
	case n.above != nobody:
		return n.above
	default:
		return noPeers
	}
}

// around is what lies around a pod's index in one place. All peers are recent if no window is set.
type around struct {
	recent, established neighbours
}

// distance is the raw score of the place for the pod with index of.
func (a around) distance(by schedulerconfig.Distance, of int32) int64 {
	if by == schedulerconfig.DistancePreceding {
		return a.recent.preceding(of) // validation allows no window here, so there are no established ones
	}
	distance := a.recent.nearest(of)
	if old := a.established.nearest(of); old != noPeers {
		distance = min(distance, establishedFactor*old)
	}
	return distance
}

// normalize turns raw scores, which are distances or noPeers, into final ones in place: 100 without peers, at most 99
// with. A larger distance never gets less. The largest one among the nodes gets 99 alone, so that with a deciding weight
// nothing beats it; below, scores follow the logarithm, so that small distances stay apart however large the largest is.
// The smallest possible distance gets 0.
func normalize(scores fwk.NodeScoreList) {
	shortest, longest := noPeers, int64(0)
	for _, s := range scores {
		if s.Score != noPeers {
			shortest, longest = min(shortest, s.Score), max(longest, s.Score)
		}
	}
	// The logarithm starts at one. A distance of zero, possible between pods of different sets, moves all up by one.
	shift := int64(0)
	if shortest == 0 {
		shift = 1
	}
	for i, s := range scores {
		if s.Score == noPeers {
			scores[i].Score = fwk.MaxScore
			continue
		}
		scores[i].Score = spread(s.Score+shift, longest+shift)
	}
}

// spread maps a distance in 1..longest to 0..farthest.
func spread(distance, longest int64) int64 {
	switch {
	case distance <= 1:
		return 0
	case distance == longest:
		return farthest
	}
	// Rounding must not lift the second largest to the place of the largest.
	return min(farthest*logarithm(distance)/logarithm(longest), farthest-1)
}

// logarithm is the binary logarithm of a distance of at least one, in units of 2^-16: exact at the powers of two, linear
// in between, and so monotone. It stands in a loop over all nodes, for which math.Log is slow.
func logarithm(distance int64) int64 {
	exponent := bits.Len64(uint64(distance)) - 1
	return int64(exponent)<<16 + (distance<<16)>>exponent - 1<<16
}
