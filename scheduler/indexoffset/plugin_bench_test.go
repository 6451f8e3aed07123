// SPDX-License-Identifier: Apache-2.0

package indexoffset

import (
	"fmt"
	"path"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/clock"

	"github.com/berthgames/berth/api/schedulerconfig"
	"github.com/berthgames/berth/scheduler/internal/testcluster"
)

// benchProfiles are the stock scheduler, once looking at the share of the nodes that the release chooses (10 % of 5,000),
// once at all of them. Both sides run on one core, so that the ratio is one of work, whatever else the machine does.
const benchProfiles = `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
parallelism: 1
profiles:
- schedulerName: share
- schedulerName: all
  percentageOfNodesToScore: 100
`

// benchCluster has ten pods of one set on each node, in 3 zones.
func benchCluster(tb testing.TB, nodes, pods int) *testcluster.Cluster {
	tb.Helper()
	c := testcluster.New(tb, testcluster.Load(tb, []byte(benchProfiles)), frameworkruntime.Registry{Name: New})
	for i := range nodes {
		name := fmt.Sprintf("node-%05d", i)
		c.AddNodes(st.MakeNode().Name(name).Label(corev1.LabelHostname, name).
			Label(corev1.LabelTopologyZone, fmt.Sprint("zone-", i%3)).
			Capacity(map[corev1.ResourceName]string{"cpu": "1000", "memory": "1000Gi", "pods": "1000"}).Obj())
	}
	for i := range pods {
		p := benchPod(i, "stock")
		p.Spec.NodeName = fmt.Sprintf("node-%05d", i%nodes)
		c.AddPods(tb, p)
	}
	return c
}

// benchPod has the shape of a usual game server: two containers, a scratch volume, a host port.
func benchPod(index int, profile string) *corev1.Pod {
	name := fmt.Sprintf("game-%d", index)
	requests := corev1.ResourceRequirements{Requests: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("64Mi"),
	}}
	return st.MakePod().Namespace("games").Name(name).UID(name).SchedulerName(profile).Label("game.kruise.io/owner-gss", "game").
		Containers([]corev1.Container{
			{Name: "game", Image: "game:1", Resources: requests, Ports: []corev1.ContainerPort{
				{ContainerPort: 7777, HostPort: int32(8000 + index%20000), Protocol: corev1.ProtocolUDP},
			}},
			{Name: "sidecar", Image: "sidecar:1", Resources: requests},
		}).
		Volume(corev1.Volume{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}).Obj()
}

// BenchmarkCycle compares what the plugin does for one pod with the scheduling cycle of the stock scheduler, in one run on
// the same nodes, one of which changes between two pods as it does in life. Goal: under 5 % at 5,000 nodes and 50,000
// peers. Spreading over zones has no goal: it has to look at all nodes, since any can hold a peer.
func BenchmarkCycle(b *testing.B) {
	for _, size := range []struct{ nodes, pods int }{{500, 5_000}, {5_000, 50_000}} {
		b.Run(fmt.Sprintf("nodes=%d/pods=%d", size.nodes, size.pods), func(b *testing.B) {
			c := benchCluster(b, size.nodes, size.pods)
			next := size.pods
			for _, key := range []string{corev1.LabelHostname, corev1.LabelTopologyZone} {
				for _, profile := range []string{"share", "all"} {
					b.Run(fmt.Sprintf("over=%s/feasible=%s", path.Base(key), profile), func(b *testing.B) {
						cycles := newBenchCycles(b, c, key, profile, next)
						for b.Loop() {
							cycles.one(b)
						}
						next = cycles.next
						stock, ours := median(cycles.stock), median(cycles.ours)
						b.ReportMetric(0, "ns/op") // both sides together, and the work between them, say nothing
						b.ReportMetric(float64(ours), "ours-ns/pod")
						b.ReportMetric(float64(stock), "stock-ns/pod")
						b.ReportMetric(100*float64(ours)/float64(stock), "%-of-stock")
					})
				}
			}
		})
	}
}

