// SPDX-License-Identifier: Apache-2.0

package gameserverset

import (
	"cmp"
	"fmt"
	"slices"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/internal/idset"
)

// Class says how far a pod is from leaving.
type Class int

// The classes of pods.
const (
	// Live is every pod that is in none of the other classes.
	Live Class = iota
	// PreDeleting is a pod that OpenKruise wants to delete and a preDelete hook holds.
	PreDeleting
	// Terminating is a pod with a deletion time.
	Terminating
)

// Server is what the plan knows of one pod of the set.
type Server struct {
	ID               int32
	Class            Class
	OpsState         gamev1alpha1.OpsState
	DeletionPriority int64
	// Ready is the pod's Ready condition.
	Ready bool
}

// ScaleInput is everything a scale plan depends on.
type ScaleInput struct {
	// Replicas is the wanted number of servers, 0 or more.
	Replicas int32
	// Explicit are the ids that the user reserves now, and ExplicitBefore those that the last scaling took into account.
	Explicit, ExplicitBefore idset.Set
	// WorkloadReplicas and WorkloadReserve are what the Advanced StatefulSet has now; 0 and empty before there is one.
	WorkloadReplicas int32
	WorkloadReserve  idset.Set
	// Servers are the pods of the set, in any order, at most one per id.
	Servers []Server
	// Backfill writes every id that leaves into the explicit list (scale-down strategy ReserveIds).
	Backfill bool
}

// ScalePlan says which ids the workload keeps, and how to make it keep exactly those.
type ScalePlan struct {
	// Keep are the members: Replicas ids, none of them explicit.
	Keep idset.Set
	// Reserve is the reserve list with which the first Replicas ordinals are Keep.
	Reserve idset.Set
	// Added are ids of Keep that neither were members nor have a live pod.
	Added idset.Set
	// Removed are the dropped ids with a live pod, first to leave first. Ids that are explicit now also leave, but the
	// user picked them and the plan did not; they are not in here.
	Removed []int32
	// Vacated are the dropped ids without a live pod.
	Vacated idset.Set
}

// members are the ids that the workload has now.
func (in ScaleInput) members() idset.Set {
	return in.WorkloadReserve.FirstOutside(int64(in.WorkloadReplicas))
}

// ScaleNeeded reports whether the workload does not have the ids that it should have.
// Source: core-controllers.md 2.5 "When to scale", and S-9 for the part about Backfill. The last part does not trust
// ExplicitBefore, which is a guess when the annotation cannot be read (S-16).
func ScaleNeeded(in ScaleInput) bool {
	return in.Replicas != in.WorkloadReplicas ||
		!in.Explicit.Equal(in.ExplicitBefore) ||
		in.Backfill && !in.WorkloadReserve.SubsetOf(in.Explicit) ||
		!in.members().Intersect(in.Explicit).Empty()
}

// PlanScale picks the ids to keep. It disturbs as few servers as possible, and no id that is explicit stays.
// The error says that there are not enough ids, that too many below the members are reserved for OpenKruise to bear, or
// that the plan contradicts itself; then nothing may be written.
// Source: core-controllers.md 2.5 "Scale plan"; the numbers are its steps.
func PlanScale(in ScaleInput) (ScalePlan, error) {
	var plan ScalePlan
	members := in.members()
	live, preDeleting := idsOf(in.Servers, Live), idsOf(in.Servers, PreDeleting)

	// 1. The ids that earlier scalings reserved, those that the user gave back included.
	implicit := in.WorkloadReserve.Minus(in.ExplicitBefore).Minus(in.Explicit).
		Union(in.ExplicitBefore.Minus(in.Explicit))
	// 3. Members count also while their pod is missing or ending (S-1).
	candidates := live.Union(members).Minus(in.Explicit)

	wanted := int64(in.Replicas)
	switch have := candidates.Len(); {
	case have < wanted: // 4.
		taken := candidates.Union(in.Explicit).Union(preDeleting)
		plan.Added = taken.FirstOutside(wanted - have)
		if plan.Added.Len() < wanted-have {
			return ScalePlan{}, fmt.Errorf("%d servers are wanted and the reserved ids %s leave only %d",
				wanted, in.Explicit, have+plan.Added.Len())
		}
	case have > wanted: // 5.
		leaving := leavingOrder(in.Servers, candidates, members)
		plan.Removed, plan.Vacated = drop(leaving, candidates.Minus(live), have-wanted)
	}
	dropped := plan.Vacated.Union(idset.Of(plan.Removed...))
	plan.Keep = candidates.Union(plan.Added).Minus(dropped)

	// 6. Every gap below the highest member is reserved, or OpenKruise would fill it and take another server away (S-1).
	plan.Reserve = in.Explicit.Union(implicit).Union(dropped).Minus(plan.Keep)
	if highest, ok := plan.Keep.Max(); ok {
		plan.Reserve = plan.Reserve.Union(idset.Range(0, highest).Minus(plan.Keep))
	}
	if err := plan.check(in); err != nil {
		return ScalePlan{}, err
	}
	if below := plan.Reserve.CountBelow(int64(in.Replicas)); below > idset.MaxBelowMembers {
		return ScalePlan{}, fmt.Errorf("%d ids below the highest server would be reserved, and OpenKruise can bear %d; "+
			"reserve fewer ids", below, idset.MaxBelowMembers)
	}
	return plan, nil
}

