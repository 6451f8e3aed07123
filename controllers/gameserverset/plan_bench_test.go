// SPDX-License-Identifier: Apache-2.0

package gameserverset

import (
	"fmt"
	"testing"
	"time"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/internal/idset"
)

// planBudget is what planning a set of 10,000 servers may cost. Source: issue 3, "Speed on the playground".
const planBudget = 10 * time.Millisecond

// worstInput halves a set in which every second id is reserved, so that no interval is longer than one id and all
// servers have to be put in order.
func worstInput(size int32) ScaleInput {
	in := ScaleInput{Replicas: size / 2, WorkloadReplicas: size}
	states := []gamev1alpha1.OpsState{gamev1alpha1.None, gamev1alpha1.Allocated, gamev1alpha1.WaitToDelete, "word"}
	odd := make([]int32, 0, size)
	for i := range size {
		odd = append(odd, 2*i+1)
		in.Servers = append(in.Servers, Server{ID: 2 * i, OpsState: states[i%4], DeletionPriority: int64(i % 7), Ready: i%5 != 0})
	}
	in.WorkloadReserve = idset.Of(odd...)
	return in
}

// BenchmarkPlanScale measures one plan; the target is planBudget at 10,000 servers.
func BenchmarkPlanScale(b *testing.B) {
	for _, size := range []int32{100, 1_000, 10_000} {
		b.Run(fmt.Sprintf("servers=%d", size), func(b *testing.B) {
			in := worstInput(size)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := PlanScale(in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestPlanningTenThousandServersStaysInBudget(t *testing.T) {
	in := worstInput(10_000)
	best := time.Hour
	for range 5 {
		start := time.Now()
		if _, err := PlanScale(in); err != nil {
			t.Fatal(err)
		}
		best = min(best, time.Since(start))
	}
	if limit := 2 * slowdown * planBudget; best > limit {
		t.Errorf("planning 10,000 servers took %v, twice the budget is %v", best, limit)
	}
}
