// SPDX-License-Identifier: Apache-2.0

package indexoffset

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	configv1 "github.com/berthgames/berth/api/schedulerconfig/v1"
	"github.com/berthgames/berth/scheduler/internal/testcluster"
)

// profiles has one profile for each way to configure the plugin. All but seed have no other score plugin.
const profiles = `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: nearest
  plugins: &alone
    preScore: {enabled: [{name: IndexOffset}], disabled: [{name: "*"}]}
    score: {enabled: [{name: IndexOffset, weight: 1}], disabled: [{name: "*"}]}
- schedulerName: preceding
  plugins: *alone
  pluginConfig: [{name: IndexOffset, args: {distance: Preceding}}]
- schedulerName: zones
  plugins: *alone
  pluginConfig: [{name: IndexOffset, args: {topologyKey: topology.kubernetes.io/zone}}]
- schedulerName: zones-preceding
  plugins: *alone
  pluginConfig: [{name: IndexOffset, args: {topologyKey: topology.kubernetes.io/zone, distance: Preceding}}]
- schedulerName: recent
  plugins: *alone
  pluginConfig: [{name: IndexOffset, args: {recentWindow: 1h}}]
- schedulerName: seed
  plugins:
    score: {enabled: [{name: index-offset-scheduler, weight: 5}]}
`

// started is when all clocks of these tests start.
var started = time.Date(2024, 1, 1, 12, 0, 0, 0, time.UTC)

func newCluster(t testing.TB, c clock.PassiveClock) *testcluster.Cluster {
	t.Helper()
	withClock := func(_ context.Context, obj runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
		args, err := configv1.DecodeIndexOffsetArgs(field.NewPath("args"), obj)
		if err != nil {
			return nil, err
		}
		return newPlugin(Name, args, handle, c)
	}
	return testcluster.New(t, testcluster.Load(t, []byte(profiles)),
		frameworkruntime.Registry{Name: withClock, SeedName: NewSeed})
}

// nodes makes nodes n0, n1, ... that put peers with these indexes on them.
func addNodes(t testing.TB, c *testcluster.Cluster, change func(*corev1.Pod), indexes ...[]int) {
	t.Helper()
	for i, on := range indexes {
		name := fmt.Sprintf("n%d", i)
		c.AddNodes(st.MakeNode().Name(name).Label("kubernetes.io/hostname", name).
			Capacity(map[corev1.ResourceName]string{"cpu": "64", "memory": "64Gi", "pods": "110"}).Obj())
		for _, index := range on {
			p := pod(fmt.Sprintf("game-%d", index), change)
			p.Spec.NodeName = name
			c.AddPods(t, p)
		}
	}
}

func using(profile string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.SchedulerName = profile }
}

func TestChoice(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		nodes         [][]int
		index         int
		wantNearest   string
		wantPreceding string
	}{
		"published example (a), pod 2 goes back": {nodes: [][]int{{5}, {0, 3}, {1, 4}}, index: 2, wantNearest: "n0", wantPreceding: "n0"},
		"published example (b)":                  {nodes: [][]int{{2, 105}, {107}, {7, 108}}, index: 4, wantNearest: "n1", wantPreceding: "n1"},
		"X-1 not beside the neighbour above":     {nodes: [][]int{{3}, {0}}, index: 2, wantNearest: "n1", wantPreceding: "n0"},
		"X-2 all peers above, and close":         {nodes: [][]int{{9}, {100}}, index: 8, wantNearest: "n1", wantPreceding: "n1"},
		"X-2 one node above, one around":         {nodes: [][]int{{100}, {99}, {7}}, index: 6, wantNearest: "n0", wantPreceding: "n0"},
		"X-4 twenty apart beats a neighbour":     {nodes: [][]int{{1980}, {1999}, {2001}}, index: 2000, wantNearest: "n0", wantPreceding: "n2"},
		"an empty node beats any distance":       {nodes: [][]int{{0}, {}, {1}}, index: 5000, wantNearest: "n1", wantPreceding: "n1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, clocktesting.NewFakePassiveClock(started))
			addNodes(t, c, gss("game"), tc.nodes...)
			for profile, want := range map[string]string{"nearest": tc.wantNearest, "preceding": tc.wantPreceding, "seed": tc.wantNearest} {
				got, err := c.Try(t, pod(fmt.Sprintf("game-%d", tc.index), gss("game"), using(profile)))
				if err != nil || got.SuggestedHost != want {
					t.Errorf("%s chooses %s, error %v; want %s", profile, got.SuggestedHost, err, want)
				}
			}
		})
	}
}