// The goal of BenchmarkCycle, missed by two times: a test, because a plugin that walks its peers misses it by far.
func TestCycleBudget(t *testing.T) { // not parallel: it measures
	if raceEnabled {
		t.Skip("the race detector slows the two sides differently; make test-unit runs this test without it")
	}
	const budget = 10.0 // percent
	cycles := newBenchCycles(t, benchCluster(t, 5_000, 50_000), corev1.LabelHostname, "share", 50_000)
	var got float64
	for range 5 { // the machine may be busy
		cycles.stock, cycles.ours = nil, nil
		for range 200 {
			cycles.one(t)
		}
		got = 100 * float64(median(cycles.ours)) / float64(median(cycles.stock))
		if got < budget {
			return
		}
	}
	t.Errorf("the plugin takes %.1f %% of the stock scheduling cycle, at most %.0f %% are allowed", got, budget)
}

// benchCycles alternates between the stock scheduling cycle and the plugin's part of one, so that both meet the same load
// of the machine. Medians of their times are what other processes disturb least.
type benchCycles struct {
	cluster     *testcluster.Cluster
	plugin      *Plugin
	profile     string
	next        int // the next index that is free
	from        int // where the scheduler goes on looking at nodes
	stock, ours []time.Duration
}

func newBenchCycles(tb testing.TB, c *testcluster.Cluster, topologyKey, profile string, next int) *benchCycles {
	tb.Helper()
	args := &schedulerconfig.IndexOffsetArgs{Distance: schedulerconfig.DistanceNearest, TopologyKey: topologyKey}
	p, err := newPlugin(Name, args, c.Framework(tb, profile), clock.RealClock{})
	if err != nil {
		tb.Fatal(err)
	}
	cycles := &benchCycles{cluster: c, plugin: p, profile: profile, next: next}
	cycles.score(tb, benchPod(next, profile), c.Refresh(tb)) // all nodes are new to it once only
	return cycles
}

// one schedules a pod as the stock scheduler does, and then does the plugin's part for the next one.
func (c *benchCycles) one(tb testing.TB) {
	clk := clock.RealClock{}
	pod := benchPod(c.next, c.profile)
	start := clk.Now()
	result, err := c.cluster.Try(tb, pod)
	if err != nil {
		tb.Fatal(err)
	}
	c.cluster.Assume(tb, pod, result.SuggestedHost)
	c.stock = append(c.stock, clk.Since(start))
	c.next++

	pod = benchPod(c.next, c.profile)
	infos := c.examined(c.cluster.Refresh(tb), result.FeasibleNodes)
	start = clk.Now()
	c.score(tb, pod, infos)
	c.ours = append(c.ours, clk.Since(start))
}

// examined returns the nodes that the scheduler has just scored: it goes on where it stopped for the last pod.
func (c *benchCycles) examined(infos []fwk.NodeInfo, feasible int) []fwk.NodeInfo {
	examined := make([]fwk.NodeInfo, 0, feasible)
	for range feasible {
		examined = append(examined, infos[c.from%len(infos)])
		c.from++
	}
	return examined
}

// score runs the plugin as the framework does, on one core.
func (c *benchCycles) score(tb testing.TB, pod *corev1.Pod, infos []fwk.NodeInfo) {
	ctx, state := tb.Context(), framework.NewCycleState()
	if status := c.plugin.PreScore(ctx, state, pod, infos); !status.IsSuccess() {
		tb.Fatal(status)
	}
	scores := make(fwk.NodeScoreList, len(infos))
	for i, info := range infos {
		score, _ := c.plugin.Score(ctx, state, pod, info)
		scores[i] = fwk.NodeScore{Name: info.Node().Name, Score: score}
	}
	c.plugin.NormalizeScore(ctx, state, pod, scores)
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
