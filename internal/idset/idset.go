// SPDX-License-Identifier: Apache-2.0

// Package idset holds sets of game-server ids as intervals, so that a set costs by its number of gaps and not by its
// number of ids: "0-2000000000" is one interval. An id is the ordinal at the end of a pod name, 0 to 2147483647.
//
// Parse and FromList are the only readers of id sets: the annotation game.kruise.io/reserve-ids, the field
// spec.reserveGameServerIds and OpenKruise's spec.reserveOrdinals go through the same element parser. Both are strict:
// the first bad element is an error that names it (core-controllers.md, faults A-1 and S-16).
package idset

import (
	"cmp"
	"iter"
	"math"
	"slices"
)

// MaxID is the largest id.
const MaxID int32 = math.MaxInt32

// MaxBelowMembers is how many reserved ids there may be below the highest member of a workload. OpenKruise counts out
// its reserve list id by id, in memory; a million ids are some tens of megabytes, and two thousand million bring it down.
// Source: Kruise 1.8, pkg/util/api/asts.go, GetReserveOrdinalIntSet.
const MaxBelowMembers = 1 << 20

// span is the ids from first to last, both included.
type span struct {
	first, last int32
}

func (s span) count() int64 { return int64(s.last) - int64(s.first) + 1 }

// Set is a set of ids. The zero value is the empty set. A Set never changes after it was made, so it may be copied and
// shared freely.
type Set struct {
	// spans are in ascending order and neither overlap nor touch.
	spans []span
}

// Of returns the set of the given ids, which may be in any order and may repeat. Negative ids are left out.
func Of(ids ...int32) Set {
	spans := make([]span, 0, len(ids))
	for _, id := range ids {
		if id >= 0 {
			spans = append(spans, span{id, id})
		}
	}
	return normalize(spans)
}

// Range returns the ids from first to last, both included. It is empty when first is above last or last is negative.
func Range(first, last int32) Set {
	first = max(first, 0)
	if first > last {
		return Set{}
	}
	return Set{spans: []span{{first, last}}}
}

// normalize takes over spans of any order and overlap.
func normalize(spans []span) Set {
	if !slices.IsSortedFunc(spans, compareFirst) {
		slices.SortFunc(spans, compareFirst)
	}
	out := spans[:0]
	for _, next := range spans {
		out = extend(out, next)
	}
	return Set{spans: out}
}

func compareFirst(a, b span) int { return cmp.Compare(a.first, b.first) }

// extend appends next to spans, merged into the last one when they overlap or touch.
func extend(spans []span, next span) []span {
	if n := len(spans); n > 0 && int64(next.first) <= int64(spans[n-1].last)+1 {
		spans[n-1].last = max(spans[n-1].last, next.last)
		return spans
	}
	return append(spans, next)
}

// Empty reports whether the set has no ids.
func (s Set) Empty() bool { return len(s.spans) == 0 }

// Len returns the number of ids.
func (s Set) Len() int64 {
	var n int64
	for _, sp := range s.spans {
		n += sp.count()
	}
	return n
}

// Contains reports whether id is in the set.
func (s Set) Contains(id int32) bool {
	_, found := slices.BinarySearchFunc(s.spans, id, func(sp span, id int32) int {
		switch {
		case sp.last < id:
			return -1
		case sp.first > id:
			return 1
		default:
			return 0
		}
	})
	return found
}

// Max returns the largest id; ok is false when the set is empty.
func (s Set) Max() (id int32, ok bool) {
	if s.Empty() {
		return 0, false
	}
	return s.spans[len(s.spans)-1].last, true
}

// All yields the ids in ascending order.
func (s Set) All() iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for _, sp := range s.spans {
			for id := int64(sp.first); id <= int64(sp.last); id++ {
				if !yield(int32(id)) {
					return
				}
			}
		}
	}
}

// Equal reports whether both sets have the same ids.
func (s Set) Equal(other Set) bool { return slices.Equal(s.spans, other.spans) }

// SubsetOf reports whether every id of s is in other.
func (s Set) SubsetOf(other Set) bool { return s.Minus(other).Empty() }

// Union returns the ids that are in s or in other.
func (s Set) Union(other Set) Set {
	if s.Empty() {
		return other
	}
	if other.Empty() {
		return s
	}
	out := make([]span, 0, len(s.spans)+len(other.spans))
	a, b := s.spans, other.spans
	for len(a) > 0 && len(b) > 0 {
		if a[0].first <= b[0].first {
			out, a = extend(out, a[0]), a[1:]
		} else {
			out, b = extend(out, b[0]), b[1:]
		}
	}
	for _, rest := range [][]span{a, b} {
		for _, next := range rest {
			out = extend(out, next)
		}
	}
	return Set{spans: out}
}

// Intersect returns the ids that are in both sets.
func (s Set) Intersect(other Set) Set {
	var out []span
	for i, j := 0, 0; i < len(s.spans) && j < len(other.spans); {
		a, b := s.spans[i], other.spans[j]
		if first, last := max(a.first, b.first), min(a.last, b.last); first <= last {
			out = append(out, span{first, last})
		}
		if a.last < b.last {
			i++
		} else {
			j++
		}
	}
	return Set{spans: out}
}

// Minus returns the ids of s that are not in other.
func (s Set) Minus(other Set) Set {
	if s.Empty() || other.Empty() {
		return s
	}
	return s.Intersect(other.complement())
}

// complement returns the ids that are not in s.
func (s Set) complement() Set {
	out := make([]span, 0, len(s.spans)+1)
	next := int64(0)
	for _, sp := range s.spans {
		if next < int64(sp.first) {
			out = append(out, span{int32(next), sp.first - 1})
		}
		next = int64(sp.last) + 1
	}
	if next <= int64(MaxID) {
		out = append(out, span{int32(next), MaxID})
	}
	return Set{spans: out}
}

// FirstOutside returns the n lowest ids that are not in s, or fewer when s leaves fewer. It is empty when n is not
// positive. An Advanced StatefulSet with n replicas and the reserve list s has exactly these members.
func (s Set) FirstOutside(n int64) Set {
	var out []span
	for _, free := range s.complement().spans {
		if n <= 0 {
			break
		}
		take := min(n, free.count())
		out = append(out, span{free.first, int32(int64(free.first) + take - 1)})
		n -= take
	}
	return Set{spans: out}
}

// CountBelow returns how many ids of s are below the highest of FirstOutside(n): the reserved ids that an Advanced
// StatefulSet with n replicas has to skip. When s leaves fewer than n ids, it has to skip all of s.
func (s Set) CountBelow(n int64) int64 {
	if n <= 0 {
		return 0
	}
	members := s.FirstOutside(n)
	if members.Len() < n {
		return s.Len()
	}
	highest, _ := members.Max()
	return int64(highest) + 1 - n
}

// Highest returns the n largest ids, or all when there are fewer. It is empty when n is not positive.
func (s Set) Highest(n int64) Set {
	var out []span
	for i := len(s.spans) - 1; i >= 0 && n > 0; i-- {
		take := min(n, s.spans[i].count())
		out = append(out, span{int32(int64(s.spans[i].last) - take + 1), s.spans[i].last})
		n -= take
	}
	slices.Reverse(out)
	return Set{spans: out}
}