// Published example (a): six pods over three nodes, whatever the first choice is.
func TestOpeningOverThreeNodes(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"nearest", "preceding", "seed"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, clocktesting.NewFakePassiveClock(started))
			addNodes(t, c, nil, nil, nil, nil)
			var on [6]string
			for i := range on {
				on[i] = c.Place(t, pod(fmt.Sprintf("game-%d", i), gss("game"), using(profile)))
			}
			if on[0] != on[3] || on[1] != on[4] || on[2] != on[5] || on[0] == on[1] || on[1] == on[2] || on[0] == on[2] {
				t.Errorf("pods 0 to 5 are on %v, want pairs {0,3} {1,4} {2,5}", on)
			}
		})
	}
}

// upstream answers with an error, so that these can never be scheduled.
func TestNeutralPodsAreScheduled(t *testing.T) {
	t.Parallel()
	c := newCluster(t, clocktesting.NewFakePassiveClock(started))
	addNodes(t, c, gss("game"), []int{0}, []int{1}, nil)
	for name, p := range neutralPods {
		for _, profile := range []string{"nearest", "seed"} {
			p := p.DeepCopy()
			p.Spec.SchedulerName = profile
			if _, err := c.Try(t, p); err != nil {
				t.Errorf("%s, profile %s: %v", name, profile, err)
			}
		}
		p := p.DeepCopy()
		using("nearest")(p)
		if scores := c.Scores(t, p, Name); scores != nil {
			t.Errorf("%s: PreScore has not skipped the plugin, scores %v", name, scores)
		}
		using("seed")(p)
		want := map[string]int64{"n0": 0, "n1": 0, "n2": 0}
		if diff := cmp.Diff(want, c.Scores(t, p, SeedName)); diff != "" {
			t.Errorf("%s, without PreScore (-want +got):\n%s", name, diff)
		}
	}
}

//
func TestSelector(t *testing.T) {
	t.Parallel()
	c := newCluster(t, clocktesting.NewFakePassiveClock(started))
	tier := func(value string) func(*corev1.Pod) { return label("example.com/tier", value) }
	addNodes(t, c, tier("hot"), []int{12}, []int{3}, nil)
	cold := pod("game-5", tier("cold"), gss("game"))
	cold.Spec.NodeName = "n2"
	other := pod("game-6", tier("hot"))
	other.Namespace, other.Spec.NodeName = "elsewhere", "n2"
	c.AddPods(t, cold, other)

	cases := map[string]struct {
		selector string
		want     map[string]int64
	}{
		"only what matches counts, in the same namespace": {selector: "example.com/tier=hot", want: map[string]int64{"n0": 99, "n1": 59, "n2": 100}},
		"set-based":         {selector: "example.com/tier in (hot, cold)", want: map[string]int64{"n0": 99, "n1": 59, "n2": 0}},
		"what is not there": {selector: "!example.com/tier", want: map[string]int64{"n0": 100, "n1": 100, "n2": 100}},
	}
	for name, tc := range cases {
		p := pod("game-6", gss("game"), selector(tc.selector), using("nearest"))
		for range 2 { // the second answer comes from memory
			if diff := cmp.Diff(tc.want, c.Scores(t, p, Name)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	}
}

// a bad selector keeps no pod from being scheduled, and says so once.
func TestBadSelector(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"nearest", "seed"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, clocktesting.NewFakePassiveClock(started))
			addNodes(t, c, gss("game"), []int{0}, []int{1}, []int{2}, nil)
			bad := "tier in hot" + strings.Repeat("\u2029é", 300)
			if _, err := c.Try(t, pod("game-1", gss("game"), selector(bad), using(profile))); err != nil {
				t.Fatal(err)
			}
			if got := len(c.Events.Events); got != 1 {
				t.Fatalf("there are %d events, want 1", got)
			}
			event := <-c.Events.Events
			for _, want := range []string{"Warning", reasonBadSelector, SelectorAnnotation, "tier in hot"} {
				if !strings.Contains(event, want) {
					t.Errorf("event %q does not say %q", event, want)
				}
			}
			if len(event) > 1024 {
				t.Errorf("the event has %d bytes, the API allows 1024", len(event))
			}
		})
	}
}

