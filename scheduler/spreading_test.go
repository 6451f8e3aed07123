// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"pgregory.net/rapid"

	"github.com/berthgames/berth/scheduler/internal/testcluster"
)

// These tests are the acceptance rules of the scheduler-index-offset spec, section 6: the configuration as shipped, every
// stock plugin included, on nodes that can all run every pod.

// shippedProfiles are the profiles that the rules hold for in clusters of up to 100 nodes.
var shippedProfiles = []string{"berth-scheduler", "index-offset-scheduler"}

// room is a cluster of equal nodes that remembers which indexes of the set are where.
type room struct {
	*testcluster.Cluster
	profile string
	on      map[string][]int // node -> indexes
	where   map[int]string
}

func newRoom(tb testing.TB, c *testcluster.Cluster, profile string, size int) *room {
	tb.Helper()
	r := &room{Cluster: c, profile: profile, on: map[string][]int{}, where: map[int]string{}}
	for i := range size {
		name := fmt.Sprintf("node-%03d", i)
		r.on[name] = nil
		r.AddNodes(st.MakeNode().Name(name).Label(corev1.LabelHostname, name).
			Capacity(map[corev1.ResourceName]string{"cpu": "1000", "memory": "1000Gi", "pods": "1000"}).Obj())
	}
	return r
}

func (r *room) server(index int) *corev1.Pod {
	name := fmt.Sprintf("game-%d", index)
	pod := st.MakePod().Namespace("games").Name(name).UID("uid-"+name).SchedulerName(r.profile).
		Label("game.kruise.io/owner-gss", "game").Req(map[corev1.ResourceName]string{"cpu": "100m", "memory": "64Mi"}).Obj()
	return pod
}

func (r *room) add(tb testing.TB, index int) {
	tb.Helper()
	node := r.Place(tb, r.server(index))
	r.on[node] = append(r.on[node], index)
	r.where[index] = node
}

func (r *room) remove(tb testing.TB, index int) {
	tb.Helper()
	r.Remove(tb, r.server(index))
	node := r.where[index]
	r.on[node] = slices.DeleteFunc(r.on[node], func(i int) bool { return i == index })
	delete(r.where, index)
}

// distance is how far the closest index on a node is; more than any index if there is none.
func (r *room) distance(node string, index int) int {
	distance := 1 << 30
	for _, peer := range r.on[node] {
		if peer != index {
			distance = min(distance, max(peer-index, index-peer))
		}
	}
	return distance
}

// smallestGap is the smallest distance between two indexes on one node.
func (r *room) smallestGap() int {
	gap := 1 << 30
	for index, node := range r.where {
		gap = min(gap, r.distance(node, index))
	}
	return gap
}

// noise puts pods of others on the nodes, so that the stock plugins are for some nodes and against others.
func (r *room) noise(tb testing.TB, random *rand.Rand) {
	tb.Helper()
	for node := range r.on {
		for i := range random.IntN(4) {
			name := fmt.Sprintf("other-%s-%d", node, i)
			pod := st.MakePod().Namespace("games").Name(name).UID(name).Node(node).
				Req(map[corev1.ResourceName]string{"cpu": fmt.Sprint(1 + random.IntN(300)), "memory": "1Gi"}).Obj()
			r.AddPods(tb, pod)
		}
	}
}

// With equal nodes and any order of arrival and re-creation, no pod lands on a node while a feasible one is farther from
// its neighbours in number; and so no gap is ever smaller than half the number of nodes: fewer indexes than nodes are that
// close to any given one, so some node holds none of them.
func TestNoFeasibleNodeIsFartherFromTheNeighbours(t *testing.T) {
	t.Parallel()
	for _, profile := range shippedProfiles {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			c := testcluster.New(t, shipped(t), Plugins())
			rapid.Check(t, func(rt *rapid.T) {
				defer c.Clear(t)
				size := rapid.IntRange(2, 7).Draw(rt, "nodes")
				r := newRoom(t, c, profile, size)
				r.noise(t, rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "noise"), 0)))
				steps := rapid.SliceOfN(rapid.IntRange(0, 4*size), 1, 40).Draw(rt, "steps")
				for _, index := range steps {
					if _, ok := r.where[index]; ok {
						r.remove(t, index)
						continue
					}
					r.add(t, index)
					chosen := r.distance(r.where[index], index)
					for node := range r.on {
						if node != r.where[index] && r.distance(node, index) > chosen {
							rt.Fatalf("pod %d is on %s, %d from its neighbour; %s is %d away. Indexes: %v",
								index, r.where[index], chosen, node, r.distance(node, index), r.on)
						}
					}
				}
				if gap := r.smallestGap(); gap < (size+1)/2 {
					rt.Fatalf("the smallest gap on one node is %d, want at least half of %d nodes. Indexes: %v", gap, size, r.on)
				}
			})
		})
	}
}

