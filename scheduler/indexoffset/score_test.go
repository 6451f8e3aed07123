// SPDX-License-Identifier: Apache-2.0

package indexoffset

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	fwk "k8s.io/kube-scheduler/framework"
	"pgregory.net/rapid"

	"github.com/berthgames/berth/api/schedulerconfig"
)

func TestDistance(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		peers         []int32
		of            int32
		wantNearest   int64
		wantPreceding int64
	}{
		"no peers are farther than any":                             {of: 4, wantNearest: noPeers, wantPreceding: noPeers},
		"X-1 a neighbour above counts as much as one below":         {peers: []int32{3}, of: 2, wantNearest: 1, wantPreceding: 3},
		"X-1 the closest one below":                                 {peers: []int32{0}, of: 2, wantNearest: 2, wantPreceding: 2},
		"X-2 all peers above":                                       {peers: []int32{9}, of: 8, wantNearest: 1, wantPreceding: 9},
		"X-2 the closest of many above":                             {peers: []int32{100, 200}, of: 8, wantNearest: 92, wantPreceding: 100},
		"published example (b), first node":                         {peers: []int32{2, 105}, of: 4, wantNearest: 2, wantPreceding: 2},
		"published example (b), second node":                        {peers: []int32{107}, of: 4, wantNearest: 103, wantPreceding: 107},
		"published example (b), third node":                         {peers: []int32{7, 108}, of: 4, wantNearest: 3, wantPreceding: 7},
		"between two":                                               {peers: []int32{1, 4, 9}, of: 6, wantNearest: 2, wantPreceding: 2},
		"the same index in another set":                             {peers: []int32{6, 6, 7}, of: 6, wantNearest: 0, wantPreceding: 0},
		"the largest indexes there are do not overflow the measure": {peers: []int32{0}, of: math.MaxInt32, wantNearest: math.MaxInt32, wantPreceding: math.MaxInt32},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := around{recent: findNeighbours(tc.peers, tc.of), established: findNeighbours(nil, tc.of)}
			if got := a.distance(schedulerconfig.DistanceNearest, tc.of); got != tc.wantNearest {
				t.Errorf("Nearest is %d, want %d", got, tc.wantNearest)
			}
			if got := a.distance(schedulerconfig.DistancePreceding, tc.of); got != tc.wantPreceding {
				t.Errorf("Preceding is %d, want %d", got, tc.wantPreceding)
			}
		})
	}
}

func TestEstablishedPeersCountAsTwiceAsFarAway(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		recent, established []int32
		want                int64
	}{
		"only established ones":        {established: []int32{7}, want: 6},
		"a recent one is closer":       {recent: []int32{8}, established: []int32{5}, want: 2},
		"an established one is closer": {recent: []int32{1}, established: []int32{11}, want: 2},
		"nobody":                       {want: noPeers},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := around{recent: findNeighbours(tc.recent, 10), established: findNeighbours(tc.established, 10)}
			if got := a.distance(schedulerconfig.DistanceNearest, 10); got != tc.want {
				t.Errorf("distance is %d, want %d", got, tc.want)
			}
		})
	}
}

// Two nodes taken as one place have the distance that their peers have together.
func TestMergeIsTheDistanceToAllPeersTogether(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ordinals := rapid.SliceOf(rapid.Int32Range(0, 30))
		a, b := ordinals.Draw(t, "a"), ordinals.Draw(t, "b")
		of := rapid.Int32Range(0, 30).Draw(t, "of")
		both := slices.Concat(a, b)
		for _, s := range [][]int32{a, b, both} {
			slices.Sort(s)
		}
		merged := around{recent: findNeighbours(a, of).merge(findNeighbours(b, of)), established: findNeighbours(nil, of)}
		whole := around{recent: findNeighbours(both, of), established: findNeighbours(nil, of)}
		for _, by := range []schedulerconfig.Distance{schedulerconfig.DistanceNearest, schedulerconfig.DistancePreceding} {
			if got, want := merged.distance(by, of), whole.distance(by, of); got != want {
				t.Errorf("%s of merged places is %d, want %d", by, got, want)
			}
		}
	})
}

func list(raw ...int64) fwk.NodeScoreList {
	scores := make(fwk.NodeScoreList, len(raw))
	for i := range raw {
		scores[i].Score = raw[i]
	}
	return scores
}

func values(scores fwk.NodeScoreList) []int64 {
	raw := make([]int64, len(scores))
	for i := range scores {
		raw[i] = scores[i].Score
	}
	return raw
}

func TestNormalize(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		raw, want []int64
	}{
		"no nodes":                                  {raw: []int64{}, want: []int64{}},
		"no peers anywhere":                         {raw: []int64{noPeers, noPeers}, want: []int64{100, 100}},
		"a node without peers is best":              {raw: []int64{noPeers, 5, 1}, want: []int64{100, 99, 0}},
		"distance one is worst":                     {raw: []int64{1, 1}, want: []int64{0, 0}},
		"all alike, far away":                       {raw: []int64{3, 3}, want: []int64{99, 99}},
		"published example (a), pod 2 again":        {raw: []int64{3, 1, 1}, want: []int64{99, 0, 0}},
		"published example (b)":                     {raw: []int64{2, 103, 3}, want: []int64{14, 99, 22}},
		"X-4 neighbours stay apart from twenty":     {raw: []int64{2000, 1, 2, 20}, want: []int64{99, 0, 9, 38}},
		"the second largest never reaches the best": {raw: []int64{math.MaxInt32, math.MaxInt32 - 1}, want: []int64{99, 98}},
		"the same index elsewhere is below one":     {raw: []int64{0, 1}, want: []int64{0, 99}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scores := list(tc.raw...)
			normalize(scores)
			if diff := cmp.Diff(tc.want, values(scores)); diff != "" {
				t.Errorf("scores (-want +got):\n%s", diff)
			}
		})
	}
}

// monotone, the largest distance alone at the top, and the ends of the scale as promised.
func TestNormalizeIsMonotone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.SliceOfN(rapid.OneOf(
			rapid.Int64Range(0, 20), rapid.Int64Range(0, establishedFactor*math.MaxInt32), rapid.Just(noPeers)), 1, 40).Draw(t, "raw")
		scores := list(raw...)
		normalize(scores)
		got := values(scores)
		longest := int64(-1)
		for _, r := range raw {
			if r != noPeers {
				longest = max(longest, r)
			}
		}
		for i, a := range raw {
			if (got[i] == fwk.MaxScore) != (a == noPeers) || got[i] < 0 || got[i] > fwk.MaxScore {
				t.Errorf("raw %d has score %d", a, got[i])
			}
			for j, b := range raw {
				if a < b && got[i] > got[j] {
					t.Errorf("raw %d has score %d, more than %d for raw %d", a, got[i], got[j], b)
				}
				if b == longest && a < b && got[i] >= got[j] {
					t.Errorf("raw %d has score %d, as much as the longest distance %d", a, got[i], b)
				}
			}
		}
	})
}

// pods next to one another are never taken for alike, whatever the largest distance is.
func TestNormalizeKeepsSmallDistancesApart(t *testing.T) {
	t.Parallel()
	for _, longest := range []int64{9, 99, 2000, 100_000, math.MaxInt32} {
		last := int64(-1)
		for distance := int64(1); distance <= 5; distance++ {
			got := spread(distance, longest)
			if got <= last {
				t.Errorf("with %d as the longest, distance %d has score %d, not above %d", longest, distance, got, last)
			}
			last = got
		}
	}
}
