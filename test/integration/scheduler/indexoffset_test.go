// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/berthgames/berth/test/expect"
)

// profiles are the scheduler names that users put into pods.
var profiles = []string{"berth-scheduler", "index-offset-scheduler"}

func quantity(text string) resource.Quantity { return resource.MustParse(text) }

// server makes a pod of a GameServerSet.
func (w *world) server(name string) *corev1.Pod {
	pod := w.bare(name)
	pod.Labels = map[string]string{"game.kruise.io/owner-gss": "game"}
	return pod
}

func (w *world) bare(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name},
		Spec: corev1.PodSpec{
			SchedulerName: w.profile, NodeSelector: map[string]string{"world": w.namespace},
			Containers: []corev1.Container{{Name: "game", Image: "game:1"}},
		},
	}
}

// place creates a pod and returns the node that the scheduler chooses.
func (w *world) place(pod *corev1.Pod) string {
	w.Helper()
	w.must(w.Create(w.Context(), pod))
	return w.bound(pod)
}

func (w *world) bound(pod *corev1.Pod) string {
	w.Helper()
	w.must(expect.Eventually(w.Context(), 30*time.Second, "pod "+pod.Name+" to have a node", func(ctx context.Context) error {
		if err := w.Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
			return err
		}
		if pod.Spec.NodeName == "" {
			return fmt.Errorf("conditions: %v", pod.Status.Conditions)
		}
		return nil
	}))
	return w.shortName(pod.Spec.NodeName)
}

func (w *world) delete(pod *corev1.Pod) {
	w.Helper()
	w.must(w.Delete(w.Context(), pod, client.GracePeriodSeconds(0)))
}

// Published example (a): pods 0 to 5 over three nodes, and pod 2 goes back to its node.
func TestOpeningAndReturn(t *testing.T) {
	for _, profile := range profiles {
		t.Run(profile, func(t *testing.T) {
			w := newWorld(t, profile, 3)
			on := map[string][]int{}
			pods := make([]*corev1.Pod, 6)
			for i := range pods {
				pods[i] = w.server(fmt.Sprintf("game-%d", i))
				node := w.place(pods[i])
				on[node] = append(on[node], i)
			}
			var pairs [][]int
			for _, indexes := range on {
				pairs = append(pairs, indexes)
			}
			slices.SortFunc(pairs, slices.Compare)
			if diff := cmp.Diff([][]int{{0, 3}, {1, 4}, {2, 5}}, pairs); diff != "" {
				t.Fatalf("indexes by node (-want +got):\n%s", diff)
			}
			home := w.shortName(pods[2].Spec.NodeName)
			w.delete(pods[2])
			if got := w.place(w.server("game-2")); got != home {
				t.Errorf("pod 2 is on %s, want %s again", got, home)
			}
		})
	}
}

// Published example (b).
func TestFarthestNeighbour(t *testing.T) {
	w := newWorld(t, "index-offset-scheduler", 3)
	for i, indexes := range [][]int{{2, 105}, {107}, {7, 108}} {
		for _, index := range indexes {
			pod := w.server(fmt.Sprintf("game-%d", index))
			pod.Spec.NodeName = w.node(i)
			w.must(w.Create(t.Context(), pod))
		}
	}
	if got := w.place(w.server("game-4")); got != "n1" {
		t.Errorf("pod 4 is on %s, want n1", got)
	}
}

// X-3 and case S05: upstream fails to score these, so that they never start.
func TestPodsWithoutPeersAreScheduled(t *testing.T) {
	w := newWorld(t, "index-offset-scheduler", 2)
	owned := w.bare("job-x")
	owned.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "job", UID: "u1"}}
	for _, pod := range []*corev1.Pod{w.bare("bare"), w.bare("bare-1"), owned, w.server("game-x")} {
		w.place(pod)
	}
}

// an event tells of a selector that cannot be understood, and the pod is scheduled.
func TestBadSelectorIsToldAndForgiven(t *testing.T) {
	w := newWorld(t, "berth-scheduler", 2)
	pod := w.server("game-0")
	pod.Annotations = map[string]string{"index-offset-scheduler/scheduler-selector": "a in b"}
	w.place(pod)
	w.must(expect.Eventually(t.Context(), 30*time.Second, "an event", func(ctx context.Context) error {
		var events eventsv1.EventList
		if err := w.List(ctx, &events, client.InNamespace(w.namespace)); err != nil {
			return err
		}
		told := 0
		for _, event := range events.Items {
			if event.Reason == "InvalidSchedulerSelector" && event.Regarding.UID == pod.UID {
				told++
			}
		}
		switch told {
		case 0:
			return errors.New("there is none yet")
		case 1:
			return nil
		default:
			return fmt.Errorf("there are %d", told)
		}
	}))
}

// a burst, in which pods are chosen faster than they are bound.
func TestBurst(t *testing.T) {
	const size, burst = 10, 300
	w := newWorld(t, "index-offset-scheduler", size)
	pods := make([]*corev1.Pod, burst)
	for i := range pods {
		pods[i] = w.server(fmt.Sprintf("game-%d", i))
		w.must(w.Create(t.Context(), pods[i]))
	}
	on := map[string][]int{}
	for i, pod := range pods {
		node := w.bound(pod)
		on[node] = append(on[node], i)
	}
	for node, indexes := range on {
		slices.Sort(indexes)
		for i := 1; i < len(indexes); i++ {
			if gap := indexes[i] - indexes[i-1]; gap < size/2 {
				t.Errorf("%s holds %d and %d", node, indexes[i-1], indexes[i])
			}
		}
	}
}

// X-8 and case S07: two replicas, of which one schedules; when it dies the other goes on.
func TestTheOtherReplicaTakesOver(t *testing.T) {
	w := newWorld(t, "berth-scheduler", 1)
	first, err := leader(t.Context(), w)
	w.must(err)
	w.must(w.shared.replicas[0].kill())
	w.place(w.bare("game-0"))
	second, err := leader(t.Context(), w)
	w.must(err)
	if first == second {
		t.Errorf("%s still leads", second)
	}
}
