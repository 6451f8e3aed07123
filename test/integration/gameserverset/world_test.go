// SPDX-License-Identifier: Apache-2.0

package gameserverset

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	kruisev1alpha1 "github.com/openkruise/kruise-api/apps/v1alpha1"
	kruisev1beta1 "github.com/openkruise/kruise-api/apps/v1beta1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/internal/idset"
	"github.com/berthgames/berth/test/apiserver"
	"github.com/berthgames/berth/test/build"
	"github.com/berthgames/berth/test/expect"
)

// patience is how long a test waits for something to happen.
const patience = 20 * time.Second

// world is a namespace with one set in it, named arena.
type world struct {
	*testing.T
	namespace string
	key       client.ObjectKey
	writes    *ledger
}

func newWorld(t *testing.T) *world {
	t.Helper()
	if suite == nil {
		t.Skip(apiserver.SkipReason)
	}
	t.Parallel()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := suite.client.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, namespace: namespace.Name, key: client.ObjectKey{Namespace: namespace.Name, Name: "arena"},
		writes: suite.spy.ledger(namespace.Name)}
	t.Cleanup(w.cleanUp)
	return w
}

// cleanUp keeps the controller and the simulator from working on for sets of tests that are over.
func (w *world) cleanUp() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	w.writes.onWrite(nil)
	in := client.InNamespace(w.namespace)
	for _, kind := range []client.Object{&gamev1alpha1.GameServerSet{}, &kruisev1beta1.StatefulSet{}, &corev1.Pod{}} {
		if err := suite.client.DeleteAllOf(ctx, kind, in); err != nil {
			w.Errorf("cleaning up: %v", err)
		}
	}
}

// arena starts a builder in the namespace.
func (w *world) arena() *build.GameServerSetBuilder {
	return build.GameServerSet("arena").InNamespace(w.namespace)
}

func (w *world) create(obj client.Object) {
	w.Helper()
	if err := suite.client.Create(w.Context(), obj); err != nil {
		w.Fatalf("creating %T: %v", obj, err)
	}
}

// get reads an object of the name of the set.
func get[T client.Object](w *world, into T) T {
	w.Helper()
	if err := suite.client.Get(w.Context(), w.key, into); err != nil {
		w.Fatalf("reading %T: %v", into, err)
	}
	return into
}

func (w *world) set() *gamev1alpha1.GameServerSet { return get(w, &gamev1alpha1.GameServerSet{}) }
func (w *world) workload() *kruisev1beta1.StatefulSet {
	return get(w, &kruisev1beta1.StatefulSet{})
}

// edit changes an object as a user would, with a patch.
func edit[T client.Object](w *world, obj T, change func(T)) {
	w.Helper()
	before, ok := obj.DeepCopyObject().(T)
	if !ok {
		w.Fatalf("copying %T", obj)
	}
	change(obj)
	if err := suite.client.Patch(w.Context(), obj, client.MergeFrom(before)); err != nil {
		w.Fatalf("changing %T %s: %v", obj, obj.GetName(), err)
	}
}

func (w *world) editSet(change func(*gamev1alpha1.GameServerSet)) {
	w.Helper()
	edit(w, w.set(), change)
}

func (w *world) scale(replicas int32) {
	w.Helper()
	w.editSet(func(s *gamev1alpha1.GameServerSet) { s.Spec.Replicas = &replicas })
}

func (w *world) eventually(what string, check func(ctx context.Context) error) {
	w.Helper()
	if err := expect.Eventually(w.Context(), patience, what, check); err != nil {
		w.Fatalf("%v\nevents: %s\nwrites: %v", err, strings.Join(suite.events.of(w.namespace), "\n        "), w.writes.all())
	}
}

// wantServers waits until the set has pods of exactly these ids, and the controller has seen it all.
func (w *world) wantServers(ids string) {
	w.Helper()
	w.eventually("servers "+ids, func(ctx context.Context) error {
		var pods corev1.PodList
		if err := suite.client.List(ctx, &pods, client.InNamespace(w.namespace)); err != nil {
			return err
		}
		var have idset.Set
		for i := range pods.Items {
			have = have.Union(idset.Of(int32(expect.Ordinal(pods.Items[i].Name))))
		}
		if want, err := idset.Parse(ids); err != nil || !have.Equal(want) {
			return fmt.Errorf("the set has servers %s", have)
		}
		set := w.set()
		if set.Status.ObservedGeneration != set.Generation || int64(set.Status.CurrentReplicas) != have.Len() {
			return fmt.Errorf("generation %d, status %+v", set.Generation, set.Status)
		}
		return nil
	})
}

// wantWorkload waits until the workload has these replicas and reserve ids.
func (w *world) wantWorkload(replicas int32, reserve string) {
	w.Helper()
	w.eventually(fmt.Sprintf("a workload of %d without %q", replicas, reserve), func(ctx context.Context) error {
		var workload kruisev1beta1.StatefulSet
		if err := suite.client.Get(ctx, w.key, &workload); err != nil {
			return err
		}
		have, err := idset.FromList(workload.Spec.ReserveOrdinals)
		if err != nil || have.String() != reserve || *workload.Spec.Replicas != replicas {
			return fmt.Errorf("it has %d without %q", *workload.Spec.Replicas, have)
		}
		return nil
	})
}

