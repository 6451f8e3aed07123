// SPDX-License-Identifier: Apache-2.0

package indexoffset

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	clocktesting "k8s.io/utils/clock/testing"
	"pgregory.net/rapid"

	configv1 "github.com/berthgames/berth/api/schedulerconfig/v1"
)

// A node is read again from what was known before, for each pod that is still the same. The result is that of reading all.
func TestReadingAgainIsReading(t *testing.T) {
	t.Parallel()
	type result struct {
		Expires int64
		Groups  map[group]peers
	}
	of := func(r *reading) result {
		got := result{Expires: r.expires, Groups: map[group]peers{}}
		for _, g := range r.groups {
			got.Groups[g.group.Value()] = g.peers
		}
		return got
	}
	rapid.Check(t, func(t *rapid.T) {
		rd := reader{keepTerminating: rapid.Bool().Draw(t, "keep terminating"), window: time.Hour}
		info := framework.NewNodeInfo()
		info.SetNode(st.MakeNode().Name("n").Obj())
		now := started.UnixNano()
		on := map[int]*corev1.Pod{}
		var last *reading
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			index := rapid.IntRange(0, 6).Draw(t, "index")
			if old, ok := on[index]; ok {
				if err := info.RemovePod(logr.Discard(), old); err != nil {
					t.Fatal(err)
				}
				delete(on, index)
			}
			if rapid.Bool().Draw(t, "add") {
				p := pod(fmt.Sprintf("game-%d", index), gss(rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "set")))
				p.CreationTimestamp = metav1.NewTime(started.Add(-time.Duration(rapid.IntRange(0, 120).Draw(t, "age")) * time.Minute))
				p.Status.Phase = rapid.SampledFrom([]corev1.PodPhase{corev1.PodRunning, corev1.PodFailed}).Draw(t, "phase")
				if rapid.Bool().Draw(t, "ending") {
					p.DeletionTimestamp = &metav1.Time{Time: started}
				}
				info.AddPod(p)
				on[index] = p
			}
			now += int64(rapid.IntRange(0, 30).Draw(t, "minutes")) * int64(time.Minute)
			last = rd.read(info, last, now)
			if diff := cmp.Diff(of(rd.read(info, nil, now)), of(last), cmp.AllowUnexported(group{}, peers{})); diff != "" {
				t.Fatalf("reading all, and reading again (-want +got):\n%s", diff)
			}
		}
	})
}

// What is remembered of nodes that are gone goes too, or a cluster that grows and shrinks would cost memory for ever.
func TestIndexForgetsNodesThatAreGone(t *testing.T) {
	t.Parallel()
	c := newCluster(t, clocktesting.NewFakePassiveClock(started))
	addNodes(t, c, gss("game"), []int{0}, []int{1}, []int{2})
	args, err := configv1.DecodeIndexOffsetArgs(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := newPlugin(Name, args, c.Framework(t, "nearest"), clocktesting.NewFakePassiveClock(started))
	if err != nil {
		t.Fatal(err)
	}
	score := func() {
		state, arriving := framework.NewCycleState(), pod("game-9", gss("game"))
		infos := c.Refresh(t)
		if status := p.PreScore(t.Context(), state, arriving, infos); !status.IsSuccess() {
			t.Fatal(status)
		}
		for _, info := range infos {
			if _, status := p.Score(t.Context(), state, arriving, info); !status.IsSuccess() {
				t.Fatal(status)
			}
		}
	}
	score()
	c.Clear(t)
	addNodes(t, c, gss("game"), []int{0})
	score()
	if got := len(*p.index.nodes.Load()); got != 1 {
		t.Errorf("%d nodes are remembered, want 1", got)
	}
	readings := 0
	for i := range p.index.latest {
		if p.index.latest[i].Load() != nil {
			readings++
		}
	}
	if readings != 1 {
		t.Errorf("%d readings are remembered, want 1", readings)
	}
}
