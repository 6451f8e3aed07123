// SPDX-License-Identifier: Apache-2.0

package hostport

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllertest"

	"github.com/berthgames/berth/internal/ports"
)

// What holds a number on node n1 after a history of events. The pod under test was given 8000/TCP.
func TestObserveFollowsPods(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	bound := holder("h", "n1", corev1.ProtocolTCP, 8000)
	waiting := holder("h", "", corev1.ProtocolTCP, 8000)
	terminating := bound.DeepCopy()
	terminating.DeletionTimestamp = &bound.CreationTimestamp
	finished := bound.DeepCopy()
	finished.Status.Phase = corev1.PodSucceeded
	successor := holder("h", "n1", corev1.ProtocolTCP, 8001)
	successor.UID = "another"
	finishedSuccessor := successor.DeepCopy()
	finishedSuccessor.Status.Phase = corev1.PodFailed

	cases := map[string]struct {
		events func(pods *controllertest.FakeInformer)
		want   []int32 // free numbers of 8000-8001 on n1
	}{
		"a bound pod":                                                    {func(pods *controllertest.FakeInformer) { pods.Add(bound) }, []int32{8001}},
		"a pod without node holds nothing":                               {func(pods *controllertest.FakeInformer) { pods.Add(waiting) }, []int32{8000, 8001}},
		"a pod that is bound later":                                      {func(pods *controllertest.FakeInformer) { pods.Add(waiting); pods.Update(waiting, bound) }, []int32{8001}},
		"S11: a pod that is being deleted holds":                         {func(pods *controllertest.FakeInformer) { pods.Add(bound); pods.Update(bound, terminating) }, []int32{8001}},
		"a pod that finished does not":                                   {func(pods *controllertest.FakeInformer) { pods.Add(bound); pods.Update(bound, finished) }, []int32{8000, 8001}},
		"a pod that was finished before the list":                        {func(pods *controllertest.FakeInformer) { pods.Add(finished) }, []int32{8000, 8001}},
		"a pod that is gone":                                             {func(pods *controllertest.FakeInformer) { pods.Add(bound); pods.Delete(terminating) }, []int32{8000, 8001}},
		"A20: a pod that was replaced while nobody watched":              {func(pods *controllertest.FakeInformer) { pods.Add(bound); pods.Update(bound, successor) }, []int32{8000}},
		"A20: a pod whose successor has finished when the watch is back": {func(pods *controllertest.FakeInformer) { pods.Add(bound); pods.Update(bound, finishedSuccessor) }, []int32{8000, 8001}},
		"the same event again":                                           {func(pods *controllertest.FakeInformer) { pods.Add(bound); pods.Add(bound); pods.Delete(bound) }, []int32{8000, 8001}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			informers := &informertest.FakeInformers{Scheme: scheme}
			p := newPlugin(t, ports.Range{Min: 8000, Max: 8001})
			p.synced.Store(nil)
			if p.Observed() {
				t.Error("observed before anything was registered")
			}
			if err := p.Observe(t.Context(), informers); err != nil {
				t.Fatal(err)
			}
			nodes, err := informers.FakeInformerFor(t.Context(), &corev1.Node{})
			if err != nil {
				t.Fatal(err)
			}
			pods, err := informers.FakeInformerFor(t.Context(), &corev1.Pod{})
			if err != nil {
				t.Fatal(err)
			}
			nodes.Add(node("n1"))
			tc.events(pods)
			var free []int32
			for _, n := range []int32{8000, 8001} {
				if p.ledger.Outlook(nil, []ports.Port{{Protocol: ports.TCP, Number: n}}).Fitting == 1 {
					free = append(free, n)
				}
			}
			if diff := cmp.Diff(tc.want, free); diff != "" {
				t.Errorf("free numbers (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHandlerNoticesLateDeletions(t *testing.T) {
	t.Parallel()
	var gone []string
	h := handler(func(*corev1.Pod) {}, func(pod *corev1.Pod) { gone = append(gone, pod.Name) })
	h.OnDelete(toolscache.DeletedFinalStateUnknown{Key: "other/late", Obj: holder("late", "n1", corev1.ProtocolTCP, 8000)})
	h.OnDelete(holder("seen", "n1", corev1.ProtocolTCP, 8000))
	h.OnDelete(toolscache.DeletedFinalStateUnknown{Key: "other/lost"})
	if diff := cmp.Diff([]string{"late", "seen"}, gone); diff != "" {
		t.Errorf("gone (-want +got):\n%s", diff)
	}
}
