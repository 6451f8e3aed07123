// SPDX-License-Identifier: Apache-2.0

package gameserverset

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/internal/idset"
)

// ids reads "1,2,5-7".
func ids(text string) idset.Set {
	set, err := idset.Parse(text)
	if err != nil {
		panic(err)
	}
	return set
}

type serverOption func(*Server)

func ops(state gamev1alpha1.OpsState) serverOption { return func(s *Server) { s.OpsState = state } }
func priority(p int64) serverOption                { return func(s *Server) { s.DeletionPriority = p } }
func class(c Class) serverOption                   { return func(s *Server) { s.Class = c } }
func unready() serverOption                        { return func(s *Server) { s.Ready = false } }

// server is a live, ready one without a word from anybody.
func server(id int32, options ...serverOption) Server {
	s := Server{ID: id, OpsState: gamev1alpha1.None, Ready: true}
	for _, option := range options {
		option(&s)
	}
	return s
}

// servers are plain ones with the given ids.
func servers(text string) []Server {
	var out []Server
	for id := range ids(text).All() {
		out = append(out, server(id))
	}
	return out
}

// swap replaces the server of that id, or adds it.
func swap(all []Server, id int32, options ...serverOption) []Server {
	out := slices.DeleteFunc(slices.Clone(all), func(s Server) bool { return s.ID == id })
	return append(out, server(id, options...))
}

func mustPlan(t interface {
	Helper()
	Fatalf(string, ...any)
}, in ScaleInput) ScalePlan {
	t.Helper()
	plan, err := PlanScale(in)
	if err != nil {
		t.Fatalf("PlanScale: %v", err)
	}
	return plan
}

// Rows of core-controllers.md 5.1. The old replicas are the number of live pods.
func TestScalePlan(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		explicit, before, implicit string
		replicas                   int32
		servers                    []Server
		wantReserve, wantKeep      string
	}{
		"case 0": {
			explicit: "2,3,4", before: "2,3", implicit: "5", replicas: 3,
			servers: []Server{server(0, priority(10)), server(1, ops(gamev1alpha1.Maintaining)),
				server(4, ops(gamev1alpha1.WaitToDelete)), server(6)},
			wantReserve: "2-5", wantKeep: "0,1,6",
		},
		"case 1":  {explicit: "0,2,3", before: "0,4,5", replicas: 3, servers: servers("1,2,3,6,7"), wantReserve: "0,2-5", wantKeep: "1,6,7"},
		"case 2":  {explicit: "0", before: "0,4,5", replicas: 1, servers: servers("1,2,3,6,7"), wantReserve: "0,2-7", wantKeep: "1"},
		"case 3":  {explicit: "0,2,3", before: "0,4,5", replicas: 4, servers: servers("1,2,3,6,7"), wantReserve: "0,2,3,5", wantKeep: "1,4,6,7"},
		"case 4":  {explicit: "0,3,5", before: "0,3,5", replicas: 1, servers: servers("1,2,4,6"), wantReserve: "0,2-6", wantKeep: "1"},
		"case 5":  {explicit: "1,2", implicit: "1,2", replicas: 2, servers: servers("0,3"), wantReserve: "1,2", wantKeep: "0,3"},
		"case 6":  {replicas: 3, wantKeep: "0-2"},
		"case 7":  {explicit: "1,2", replicas: 3, wantReserve: "1,2", wantKeep: "0,3,4"},
		"case 8":  {explicit: "0", implicit: "0", replicas: 1, wantReserve: "0", wantKeep: "1"},
		"case 9":  {before: "1", replicas: 2, servers: servers("0,2"), wantReserve: "1", wantKeep: "0,2"},
		"case 10": {explicit: "0", implicit: "2-4", replicas: 4, servers: servers("1"), wantReserve: "0", wantKeep: "1-4"},
		"case 11": {
			implicit: "2-4", replicas: 4,
			servers:     append(servers("0,1"), server(2, class(Terminating)), server(3, class(PreDeleting))),
			wantReserve: "3", wantKeep: "0-2,4",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			live := idsOf(tc.servers, Live)
			plan := mustPlan(t, ScaleInput{
				Replicas: tc.replicas, Explicit: ids(tc.explicit), ExplicitBefore: ids(tc.before),
				WorkloadReplicas: int32(live.Len()), WorkloadReserve: ids(tc.before).Union(ids(tc.implicit)),
				Servers: tc.servers,
			})
			wantSet(t, "reserve", plan.Reserve, tc.wantReserve)
			wantSet(t, "keep", plan.Keep, ids(tc.wantKeep).String())
		})
	}
}