// wantCondition waits for the reason of a condition of the set, and returns its message.
func (w *world) wantCondition(conditionType string, status metav1.ConditionStatus, reason string) (message string) {
	w.Helper()
	w.eventually(fmt.Sprintf("condition %s=%s, %s", conditionType, status, reason), func(context.Context) error {
		c := meta.FindStatusCondition(w.set().Status.Conditions, conditionType)
		if c == nil || c.Status != status || c.Reason != reason {
			return fmt.Errorf("it is %+v", c)
		}
		message = c.Message
		return nil
	})
	return message
}

// wantEvents waits until there are n events with the reason and checks that no more come in a while.
func (w *world) wantEvents(reason string, n int) []string {
	w.Helper()
	var have []string
	look := func(context.Context) error {
		have = slices.DeleteFunc(suite.events.of(w.namespace), func(e string) bool { return strings.Fields(e)[1] != reason })
		if len(have) != n {
			return fmt.Errorf("there are %d: %v", len(have), have)
		}
		return nil
	}
	w.eventually(fmt.Sprintf("%d events %s", n, reason), look)
	return have
}

// gameServer makes the GameServer of a server, as the GameServer controller would: owned by the pod or, with
// reclaim policy Delete, by the set.
func (w *world) gameServer(id int, change func(*gamev1alpha1.GameServer)) *gamev1alpha1.GameServer {
	w.Helper()
	name := "arena-" + strconv.Itoa(id)
	set := w.set()
	gs := &gamev1alpha1.GameServer{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name,
		Labels: map[string]string{gamev1alpha1.GameServerOwnerGssKey: "arena"}}}
	if set.Spec.GameServerTemplate.ReclaimPolicy == gamev1alpha1.DeleteGameServerReclaimPolicy {
		gs.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, gamev1alpha1.SchemeGroupVersion.WithKind("GameServerSet"))}
	} else {
		var pod corev1.Pod
		if err := suite.client.Get(w.Context(), client.ObjectKeyFromObject(gs), &pod); err != nil {
			w.Fatalf("the pod of GameServer %s: %v", name, err)
		}
		gs.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(&pod, corev1.SchemeGroupVersion.WithKind("Pod"))}
	}
	gs.Spec.OpsState = gamev1alpha1.None
	if change != nil {
		change(gs)
	}
	w.create(gs)
	return gs
}

func (w *world) editGameServer(id int, change func(*gamev1alpha1.GameServer)) {
	w.Helper()
	gs := &gamev1alpha1.GameServer{}
	if err := suite.client.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: "arena-" + strconv.Itoa(id)}, gs); err != nil {
		w.Fatal(err)
	}
	edit(w, gs, change)
}

func opsState(state gamev1alpha1.OpsState) func(*gamev1alpha1.GameServer) {
	return func(gs *gamev1alpha1.GameServer) { gs.Spec.OpsState = state }
}

func (w *world) pod(id int) *corev1.Pod {
	w.Helper()
	pod := &corev1.Pod{}
	if err := suite.client.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: "arena-" + strconv.Itoa(id)}, pod); err != nil {
		w.Fatal(err)
	}
	return pod
}

func (w *world) deletePod(id int) {
	w.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "arena-" + strconv.Itoa(id)}}
	if err := suite.client.Delete(w.Context(), pod, client.GracePeriodSeconds(0)); err != nil {
		w.Fatal(err)
	}
}

// probes returns the PodProbeMarker, nil when there is none.
func (w *world) probes() *kruisev1alpha1.PodProbeMarker {
	w.Helper()
	marker := &kruisev1alpha1.PodProbeMarker{}
	if err := suite.client.Get(w.Context(), w.key, marker); err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		w.Fatal(err)
	}
	return marker
}

// settle waits until the controller has had nothing to write for a second, and returns how much it has written.
func (w *world) settle() int {
	w.Helper()
	const quiet = time.Second
	count, since := len(w.writes.all()), time.Now()
	w.eventually("the controller to come to rest", func(context.Context) error {
		if now := len(w.writes.all()); now != count {
			count, since = now, time.Now()
		}
		if time.Since(since) < quiet {
			return fmt.Errorf("%d writes, the last one %s ago", count, time.Since(since))
		}
		return nil
	})
	return count
}

// reconcileNow runs one pass in the test, with a reconciler that may read something else.
func (w *world) reconcileNow(r reconcile.Reconciler) (reconcile.Result, error) {
	w.Helper()
	return r.Reconcile(w.Context(), reconcile.Request{NamespacedName: w.key})
}

func keyOf(w *world, id int) client.ObjectKey {
	return client.ObjectKey{Namespace: w.namespace, Name: "arena-" + strconv.Itoa(id)}
}