//
func TestWhoCounts(t *testing.T) {
	t.Parallel()
	ending := func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: started} }
	phase := func(phase corev1.PodPhase) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Status.Phase = phase }
	}
	cases := map[string]struct {
		peer                       *corev1.Pod
		wantNearest, wantPreceding bool
	}{
		"running":              {peer: pod("game-1", gss("game"), phase(corev1.PodRunning)), wantNearest: true, wantPreceding: true},
		"ending":               {peer: pod("game-1", gss("game"), phase(corev1.PodRunning), ending), wantPreceding: true},
		"succeeded":            {peer: pod("game-1", gss("game"), phase(corev1.PodSucceeded))},
		"failed":               {peer: pod("game-1", gss("game"), phase(corev1.PodFailed))},
		"of another set":       {peer: pod("game-1", gss("other"))},
		"of no set":            {peer: pod("game-1")},
		"in another namespace": {peer: pod("game-1", gss("game"), func(p *corev1.Pod) { p.Namespace = "elsewhere" })},
		"without an index":     {peer: pod("game-x", gss("game"))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, clocktesting.NewFakePassiveClock(started))
			addNodes(t, c, nil, nil, nil)
			tc.peer.Spec.NodeName = "n0"
			c.AddPods(t, tc.peer)
			for profile, want := range map[string]bool{"nearest": tc.wantNearest, "preceding": tc.wantPreceding} {
				scores := c.Scores(t, pod("game-2", gss("game"), using(profile)), Name)
				if got := scores["n0"] < 100; got != want {
					t.Errorf("%s: the peer counts: %v, want %v (scores %v)", profile, got, want, scores)
				}
			}
		})
	}
}

func TestTopology(t *testing.T) {
	t.Parallel()
	c := newCluster(t, clocktesting.NewFakePassiveClock(started))
	addNodes(t, c, gss("game"), []int{5}, []int{20}, nil, []int{30}, []int{8}, nil)
	zones := map[string]string{"n0": "a", "n1": "a", "n2": "a", "n3": "b"} // n4 and n5 are in none
	for name, zone := range zones {
		c.AddNodes(st.MakeNode().Name(name).Label("topology.kubernetes.io/zone", zone).
			Capacity(map[corev1.ResourceName]string{"cpu": "64", "memory": "64Gi", "pods": "110"}).Obj())
	}
	// Distances of 6: zone a 1, zone b 24, n4 2, n5 none. Upstream's: zone a 1, zone b 30, n4 8.
	want := map[string]map[string]int64{
		"zones":           {"n0": 0, "n1": 0, "n2": 0, "n3": 99, "n4": 22, "n5": 100},
		"zones-preceding": {"n0": 0, "n1": 0, "n2": 0, "n3": 99, "n4": 60, "n5": 100},
	}
	for profile, want := range want {
		if diff := cmp.Diff(want, c.Scores(t, pod("game-6", gss("game"), using(profile)), Name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", profile, diff)
		}
	}
}

// A peer turns from recent to established while nothing on its node changes.
func TestRecentWindow(t *testing.T) {
	t.Parallel()
	born := func(ago time.Duration) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			gss("game")(p)
			label("tier", "hot")(p)
			p.CreationTimestamp = metav1.NewTime(started.Add(-ago))
		}
	}
	cases := map[string]*corev1.Pod{
		"peers by set":      pod("game-5", gss("game"), using("recent")),
		"peers by selector": pod("game-5", selector("tier=hot"), using("recent")),
	}
	for name, p := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := clocktesting.NewFakePassiveClock(started)
			c := newCluster(t, now)
			addNodes(t, c, nil, nil, nil)
			young, old := pod("game-3", born(30*time.Minute)), pod("game-8", born(2*time.Hour))
			young.Spec.NodeName, old.Spec.NodeName = "n0", "n1"
			c.AddPods(t, young, old)
			// Pod 5 is 2 away from the one and 3 away from the other; an established one counts as twice as far away.
			if diff := cmp.Diff(map[string]int64{"n0": 39, "n1": 99}, c.Scores(t, p, Name)); diff != "" {
				t.Errorf("while one is recent (-want +got):\n%s", diff)
			}
			now.SetTime(started.Add(time.Hour))
			if diff := cmp.Diff(map[string]int64{"n0": 79, "n1": 99}, c.Scores(t, p, Name)); diff != "" {
				t.Errorf("when both are established (-want +got):\n%s", diff)
			}
		})
	}
}