// Rows of core-controllers.md 5.2, the plan's part of a whole scale step.
func TestWholeScaleStep(t *testing.T) {
	t.Parallel()
	four := []Server{server(0, priority(10)), server(2, ops(gamev1alpha1.WaitToDelete)), server(3),
		server(4, ops(gamev1alpha1.Maintaining))}
	for name, tc := range map[string]struct {
		before, explicit string
		replicas, was    int32
		reserve          string
		servers          []Server
		want             string
	}{
		"case 0": {before: "1", explicit: "1", replicas: 3, was: 4, reserve: "1", servers: four, want: "1,2"},
		"case 1": {before: "1", explicit: "0,1", replicas: 3, was: 4, reserve: "1", servers: four, want: "0,1"},
		"case 2": {before: "1", replicas: 5, was: 4, reserve: "1", servers: four},
		"case 3": {before: "1", replicas: 5, was: 3, reserve: "1,3", servers: swap(servers("0,2,4"), 0, priority(10))},
		"case 4": {replicas: 5, was: 3, reserve: "3-5", servers: swap(servers("0-2"), 3, class(PreDeleting)), want: "3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := mustPlan(t, ScaleInput{Replicas: tc.replicas, Explicit: ids(tc.explicit), ExplicitBefore: ids(tc.before),
				WorkloadReplicas: tc.was, WorkloadReserve: ids(tc.reserve), Servers: tc.servers})
			wantSet(t, "reserve", plan.Reserve, tc.want)
		})
	}
}

// Rows of core-controllers.md 5.3, and S-9.
func TestScaleNeeded(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		in   ScaleInput
		want bool
	}{
		"nothing differs":               {in: ScaleInput{Replicas: 5, WorkloadReplicas: 5}},
		"the reserved ids were applied": {in: ScaleInput{Replicas: 5, WorkloadReplicas: 5, Explicit: ids("1,5"), ExplicitBefore: ids("1,5"), WorkloadReserve: ids("1,5")}},
		"S-16: a reserved id counts as applied and is a member still": {
			in: ScaleInput{Replicas: 2, WorkloadReplicas: 2, Explicit: ids("1"), ExplicitBefore: ids("1")}, want: true,
		},
		"the reserved ids are new":         {in: ScaleInput{Replicas: 5, WorkloadReplicas: 5, Explicit: ids("1,5")}, want: true},
		"no replicas and none wanted":      {in: ScaleInput{Replicas: 3, WorkloadReplicas: 3}},
		"more replicas":                    {in: ScaleInput{Replicas: 5, WorkloadReplicas: 3}, want: true},
		"fewer replicas":                   {in: ScaleInput{Replicas: 2, WorkloadReplicas: 4}, want: true},
		"an implicit id, strategy General": {in: ScaleInput{Replicas: 2, WorkloadReplicas: 2, WorkloadReserve: ids("1")}},
		"S-9: an id that was removed and not written back": {
			in: ScaleInput{Replicas: 2, WorkloadReplicas: 2, WorkloadReserve: ids("1"), Backfill: true}, want: true,
		},
		"S-9: every removed id was written back": {
			in: ScaleInput{Replicas: 2, WorkloadReplicas: 2, WorkloadReserve: ids("1"), Explicit: ids("1"),
				ExplicitBefore: ids("1"), Backfill: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := ScaleNeeded(tc.in); got != tc.want {
				t.Errorf("ScaleNeeded() = %v, want %v", got, tc.want)
			}
		})
	}
}