// Opening servers one after another over M nodes leaves M between two on one node, and re-creating 30 % of them, one at
// a time, does not change that.
func TestOpeningAndRecreation(t *testing.T) {
	t.Parallel()
	for _, profile := range shippedProfiles {
		c := testcluster.New(t, shipped(t), Plugins())
		for _, size := range []int{3, 5, 20} {
			random := rand.New(rand.NewPCG(uint64(size), 7))
			r := newRoom(t, c, profile, size)
			r.noise(t, random)
			servers := size*6 + 2
			for i := range servers {
				r.add(t, i)
			}
			if gap := r.smallestGap(); gap != size {
				t.Errorf("%s: after opening, the smallest gap over %d nodes is %d", profile, size, gap)
			}
			for _, index := range random.Perm(servers)[:servers*3/10] {
				r.remove(t, index)
				r.add(t, index)
				if gap := r.smallestGap(); gap < size-1 {
					t.Fatalf("%s: after pod %d came back, the smallest gap over %d nodes is %d", profile, index, size, gap)
				}
			}
			c.Clear(t)
		}
	}
}

// a burst of 300 pods, none of which is bound before the last is chosen.
func TestAssumedPodsOfABurstCount(t *testing.T) {
	t.Parallel()
	const size, burst = 60, 300
	r := newRoom(t, testcluster.New(t, shipped(t), Plugins()), "index-offset-scheduler", size)
	for i := range burst {
		r.add(t, i)
		pod := r.server(i)
		if assumed, err := r.Scheduler.Cache.IsAssumedPod(pod); err != nil || !assumed {
			t.Fatalf("pod %d is not assumed, error %v", i, err)
		}
	}
	if gap := r.smallestGap(); gap != size {
		t.Errorf("the smallest gap is %d, want %d", gap, size)
	}
}

// In a cluster of more than 100 nodes the scheduler looks at a share of them by default. The profile
// index-offset-scheduler looks at all, so its choice is the best there is; berth-scheduler's is not meant to be.
func TestAllNodesOfALargeClusterAreLookedAt(t *testing.T) {
	t.Parallel()
	const size = 250
	r := newRoom(t, testcluster.New(t, shipped(t), Plugins()), "index-offset-scheduler", size)
	for i := range size + 20 {
		r.add(t, i)
	}
	if gap := r.smallestGap(); gap != size {
		t.Errorf("the smallest gap over %d nodes is %d", size, gap)
	}
}

// Sets do not see one another, whichever workload they come from.
func TestSetsAreIndependent(t *testing.T) {
	t.Parallel()
	c := testcluster.New(t, shipped(t), Plugins())
	newRoom(t, c, "berth-scheduler", 3)
	owned := func(uid string, index int) *corev1.Pod {
		pod := st.MakePod().Namespace("games").Name(fmt.Sprintf("%s-%d", uid, index)).UID(fmt.Sprintf("%s-%d", uid, index)).
			SchedulerName("berth-scheduler").OwnerReference("web", appsv1.SchemeGroupVersion.WithKind("StatefulSet")).Obj()
		pod.OwnerReferences[0].UID = types.UID(uid)
		return pod
	}
	used := map[string]map[string]bool{"a": {}, "b": {}}
	for index := range 3 {
		for uid := range used {
			used[uid][c.Place(t, owned(uid, index))] = true
		}
	}
	for uid, nodes := range used {
		if len(nodes) != 3 {
			t.Errorf("the three pods of set %s are on %d nodes, want each on its own", uid, len(nodes))
		}
	}
}