// The scheduler may give alike pods the same result only if they are alike for us too.
func TestSignPod(t *testing.T) {
	t.Parallel()
	p, err := NewSeed(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	signer, ok := p.(fwk.SignPlugin)
	if !ok {
		t.Fatal("the plugin does not sign, which would switch batching off for all pods")
	}
	for name, neutral := range neutralPods {
		if fragments, status := signer.SignPod(t.Context(), neutral); !status.IsSuccess() || len(fragments) > 0 {
			t.Errorf("%s: %v, status %v; want success without a fragment", name, fragments, status)
		}
	}
	for _, scored := range []*corev1.Pod{pod("game-1", gss("game")), pod("game-1", selector("==="))} {
		if _, status := signer.SignPod(t.Context(), scored); status.Code() != fwk.Unschedulable {
			t.Errorf("labels %v, annotations %v: status %v, want %v", scored.Labels, scored.Annotations, status, fwk.Unschedulable)
		}
	}
}

// the plugin writes nothing per node at the verbosity that is deployed, and allocates nothing per node.
func TestScoreIsQuietAndAllocatesNothing(t *testing.T) { // not parallel: others' allocations would be counted
	c := newCluster(t, clocktesting.NewFakePassiveClock(started))
	addNodes(t, c, gss("game"), make([][]int, 50)...)
	for i := range 200 {
		c.Place(t, pod(fmt.Sprintf("game-%d", i), gss("game"), using("nearest")))
	}
	infos := c.Refresh(t)
	lines := 0
	logger := funcr.New(func(_, _ string) { lines++ }, funcr.Options{Verbosity: 4})
	ctx := klog.NewContext(t.Context(), logger)
	args, err := configv1.DecodeIndexOffsetArgs(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := newPlugin(Name, args, c.Framework(t, "nearest"), clocktesting.NewFakePassiveClock(started))
	if err != nil {
		t.Fatal(err)
	}
	state, arriving := framework.NewCycleState(), pod("game-200", gss("game"))
	if status := p.PreScore(ctx, state, arriving, infos); !status.IsSuccess() {
		t.Fatal(status)
	}
	scoreAll := func() {
		for _, info := range infos {
			if _, status := p.Score(ctx, state, arriving, info); !status.IsSuccess() {
				t.Error(status)
			}
		}
	}
	scoreAll() // reads each node once
	if lines > 0 {
		t.Errorf("%d log lines at verbosity 4, want none", lines)
	}
	if got := testing.AllocsPerRun(10, scoreAll); got > 0 {
		t.Errorf("%v allocations for %d nodes, want none", got, len(infos))
	}
}