// The examples of core-controllers.md 2.5. The start is a set of ids that OpenKruise keeps with the reserve list of all
// gaps; what the user reserved of it was applied.
func TestExamplesOfTheManuals(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		start, reserved string // members, and those gaps that are explicit
		servers         []Server
		replicas        int32
		explicit        string
		wantKeep        string
		wantReserve     string // checked when not empty
	}{
		"the higher deletion priority leaves": {
			start: "0-4", servers: swap(servers("0-4"), 2, priority(10)), replicas: 4, wantKeep: "0,1,3,4",
		},
		"WaitToBeDeleted leaves": {
			start: "0,1,3,4", servers: swap(servers("0,1,3,4"), 3, ops(gamev1alpha1.WaitToDelete)), replicas: 3, wantKeep: "0,1,4",
		},
		"growing fills the gaps":              {start: "0,1,4", servers: servers("0,1,4"), replicas: 5, wantKeep: "0-4", wantReserve: "none"},
		"one server goes offline":             {start: "0,1,4", servers: servers("0,1,4"), replicas: 2, explicit: "1", wantKeep: "0,4"},
		"a reserved gap stays":                {start: "0,2,3,5", reserved: "4", servers: servers("0,2,3,5"), replicas: 6, explicit: "4", wantKeep: "0-3,5,6"},
		"giving an id back starts nothing":    {start: "0,2,3,5", reserved: "4", servers: servers("0,2,3,5"), replicas: 4, wantKeep: "0,2,3,5"},
		"reserving moves servers":             {start: "0-4", servers: servers("0-4"), replicas: 5, explicit: "3-4", wantKeep: "0-2,5,6"},
		"reserving and shrinking in one edit": {start: "0-2,5,6", reserved: "3-4", servers: servers("0-2,5,6"), replicas: 3, explicit: "3-6", wantKeep: "0-2"},
		"ReserveIds, shrinking":               {start: "0-4", servers: servers("0-4"), replicas: 3, wantKeep: "0-2", wantReserve: "3,4"},
		"ReserveIds, then giving one back":    {start: "0-2", reserved: "3,4", servers: servers("0-2"), replicas: 4, explicit: "3", wantKeep: "0-2,4", wantReserve: "3"},
		"ReserveIds, a new id and a smaller set": {
			start: "1,3-6", reserved: "0,2", servers: servers("1,3-6"), replicas: 3, explicit: "0,4", wantKeep: "1,3,5", wantReserve: "0,2,4,6",
		},
		"a new set around a reserved id":   {explicit: "0", replicas: 4, wantKeep: "1-4"},
		"the id of a held server is taken": {start: "0", servers: swap(servers("0"), 1, class(PreDeleting)), replicas: 2, wantKeep: "0,2"},
		"a killed server leaves":           {start: "0-2", servers: swap(servers("0-2"), 1, ops(gamev1alpha1.Kill)), replicas: 2, wantKeep: "0,2"},
		"the id of a killed server returns": {
			start: "0,2", servers: servers("0,2"), replicas: 3, wantKeep: "0-2", wantReserve: "none",
		},
		"S-1: an empty seat leaves, nobody who plays": {start: "0-4", servers: servers("0,2-4"), replicas: 4, wantKeep: "0,2-4", wantReserve: "1"},
		"S-1: an ending server leaves first": {
			start: "0-4", servers: swap(servers("0,2-4"), 1, class(Terminating)), replicas: 3, wantKeep: "0,2,3", wantReserve: "1,4",
		},
		"S-1: seats that were never taken leave first": {start: "0-4", servers: servers("3,4"), replicas: 3, wantKeep: "0,3,4", wantReserve: "1,2"},
		"S-1: a held member stays a member": {
			start: "0-4", servers: swap(servers("0,2-4"), 1, class(PreDeleting)), replicas: 6, wantKeep: "0-5", wantReserve: "none",
		},
		"to zero":                       {start: "0-2", servers: servers("0-2"), replicas: 0, wantReserve: "0-2"},
		"and back":                      {servers: nil, replicas: 3, wantKeep: "0-2", wantReserve: "none"},
		"a large range is reserved low": {start: "0-2", servers: servers("0-2"), replicas: 3, explicit: "0-1000000", wantKeep: "1000001-1000003", wantReserve: "0-1000000"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := ids(tc.start)
			highest, _ := start.Max()
			gaps := idset.Range(0, highest).Minus(start).Union(ids(tc.reserved))
			plan := mustPlan(t, ScaleInput{Replicas: tc.replicas, Explicit: ids(tc.explicit), ExplicitBefore: ids(tc.reserved),
				WorkloadReplicas: int32(start.Len()), WorkloadReserve: gaps, Servers: tc.servers})
			wantSet(t, "keep", plan.Keep, ids(tc.wantKeep).String())
			if want := strings.TrimPrefix(tc.wantReserve, "none"); tc.wantReserve != "" {
				wantSet(t, "reserve", plan.Reserve, ids(want).String())
			}
		})
	}
}

