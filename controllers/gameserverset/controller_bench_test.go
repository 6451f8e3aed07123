// SPDX-License-Identifier: Apache-2.0

package gameserverset

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	kruisev1beta1 "github.com/openkruise/kruise-api/apps/v1beta1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/test/build"
)

// restBudget is what one pass over a set of 10,000 servers may cost. Source: issue 3, "Speed on the playground".
const restBudget = 100 * time.Millisecond

// filledCache is a cache with one set and its servers, at the cost of a real one: lists are copied, but not deeply. It has
// no way to write.
type filledCache struct {
	client.Client
	set         *gamev1alpha1.GameServerSet
	workload    *kruisev1beta1.StatefulSet
	pods        []corev1.Pod
	gameServers []gamev1alpha1.GameServer
}

func (c *filledCache) Get(_ context.Context, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	switch obj := obj.(type) {
	case *gamev1alpha1.GameServerSet:
		c.set.DeepCopyInto(obj)
	case *kruisev1beta1.StatefulSet:
		c.workload.DeepCopyInto(obj)
	default:
		return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
	}
	return nil
}

func (c *filledCache) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	switch list := list.(type) {
	case *corev1.PodList:
		list.Items = slices.Clone(c.pods)
	case *gamev1alpha1.GameServerList:
		list.Items = slices.Clone(c.gameServers)
	}
	return nil
}

// atRest returns a cache in which a set has everything it wants.
func atRest(tb testing.TB, size int32) *filledCache {
	tb.Helper()
	c := &filledCache{set: build.GameServerSet("arena").UID("s").Replicas(size).ReclaimDelete().Obj()}
	managed, err := managedSpec(c.set)
	if err != nil {
		tb.Fatal(err)
	}
	if c.workload, err = newWorkload(c.set, managed, mustPlan(tb, ScaleInput{Replicas: size})); err != nil {
		tb.Fatal(err)
	}
	c.workload.UID = "w"
	for id := range size {
		pod := podWith(map[string]string{gamev1alpha1.GameServerOpsStateKey: "None"})
		pod.Name = "arena-" + strconv.Itoa(int(id))
		pod.OwnerReferences = controlledBy("StatefulSet", "arena", "w")
		c.pods = append(c.pods, *pod)
		gs := gamev1alpha1.GameServer{}
		gs.Name, gs.OwnerReferences = pod.Name, controlledBy("GameServerSet", "arena", "s")
		c.gameServers = append(c.gameServers, gs)
	}
	p := &pass{set: c.set, workload: c.workload}
	for i := range c.pods {
		p.see(&c.pods[i])
	}
	c.set.Status = newStatus(c.set, c.workload, p.pods)
	setFindings(&c.set.Status, []finding{
		{condition: gamev1alpha1.ProbesReadyCondition, fine: true, reason: ReasonNoProbes},
		{condition: gamev1alpha1.WorkloadReadyCondition, fine: true, reason: ReasonAsWanted},
		{condition: gamev1alpha1.ScaleConsistentCondition, fine: true, reason: ReasonAsWanted},
	}, time.Unix(1000, 0))
	return c
}

func passOver(tb testing.TB, c *filledCache) func() {
	tb.Helper()
	r := New(Options{Client: c, Live: c, Clock: clock.RealClock{}, Events: events.NewFakeRecorder(1)})
	request := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(c.set)}
	return func() {
		if _, err := r.Reconcile(tb.Context(), request); err != nil {
			tb.Fatal(err)
		}
	}
}

// BenchmarkReconcileAtRest measures a pass that finds nothing to do; the target is restBudget at 10,000 servers.
func BenchmarkReconcileAtRest(b *testing.B) {
	for _, size := range []int32{100, 1_000, 10_000} {
		b.Run(fmt.Sprintf("servers=%d", size), func(b *testing.B) {
			once := passOver(b, atRest(b, size))
			b.ReportAllocs()
			for b.Loop() {
				once()
			}
		})
	}
}

// A write would end the test: the cache has none.
func TestPassOverTenThousandServersStaysInBudget(t *testing.T) {
	once := passOver(t, atRest(t, 10_000))
	best := time.Hour
	for range 5 {
		start := time.Now()
		once()
		best = min(best, time.Since(start))
	}
	if limit := 2 * slowdown * restBudget; best > limit {
		t.Errorf("a pass over 10,000 servers took %v, twice the budget is %v", best, limit)
	}
}
