// SPDX-License-Identifier: Apache-2.0

package idset

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// The model is the set as Go would hold it without intervals, over a universe small enough to count through. The
// universe has both ends of the ids, because that is where the arithmetic can overflow.
var universe = slices.Concat(count(0, 30), count(MaxID-10, MaxID))

type model map[int32]bool

func count(first, last int32) []int32 {
	var ids []int32
	for id := int64(first); id <= int64(last); id++ {
		ids = append(ids, int32(id))
	}
	return ids
}

func drawSet(t *rapid.T, label string) (Set, model) {
	ids := rapid.SliceOfN(rapid.SampledFrom(universe), 0, 30).Draw(t, label)
	m := model{}
	for _, id := range ids {
		m[id] = true
	}
	return Of(ids...), m
}

func (m model) sorted() []int32 { return slices.Sorted(maps.Keys(m)) }

func (m model) where(keep func(int32) bool) model {
	out := model{}
	for _, id := range universe {
		if keep(id) {
			out[id] = true
		}
	}
	return out
}

func wantSame(t *rapid.T, what string, got Set, want model) {
	t.Helper()
	if diff := cmp.Diff(want.sorted(), slices.Collect(got.All())); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
	for i, sp := range got.spans {
		if sp.first > sp.last || i > 0 && int64(sp.first) <= int64(got.spans[i-1].last)+1 {
			t.Fatalf("%s: intervals out of order, overlapping or touching: %v", what, got.spans)
		}
	}
}

func TestSetsBehaveLikeTheNaiveModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, ma := drawSet(t, "a")
		b, mb := drawSet(t, "b")

		wantSame(t, "Of", a, ma)
		wantSame(t, "Union", a.Union(b), ma.where(func(id int32) bool { return ma[id] || mb[id] }))
		wantSame(t, "Intersect", a.Intersect(b), ma.where(func(id int32) bool { return ma[id] && mb[id] }))
		wantSame(t, "Minus", a.Minus(b), ma.where(func(id int32) bool { return ma[id] && !mb[id] }))

		if got, want := a.Len(), int64(len(ma)); got != want {
			t.Fatalf("Len() = %d, want %d", got, want)
		}
		if got, want := a.Equal(b), maps.Equal(ma, mb); got != want {
			t.Fatalf("Equal() = %v, want %v", got, want)
		}
		if got, want := a.SubsetOf(b), len(ma.where(func(id int32) bool { return ma[id] && !mb[id] })) == 0; got != want {
			t.Fatalf("SubsetOf() = %v, want %v", got, want)
		}
		for _, id := range universe {
			if a.Contains(id) != ma[id] {
				t.Fatalf("Contains(%d) = %v, want %v", id, a.Contains(id), ma[id])
			}
		}
		if id, ok := a.Max(); ok != (len(ma) > 0) || ok && id != slices.Max(ma.sorted()) {
			t.Fatalf("Max() = %d, %v of %v", id, ok, ma.sorted())
		}
		n := rapid.IntRange(0, 40).Draw(t, "n")
		highest := model{}
		for _, id := range ma.sorted()[max(0, len(ma)-n):] {
			highest[id] = true
		}
		wantSame(t, "Highest", a.Highest(int64(n)), highest)
		if read, err := Parse(a.String()); err != nil || !read.Equal(a) {
			t.Fatalf("Parse(%q) = %v, %v", a.String(), read, err)
		}
		if read, err := FromList(a.List()); err != nil || !read.Equal(a) {
			t.Fatalf("FromList(%v) = %v, %v", a.List(), read, err)
		}
	})
}

func TestFirstOutsideCountsLikeOpenKruise(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		reserved, m := drawSet(t, "reserved")
		n := rapid.Int64Range(0, 40).Draw(t, "n")
		want := model{}
		for id := int32(0); int64(len(want)) < n; id++ {
			if !m[id] {
				want[id] = true
			}
		}
		wantSame(t, "FirstOutside", reserved.FirstOutside(n), want)
	})
}

func TestCountBelow(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reserved Set
		n, want  int64
	}{
		"nobody skips anything":              {reserved: Range(0, MaxID), n: 0},
		"ids above the members do not count": {reserved: Range(10, MaxID), n: 10},
		"ids between members count":          {reserved: Of(1, 2, 9), n: 2, want: 2},
		"a range below the members counts":   {reserved: Range(0, 2000000000), n: 2, want: 2000000001},
		"all count when too few are left":    {reserved: Range(10, MaxID), n: 11, want: 2147483638},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tc.reserved.CountBelow(tc.n); got != tc.want {
				t.Errorf("CountBelow(%d) = %d, want %d", tc.n, got, tc.want)
			}
		})
	}
}

func TestHugeRangesCostNothing(t *testing.T) {
	huge := Range(0, 2000000000)
	allocs := testing.AllocsPerRun(10, func() {
		rest := huge.Minus(Of(7)).Union(Of(2000000001)).FirstOutside(3)
		if rest.Len() != 3 {
			t.Fatalf("3 free ids wanted, got %v", rest)
		}
	})
	if allocs > 20 {
		t.Errorf("a handful of allocations wanted, got %v", allocs)
	}
	if got, want := huge.FirstOutside(3).String(), "2000000001-2000000003"; got != want {
		t.Errorf("FirstOutside(3) = %q, want %q", got, want)
	}
	if got := Range(0, MaxID).FirstOutside(1); !got.Empty() {
		t.Errorf("no id is left, got %v", got)
	}
	if got, want := Range(0, MaxID).Len(), int64(1)<<31; got != want {
		t.Errorf("Len() = %d, want %d", got, want)
	}
}

func TestRangeAndOfDropWhatIsNoID(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		got  Set
		want string
	}{
		"a range that ends before it begins is empty": {got: Range(4, 3)},
		"a range below zero is empty":                 {got: Range(-9, -3)},
		"a range starts at zero at the earliest":      {got: Range(-9, 2), want: "0-2"},
		"negative ids are left out":                   {got: Of(-1, 1), want: "1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tc.got.String(); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