func TestServersThatAreLeavingAlreadyGoBeforeMembers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		in       ScaleInput
		wantKeep string
	}{
		"a condemned server of higher rank than a member": {
			// 3 and 4 left by the last scaling; their pods still run when the set shrinks again.
			in: ScaleInput{Replicas: 2, WorkloadReplicas: 3, WorkloadReserve: ids("3,4"),
				Servers: swap(servers("0-4"), 4, ops(gamev1alpha1.Maintaining))},
			wantKeep: "0,1",
		},
		"a condemned server returns when the set grows at once": {
			in:       ScaleInput{Replicas: 4, WorkloadReplicas: 3, WorkloadReserve: ids("3,4"), Servers: servers("0-4")},
			wantKeep: "0-3",
		},
		"a server whose id was reserved and given back at once": {
			in: ScaleInput{Replicas: 3, ExplicitBefore: ids("1"), WorkloadReplicas: 3, WorkloadReserve: ids("1"),
				Servers: servers("0-3")},
			wantKeep: "0,2,3",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantSet(t, "keep", mustPlan(t, tc.in).Keep, ids(tc.wantKeep).String())
		})
	}
}

// Rows of core-controllers.md 5.5.
func TestKilled(t *testing.T) {
	t.Parallel()
	partly := []Server{server(0, ops(gamev1alpha1.Kill)), server(2, class(Terminating)), server(4)}
	for name, tc := range map[string]struct {
		in       ScaleInput
		want     []int32
		wantKeep string // after replicas was lowered
	}{
		"one of three": {
			in:   ScaleInput{Replicas: 3, WorkloadReplicas: 3, Servers: swap(servers("0-2"), 1, ops(gamev1alpha1.Kill))},
			want: []int32{1}, wantKeep: "0,2",
		},
		"S-7: an ending pod does not stand in the way": {
			in:   ScaleInput{Replicas: 3, WorkloadReplicas: 3, WorkloadReserve: ids("1,3"), Servers: partly},
			want: []int32{0}, wantKeep: "2,4",
		},
		"S-7: nor does a condemned pod": {
			in:   ScaleInput{Replicas: 2, WorkloadReplicas: 2, WorkloadReserve: ids("1,3"), Servers: partly},
			want: []int32{0}, wantKeep: "2",
		},
		"S-7: a condemned Kill pod was counted already": {
			in: ScaleInput{Replicas: 2, WorkloadReplicas: 2, WorkloadReserve: ids("0"),
				Servers: swap(servers("1,2"), 0, ops(gamev1alpha1.Kill))},
			wantKeep: "1,2",
		},
		"a Kill pod that ends already is not counted": {
			in: ScaleInput{Replicas: 2, WorkloadReplicas: 2,
				Servers: swap(servers("0"), 1, ops(gamev1alpha1.Kill), class(Terminating))},
			wantKeep: "0,1",
		},
		"scaling comes first": {
			in:       ScaleInput{Replicas: 4, WorkloadReplicas: 3, WorkloadReserve: ids("1,3"), Servers: partly},
			wantKeep: "0,1,2,4",
		},
		"the word kill is just a word": {
			in:       ScaleInput{Replicas: 1, WorkloadReplicas: 1, Servers: swap(nil, 0, ops("kill"))},
			wantKeep: "0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Killed(tc.in)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("Killed() (-want +got):\n%s", diff)
			}
			in := tc.in
			in.Replicas -= int32(len(got))
			wantSet(t, "keep", mustPlan(t, in).Keep, ids(tc.wantKeep).String())
		})
	}
}

