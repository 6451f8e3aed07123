// SPDX-License-Identifier: Apache-2.0

package podnetwork

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/network/framework"
)

// asker is a plugin that answers what a test says.
type asker struct {
	framework.Plugin
	answer func(context.Context) (framework.Result, error)
}

func (asker) Name() string { return "Test" }

func (a asker) Reconcile(ctx context.Context, _ *framework.Pod) (framework.Result, error) {
	return a.answer(ctx)
}

// newReconciler drives one plugin, for the pods that are given.
func newReconciler(t *testing.T, plugin framework.Plugin, pods ...client.Object) (*Reconciler, *events.FakeRecorder) {
	t.Helper()
	registry, err := framework.NewRegistry(plugin)
	if err != nil {
		t.Fatal(err)
	}
	recorder := events.NewFakeRecorder(10)
	return New(fake.NewClientBuilder().WithObjects(pods...).Build(), registry, recorder, Options{Workers: 1}), recorder
}

func testPod() (*corev1.Pod, reconcile.Request) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: "a-0", UID: "1", Annotations: map[string]string{gamev1alpha1.GameServerNetworkType: "Test"},
	}}
	return pod, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(pod)}
}

func TestProcessThatStopsBlamesNobody(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	pod, request := testPod()
	r, recorder := newReconciler(t, asker{answer: func(ctx context.Context) (framework.Result, error) {
		cancel()
		return framework.Result{}, ctx.Err()
	}}, pod)
	if _, err := r.Reconcile(ctx, request); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the process", err)
	}
	if len(recorder.Events) != 0 {
		t.Errorf("told %s", <-recorder.Events)
	}
}

func TestPluginThatWaitsIsAskedMoreAndMoreSlowlyUntilItAnswers(t *testing.T) {
	t.Parallel()
	answer := framework.Retryf("not yet")
	pod, request := testPod()
	r, recorder := newReconciler(t, asker{answer: func(context.Context) (framework.Result, error) { return framework.Result{}, answer }}, pod)
	var pauses []time.Duration
	for range 8 {
		result, err := r.Reconcile(t.Context(), request)
		if err != nil {
			t.Fatalf("an expected wait is an error: %v", err)
		}
		pauses = append(pauses, result.RequeueAfter)
	}
	if pauses[0] != firstWait || pauses[1] != 2*firstWait || pauses[7] != lastWait {
		t.Errorf("pauses %v, want to begin with %s, to double, and to stay at %s", pauses, firstWait, lastWait)
	}
	if len(recorder.Events) != 1 {
		t.Errorf("%d events, want one", len(recorder.Events))
	}
	answer = nil
	if result, err := r.Reconcile(t.Context(), request); result.RequeueAfter != 0 || err != nil {
		t.Errorf("after an answer: %v, %v; want to wait for events", result, err)
	}
	answer = framework.Retryf("not again")
	if result, _ := r.Reconcile(t.Context(), request); result.RequeueAfter != firstWait {
		t.Errorf("the next wait begins with %s, want %s", result.RequeueAfter, firstWait)
	}
}

func TestPodThatIsGoneOrHasNoNetworkIsForgotten(t *testing.T) {
	t.Parallel()
	pod, request := testPod()
	r, _ := newReconciler(t, asker{answer: func(context.Context) (framework.Result, error) {
		return framework.Result{}, framework.Retryf("not yet")
	}}, pod)
	leave := map[string]func() error{
		"it is gone": func() error { return r.client.Delete(t.Context(), pod) },
		"it has no network": func() error {
			return r.client.Patch(t.Context(), pod, client.RawPatch(client.Merge.Type(), []byte(`{"metadata":{"annotations":null}}`)))
		},
	}
	for _, how := range []string{"it has no network", "it is gone"} {
		r.memory.writes(pod, readyText)
		r.waits.When(request)
		if err := leave[how](); err != nil {
			t.Fatal(err)
		}
		if result, err := r.Reconcile(t.Context(), request); result != (reconcile.Result{}) || err != nil {
			t.Errorf("%s: %v, %v; want nothing", how, result, err)
		}
		if len(r.memory.pods) != 0 || r.waits.NumRequeues(request) != 0 {
			t.Errorf("%s: it is remembered", how)
		}
	}
}