// check is step 7: the workload must keep exactly what the plan keeps, and the rules promised to users must hold. It
// can only fail by a mistake in this file.
func (p ScalePlan) check(in ScaleInput) error {
	if kept := p.Reserve.FirstOutside(int64(in.Replicas)); !kept.Equal(p.Keep) {
		return fmt.Errorf("the plan keeps ids %s, but with replicas %d and reserve ids %s the workload would keep %s",
			p.Keep, in.Replicas, p.Reserve, kept)
	}
	if forbidden := p.Keep.Intersect(in.Explicit); !forbidden.Empty() {
		return fmt.Errorf("the plan keeps ids %s, which are reserved", forbidden)
	}
	return nil
}

// drop picks n ids: live servers to kill; live pods that are no members, since they are leaving already; empty seats,
// which are the ids without a live pod, larger ones first; then the other live pods.
func drop(leaving []leaver, emptySeats idset.Set, n int64) (removed []int32, vacated idset.Set) {
	next := 0
	for ; n > 0 && next < len(leaving) && leaving[next].turn != turnMember; next, n = next+1, n-1 {
		removed = append(removed, leaving[next].id)
	}
	vacated = emptySeats.Highest(n)
	n -= vacated.Len()
	for ; n > 0 && next < len(leaving); next, n = next+1, n-1 {
		removed = append(removed, leaving[next].id)
	}
	return removed, vacated
}

// The turns of live pods to leave. Empty seats leave before turnMember.
const (
	turnKill int8 = iota
	turnCondemned
	turnMember
)

// leaver is what the order of leaving looks at, small because there may be many to sort.
type leaver struct {
	priority   int64
	id         int32
	turn, rank int8
	ready      bool
}

// leavingOrder sorts the live candidates, first to leave first.
func leavingOrder(servers []Server, candidates, members idset.Set) []leaver {
	leaving := make([]leaver, 0, len(servers))
	for _, server := range servers {
		if server.Class != Live || !candidates.Contains(server.ID) {
			continue
		}
		next := leaver{priority: server.DeletionPriority, id: server.ID, turn: turnMember,
			rank: leavingRank(server.OpsState), ready: server.Ready}
		switch {
		case server.OpsState == gamev1alpha1.Kill:
			next.turn = turnKill
		case !members.Contains(server.ID):
			next.turn = turnCondemned
		}
		leaving = append(leaving, next)
	}
	slices.SortFunc(leaving, compareLeaving)
	return leaving
}

// compareLeaving is negative when a leaves before b. Source: core-controllers.md 2.5 "Deletion order of live pods";
// among equals a server that is not ready leaves before one that is (cases D07, D08). Priorities are compared as
// numbers (S-10).
func compareLeaving(a, b leaver) int {
	switch {
	case a.turn != b.turn:
		return cmp.Compare(a.turn, b.turn)
	case a.rank != b.rank:
		return cmp.Compare(b.rank, a.rank)
	case a.priority != b.priority:
		return cmp.Compare(b.priority, a.priority)
	case a.ready != b.ready:
		if b.ready {
			return -1
		}
		return 1
	default:
		return cmp.Compare(b.id, a.id)
	}
}

func leavingRank(state gamev1alpha1.OpsState) int8 {
	switch state {
	case gamev1alpha1.Kill:
		return 100
	case gamev1alpha1.WaitToDelete:
		return 1
	case gamev1alpha1.Allocated:
		return -1
	case gamev1alpha1.Maintaining:
		return -2
	default: // None, empty, and words of the user
		return 0
	}
}

// Killed returns the ids of the live members in opsState Kill. While replicas and WorkloadReplicas are equal, replicas
// is to be lowered by their number, whatever the other pods do (S-7); PlanScale then drops exactly them. A pod that is
// no member is on its way out and was counted already.
func Killed(in ScaleInput) []int32 {
	if in.Replicas != in.WorkloadReplicas {
		return nil
	}
	members := in.members()
	var ids []int32
	for _, server := range in.Servers {
		if server.Class == Live && server.OpsState == gamev1alpha1.Kill && members.Contains(server.ID) {
			ids = append(ids, server.ID)
		}
	}
	return ids
}

func idsOf(servers []Server, class Class) idset.Set {
	ids := make([]int32, 0, len(servers))
	for _, server := range servers {
		if server.Class == class {
			ids = append(ids, server.ID)
		}
	}
	return idset.Of(ids...)
}