// Rows of core-controllers.md 5.6, S-10 and cases D07, D08.
func TestDeletionOrder(t *testing.T) {
	t.Parallel()
	three := []Server{server(0, ops(gamev1alpha1.Allocated)), server(1, ops(gamev1alpha1.Maintaining)),
		server(2, ops(gamev1alpha1.WaitToDelete)), server(3)}
	for name, tc := range map[string]struct {
		servers []Server
		want    []int32
	}{
		"rank before priority": {
			servers: []Server{server(0, priority(10)), server(1, ops(gamev1alpha1.Maintaining)),
				server(2, ops(gamev1alpha1.WaitToDelete)), server(3)},
			want: []int32{2, 0, 3, 1},
		},
		"Allocated before Maintaining": {servers: three, want: []int32{2, 3, 0, 1}},
		"Kill first, words of the user like None": {
			servers: append(slices.Clone(three), server(4, ops(gamev1alpha1.Kill)), server(5, ops("user-define"))),
			want:    []int32{4, 2, 5, 3, 0, 1},
		},
		"B18: two that wait to be deleted before all others": {
			servers: []Server{server(0), server(1, ops(gamev1alpha1.WaitToDelete)), server(2, ops(gamev1alpha1.Allocated)),
				server(3, ops(gamev1alpha1.WaitToDelete)), server(4)},
			want: []int32{3, 1, 4, 0, 2},
		},
		"S-10: equal priorities fall to the larger ordinal": {servers: []Server{server(0, priority(1)), server(1, priority(1))}, want: []int32{1, 0}},
		"priorities are numbers, not texts":                 {servers: []Server{server(0, priority(10)), server(1, priority(9))}, want: []int32{0, 1}},
		"D07, D08: not ready before ready": {
			servers: []Server{server(0, unready()), server(1, unready()), server(2), server(3)}, want: []int32{1, 0, 3, 2},
		},
		"an Allocated server that is not ready is still Allocated": {
			servers: []Server{server(0, ops(gamev1alpha1.Allocated), unready()), server(1)}, want: []int32{1, 0},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := idsOf(tc.servers, Live)
			plan := mustPlan(t, ScaleInput{WorkloadReplicas: int32(all.Len()), Servers: tc.servers})
			if diff := cmp.Diff(tc.want, plan.Removed); diff != "" {
				t.Errorf("order (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlanRefusesWhatCannotBe(t *testing.T) {
	t.Parallel()
	_, err := PlanScale(ScaleInput{Replicas: 3, Explicit: idset.Range(2, idset.MaxID)})
	if err == nil || !strings.Contains(err.Error(), "leave only 2") {
		t.Errorf("an error about missing ids wanted, got %v", err)
	}
	_, err = PlanScale(ScaleInput{Replicas: 2, Explicit: idset.Range(0, 2000000000)})
	if err == nil || !strings.Contains(err.Error(), "2000000001 ids below the highest server") || !strings.Contains(err.Error(), "1048576") {
		t.Errorf("an error about too many ids below the servers wanted, got %v", err)
	}
	if _, err := PlanScale(ScaleInput{Replicas: 2, Explicit: idset.Range(0, idset.MaxBelowMembers-1)}); err != nil {
		t.Errorf("the most ids that may be reserved were refused: %v", err)
	}
	in := ScaleInput{Replicas: 4, Explicit: ids("7")}
	for name, plan := range map[string]ScalePlan{
		"S-1: a gap that is not reserved": {Keep: ids("0,2-4")},
		"an id that must not exist":       {Keep: ids("3,5-7"), Reserve: ids("0-2,4")},
	} {
		if err := plan.check(in); err == nil {
			t.Errorf("%s: the check found nothing", name)
		}
	}
	if err := (ScalePlan{Keep: ids("0,2-4"), Reserve: ids("1,7")}).check(in); err != nil {
		t.Errorf("a sound plan was refused: %v", err)
	}
}

func drawIDs(t *rapid.T, label string, highest int32) idset.Set {
	return idset.Of(rapid.SliceOfN(rapid.Int32Range(0, highest), 0, int(highest)).Draw(t, label)...)
}

func drawScaleInput(t *rapid.T) ScaleInput {
	states := []gamev1alpha1.OpsState{"", gamev1alpha1.None, gamev1alpha1.Allocated, gamev1alpha1.Maintaining,
		gamev1alpha1.WaitToDelete, gamev1alpha1.Kill, "word"}
	in := ScaleInput{
		Replicas:         rapid.Int32Range(0, 12).Draw(t, "replicas"),
		WorkloadReplicas: rapid.Int32Range(0, 12).Draw(t, "workload replicas"),
		WorkloadReserve:  drawIDs(t, "workload reserve", 15),
		Explicit:         drawIDs(t, "explicit", 15),
		ExplicitBefore:   drawIDs(t, "explicit before", 15),
	}
	for id := range drawIDs(t, "pods", 20).All() {
		in.Servers = append(in.Servers, Server{
			ID:               id,
			Class:            rapid.SampledFrom([]Class{Live, Live, Live, PreDeleting, Terminating}).Draw(t, "class"),
			OpsState:         rapid.SampledFrom(states).Draw(t, "opsState"),
			DeletionPriority: rapid.Int64Range(0, 2).Draw(t, "priority"),
			Ready:            rapid.Bool().Draw(t, "ready"),
		})
	}
	return in
}

func TestPlanHoldsItsPromises(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := drawScaleInput(t)
		plan := mustPlan(t, in)
		live, members := idsOf(in.Servers, Live), in.members()
		dropped := plan.Vacated.Union(idset.Of(plan.Removed...))

		wantPromise(t, "as many as wanted", plan.Keep.Len() == int64(in.Replicas))
		wantPromise(t, "no reserved id stays", plan.Keep.Intersect(in.Explicit).Empty())
		wantPromise(t, "every reserved id is in the list", in.Explicit.SubsetOf(plan.Reserve))
		wantPromise(t, "OpenKruise keeps the same ids", plan.Reserve.FirstOutside(int64(in.Replicas)).Equal(plan.Keep))
		wantPromise(t, "nobody comes and goes at once", plan.Added.Empty() || dropped.Empty())
		wantPromise(t, "only ids that were there leave", dropped.SubsetOf(live.Union(members)))
		wantPromise(t, "who stays was there, or was added", plan.Keep.Minus(plan.Added).SubsetOf(live.Union(members)))
		wantPromise(t, "no id is added that a hook still holds",
			plan.Added.Intersect(idsOf(in.Servers, PreDeleting)).Empty())
		wantPromise(t, "a server that was there stays, leaves by order or by its id",
			live.Union(members).Equal(plan.Keep.Minus(plan.Added).Union(dropped).Union(live.Union(members).Intersect(in.Explicit))))
		if !plan.Vacated.Intersect(live).Empty() || !idset.Of(plan.Removed...).SubsetOf(live) {
			t.Fatalf("live ids %s, removed %v, vacated %s", live, plan.Removed, plan.Vacated)
		}
		wantRemovedByOrder(t, in, plan)
	})
}

// wantRemovedByOrder compares every server that left with every server that stayed, by rules written down once more.
func wantRemovedByOrder(t *rapid.T, in ScaleInput, plan ScalePlan) {
	t.Helper()
	members, removed := in.members(), idset.Of(plan.Removed...)
	emptyStayed := !plan.Keep.Minus(idsOf(in.Servers, Live)).Empty()
	key := func(s Server) []int64 {
		turn, ready := int64(1), int64(1)
		if s.OpsState == gamev1alpha1.Kill {
			turn = 3
		} else if !members.Contains(s.ID) {
			turn = 2
		}
		if s.Ready {
			ready = 0
		}
		rank := map[gamev1alpha1.OpsState]int64{gamev1alpha1.Kill: 100, gamev1alpha1.WaitToDelete: 1,
			gamev1alpha1.Allocated: -1, gamev1alpha1.Maintaining: -2}[s.OpsState]
		return []int64{turn, rank, s.DeletionPriority, ready, int64(s.ID)}
	}
	for _, left := range in.Servers {
		if !removed.Contains(left.ID) {
			continue
		}
		if emptyStayed && key(left)[0] == 1 {
			t.Fatalf("%+v left and an empty seat stayed", left)
		}
		for _, stayed := range in.Servers {
			if stayed.Class == Live && plan.Keep.Contains(stayed.ID) && slices.Compare(key(stayed), key(left)) > 0 {
				t.Fatalf("%+v left and %+v stayed", left, stayed)
			}
		}
	}
}

// A second look at what the first plan wrote must find nothing to do, whatever the pods do in between.
func TestPlanComesToRest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := drawScaleInput(t)
		in.Backfill = rapid.Bool().Draw(t, "backfill")
		plan := mustPlan(t, in)
		in.WorkloadReplicas, in.WorkloadReserve = in.Replicas, plan.Reserve
		if in.Backfill {
			in.Explicit = plan.Reserve
		}
		in.ExplicitBefore = in.Explicit
		if ScaleNeeded(in) {
			t.Fatalf("scaling again after %+v", plan)
		}
		if again := mustPlan(t, in); !in.members().Equal(plan.Keep) || !again.Reserve.Equal(plan.Reserve) && len(again.Removed) == 0 && again.Added.Empty() && again.Vacated.Empty() {
			t.Fatalf("plan %+v became %+v", plan, again)
		}
	})
}

func wantPromise(t *rapid.T, promise string, kept bool) {
	t.Helper()
	if !kept {
		t.Fatalf("broken: %s", promise)
	}
}

func wantSet(t *testing.T, what string, got idset.Set, want string) {
	t.Helper()
	if got.String() != want {
		t.Errorf("%s = %q, want %q", what, got, want)
	}
}
