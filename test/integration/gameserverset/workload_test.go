// SPDX-License-Identifier: Apache-2.0

package gameserverset

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	appspub "github.com/openkruise/kruise-api/apps/pub"
	kruisev1alpha1 "github.com/openkruise/kruise-api/apps/v1alpha1"
	kruisev1beta1 "github.com/openkruise/kruise-api/apps/v1beta1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/controllers/gameserverset"
	"github.com/berthgames/berth/test/build"
)

// denied is how a webhook of OpenKruise refuses.
func denied(message string) error {
	err := &apierrors.StatusError{}
	err.ErrStatus.Status, err.ErrStatus.Code = metav1.StatusFailure, http.StatusBadRequest
	err.ErrStatus.Message = "admission webhook denied the request: " + message
	return err
}

// B11 and rule 3 of core.md: a set at rest is left alone, whatever wakes the controller.
func TestAtRestNothingIsWritten(t *testing.T) {
	w := newWorld(t)
	w.create(w.arena().Replicas(5).Reserve("1").ReclaimDelete().Quality("healthy", "ls").Network("Kubernetes-HostPort", "ContainerPorts", "game:80").Obj())
	w.wantServers("0,2-5")
	for _, id := range []int{0, 2, 3, 4, 5} {
		w.gameServer(id, nil)
	}
	w.eventually("all ready", func(context.Context) error {
		if got := w.set().Status.ReadyReplicas; got != 5 {
			return fmt.Errorf("%d", got)
		}
		return nil
	})
	before := w.settle()
	for range 5 {
		if _, err := w.reconcileNow(suite.reconciler()); err != nil {
			t.Fatal(err)
		}
	}
	edit(w, w.pod(2), func(p *corev1.Pod) { p.Labels["unrelated"] = "x" })
	w.editGameServer(3, func(gs *gamev1alpha1.GameServer) { gs.Spec.OpsState = gamev1alpha1.Allocated })
	edit(w, w.set(), func(s *gamev1alpha1.GameServerSet) { s.Labels = map[string]string{"unrelated": "x"} })
	if after := w.settle(); after != before {
		t.Errorf("%d writes at rest: %v", after-before, w.writes.all()[before:])
	}
	// From nothing to rest: the marker, the workload, the annotation, and a status per half second.
	if before > 12 {
		t.Errorf("%d writes for one set: %v", before, w.writes.all())
	}
}

// S-3: upstream's hash leaves these out, so that edits do nothing.
func TestS3EveryEditReachesTheWorkload(t *testing.T) {
	w := newWorld(t)
	w.create(w.arena().Replicas(1).Obj())
	w.wantServers("0")
	w.editSet(func(s *gamev1alpha1.GameServerSet) {
		s.Spec.Lifecycle = &appspub.Lifecycle{PreDelete: &appspub.LifecycleHook{LabelsHandler: map[string]string{"a": "b"}}}
	})
	w.wantWorkloadAs("lifecycle", func(s *kruisev1beta1.StatefulSetSpec) bool {
		return s.Lifecycle != nil && s.Lifecycle.PreDelete.LabelsHandler["a"] == "b"
	})
	w.editSet(func(s *gamev1alpha1.GameServerSet) {
		s.Spec.ScaleStrategy.MaxUnavailable = ptr.To(intstr.FromString("30%"))
	})
	w.wantWorkloadAs("scaleStrategy", func(s *kruisev1beta1.StatefulSetSpec) bool {
		return s.ScaleStrategy.MaxUnavailable != nil && s.ScaleStrategy.MaxUnavailable.StrVal == "30%"
	})
	w.editSet(func(s *gamev1alpha1.GameServerSet) {
		s.Spec.PersistentVolumeClaimRetentionPolicy = &kruisev1beta1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenDeleted: "Delete", WhenScaled: "Delete"}
	})
	w.wantWorkloadAs("claim policy", func(s *kruisev1beta1.StatefulSetSpec) bool {
		return s.PersistentVolumeClaimRetentionPolicy != nil && s.PersistentVolumeClaimRetentionPolicy.WhenScaled == "Delete"
	})
	w.editSet(func(s *gamev1alpha1.GameServerSet) {
		s.Spec.Lifecycle, s.Spec.ScaleStrategy.MaxUnavailable, s.Spec.PersistentVolumeClaimRetentionPolicy = nil, nil, nil
		s.Spec.GameServerTemplate.Spec.Containers[0].Image = "game:v2"
	})
	w.wantWorkloadAs("all of it gone, and a new image", func(s *kruisev1beta1.StatefulSetSpec) bool {
		return s.Lifecycle == nil && s.ScaleStrategy.MaxUnavailable == nil && s.PersistentVolumeClaimRetentionPolicy == nil &&
			s.Template.Spec.Containers[0].Image == "game:v2"
	})
	w.wantEvents(gameserverset.ReasonUpdateWorkload, 4)
}

func (w *world) wantWorkloadAs(what string, is func(*kruisev1beta1.StatefulSetSpec) bool) {
	w.Helper()
	w.eventually("a workload with "+what, func(context.Context) error {
		if spec := &w.workload().Spec; !is(spec) {
			return fmt.Errorf("it is %+v", spec)
		}
		return nil
	})
}

// Scenario "order of update" of 7.3, and A-5: without a rollingUpdate block priorities still count.
func TestA5UpdateFollowsPriority(t *testing.T) {
	w := newWorld(t)
	w.create(w.arena().Replicas(3).Obj())
	w.wantServers("0-2")
	suite.kruise.Hold(w.namespace)
	// The GameServer controller puts the priority of the GameServer on the pod.
	edit(w, w.pod(0), func(p *corev1.Pod) { p.Labels[gamev1alpha1.GameServerUpdatePriorityKey] = "10" })
	uids := []string{string(w.pod(0).UID), string(w.pod(1).UID), string(w.pod(2).UID)}
	w.editSet(func(s *gamev1alpha1.GameServerSet) { s.Spec.GameServerTemplate.Spec.Containers[0].Image = "game:v2" })
	w.wantWorkloadAs("the new image", func(s *kruisev1beta1.StatefulSetSpec) bool { return s.Template.Spec.Containers[0].Image == "game:v2" })
	if got := w.workload().Spec.UpdateStrategy.RollingUpdate.UnorderedUpdate.PriorityStrategy.OrderPriority[0].OrderedKey; got != gamev1alpha1.GameServerUpdatePriorityKey {
		t.Errorf("the order key is %q", got)
	}
	suite.kruise.Release(w.namespace)
	w.eventually("server 0 to be replaced first", func(ctx context.Context) error {
		replaced := make([]bool, 3)
		for id := range replaced {
			var pod corev1.Pod
			err := suite.client.Get(ctx, keyOf(w, id), &pod)
			replaced[id] = err != nil || string(pod.UID) != uids[id]
		}
		if !replaced[0] && (replaced[1] || replaced[2]) {
			t.Fatalf("another one went first: %v", replaced)
		}
		if !replaced[0] || !replaced[1] || !replaced[2] {
			return fmt.Errorf("replaced: %v", replaced)
		}
		return nil
	})
	w.eventually("all updated", func(context.Context) error {
		if got := w.set().Status.UpdatedReadyReplicas; got != 3 {
			return fmt.Errorf("updatedReadyReplicas %d", got)
		}
		return nil
	})
}

// S-4: an empty list is no list; removing the qualities removes the marker, and nothing waits for that.
func TestS4NoQualitiesNoProbes(t *testing.T) {
	w := newWorld(t)
	set := w.arena().Replicas(1).Obj()
	set.Spec.ServiceQualities = []gamev1alpha1.ServiceQuality{}
	w.create(set)
	w.wantServers("0")
	if w.probes() != nil {
		t.Error("an empty list has probes")
	}
	w.editSet(func(s *gamev1alpha1.GameServerSet) {
		s.Spec.ServiceQualities = w.arena().Quality("healthy", "ls").Obj().Spec.ServiceQualities
	})
	w.wantCondition(gamev1alpha1.ProbesReadyCondition, metav1.ConditionTrue, gameserverset.ReasonAsWanted)
	w.wantEvents(gameserverset.ReasonCreateProbes, 1)
	w.editSet(func(s *gamev1alpha1.GameServerSet) { s.Spec.ServiceQualities[0].Exec.Command = []string{"true"} })
	w.wantEvents(gameserverset.ReasonUpdateProbes, 1)
	w.eventually("B15: the new command", func(context.Context) error {
		if got := w.probes().Spec.Probes[0].Probe.Exec.Command[0]; got != "true" {
			return fmt.Errorf("it is %s", got)
		}
		return nil
	})

	// OpenKruise keeps a finalizer on it, and is down.
	edit(w, w.probes(), func(m *kruisev1alpha1.PodProbeMarker) { m.Finalizers = []string{"test/kruise"} })
	w.editSet(func(s *gamev1alpha1.GameServerSet) { s.Spec.ServiceQualities, s.Spec.Replicas = nil, ptr.To[int32](2) })
	w.wantServers("0,1")
	w.eventually("the marker to be deleted", func(context.Context) error {
		if w.probes().DeletionTimestamp == nil {
			return fmt.Errorf("not yet")
		}
		return nil
	})
	edit(w, w.probes(), func(m *kruisev1alpha1.PodProbeMarker) { m.Finalizers = nil })
	w.wantCondition(gamev1alpha1.ProbesReadyCondition, metav1.ConditionTrue, gameserverset.ReasonNoProbes)
}

// S-5: trouble with the probes is told with OpenKruise's words, and stops neither scaling nor the status.
func TestS5RefusedProbesStopNothing(t *testing.T) {
	w := newWorld(t)
	w.create(w.arena().Replicas(1).Obj())
	w.wantServers("0")
	w.writes.onWrite(func(wr write) error {
		if wr.kind == "PodProbeMarker" {
			return denied("current no support http probe")
		}
		return nil
	})
	w.editSet(func(s *gamev1alpha1.GameServerSet) {
		s.Spec.ServiceQualities = w.arena().Quality("healthy", "ls").Obj().Spec.ServiceQualities
		s.Spec.Replicas = ptr.To[int32](3)
	})
	w.wantServers("0-2")
	message := w.wantCondition(gamev1alpha1.ProbesReadyCondition, metav1.ConditionFalse, gameserverset.ReasonRefused)
	if !strings.Contains(message, "current no support http probe") {
		t.Errorf("message %q", message)
	}
	w.settle()
	w.wantEvents(gameserverset.ReasonRefused, 1)
	w.writes.onWrite(nil)
	// Tried again by itself, with back-off.
	w.wantCondition(gamev1alpha1.ProbesReadyCondition, metav1.ConditionTrue, gameserverset.ReasonAsWanted)
}

// S-5: only the first creation of the workload waits, and not for ever.
func TestS5FirstCreationWaitsForProbes(t *testing.T) {
	w := newWorld(t)
	suite.kruise.Hold(w.namespace)
	w.create(w.arena().Replicas(1).Quality("healthy", "ls").Obj())
	w.wantCondition(gamev1alpha1.WorkloadReadyCondition, metav1.ConditionFalse, gameserverset.ReasonWaitingForProbes)
	w.settle()
	var workload kruisev1beta1.StatefulSet
	if err := suite.client.Get(t.Context(), w.key, &workload); !apierrors.IsNotFound(err) {
		t.Fatalf("the workload came before the probes were seen: %v", err)
	}
	// Nothing happens for half a minute.
	later := gameserverset.New(gameserverset.Options{Client: suite.spy, Live: suite.spy.live, Clock: lateClock{by: 31 * time.Second}, Events: suite.events})
	if _, err := w.reconcileNow(later); err != nil {
		t.Fatal(err)
	}
	w.wantWorkload(1, "")
	suite.kruise.Release(w.namespace)
	w.wantServers("0")
}

// S-6: what belongs to somebody else is neither taken over nor written.
func TestS6NamesOfOthers(t *testing.T) {
	w := newWorld(t)
	foreign := &kruisev1beta1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "arena"}}
	foreign.Spec.Replicas = ptr.To[int32](0)
	foreign.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "other"}}
	foreign.Spec.Template.Labels = map[string]string{"app": "other"}
	w.create(foreign)
	marker := &kruisev1alpha1.PodProbeMarker{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "arena"}}
	marker.Spec.Selector = foreign.Spec.Selector
	marker.Spec.Probes = []kruisev1alpha1.PodContainerProbe{}
	w.create(marker)

	w.create(w.arena().Replicas(2).Quality("healthy", "ls").Obj())
	w.wantCondition(gamev1alpha1.WorkloadReadyCondition, metav1.ConditionFalse, gameserverset.ReasonNameConflict)
	w.wantCondition(gamev1alpha1.ProbesReadyCondition, metav1.ConditionFalse, gameserverset.ReasonNameConflict)
	w.settle()
	w.wantEvents(gameserverset.ReasonNameConflict, 2)
	for _, wr := range w.writes.all() {
		if wr.kind != "GameServerSet" {
			t.Errorf("written: %s", wr)
		}
	}
	// The names become free.
	if err := suite.client.Delete(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	if err := suite.client.Delete(t.Context(), marker); err != nil {
		t.Fatal(err)
	}
	w.wantServers("0,1")
	w.wantCondition(gamev1alpha1.WorkloadReadyCondition, metav1.ConditionTrue, gameserverset.ReasonAsWanted)
}

// S-12: somebody writes the workload at the same moment; nothing of it is lost and nothing old is sent again.
func TestS12WorkloadUpdateIsBasedOnWhatIsThere(t *testing.T) {
	w := newWorld(t)
	w.create(w.arena().Replicas(1).Obj())
	w.wantServers("0")
	w.settle()
	attempts := 0
	w.writes.onWrite(func(wr write) error {
		if wr.verb != "patch" || wr.kind != "StatefulSet" {
			return nil
		}
		if attempts++; attempts == 1 {
			edit(w, w.workload(), func(s *kruisev1beta1.StatefulSet) { s.Spec.RevisionHistoryLimit = ptr.To[int32](3) })
		}
		return nil
	})
	w.editSet(func(s *gamev1alpha1.GameServerSet) { s.Spec.GameServerTemplate.Spec.Containers[0].Image = "game:v2" })
	w.wantWorkloadAs("both changes", func(s *kruisev1beta1.StatefulSetSpec) bool {
		return s.Template.Spec.Containers[0].Image == "game:v2" && s.RevisionHistoryLimit != nil && *s.RevisionHistoryLimit == 3
	})
	if attempts < 2 {
		t.Error("what was planned on an older workload was written")
	}
}

// A template that OpenKruise refuses keeps nobody from scaling, and a hook that came with it holds.
func TestRefusedUpdateDoesNotStopScaling(t *testing.T) {
	w := newWorld(t)
	w.create(w.arena().Replicas(3).TemplateLabel("hold", "true").Obj())
	w.wantServers("0-2")
	w.settle()
	w.writes.onWrite(func(wr write) error {
		workload, ok := wr.obj.(*kruisev1beta1.StatefulSet)
		if ok && wr.verb == "patch" && workload.Spec.Template.Spec.Containers[0].Image == "refused" {
			return denied("no such template")
		}
		return nil
	})
	w.editSet(func(s *gamev1alpha1.GameServerSet) {
		s.Spec.Replicas = ptr.To[int32](2)
		s.Spec.GameServerTemplate.Spec.Containers[0].Image = "refused"
		s.Spec.Lifecycle = w.arena().PreDeleteHook("hold", "true").Obj().Spec.Lifecycle
	})
	w.wantWorkload(2, "2")
	w.eventually("server 2 to be held by the new hook", func(context.Context) error {
		if w.pod(2).Labels[gamev1alpha1.LifecycleStateKey] != "PreparingDelete" {
			return fmt.Errorf("labels %v", w.pod(2).Labels)
		}
		return nil
	})
	w.wantCondition(gamev1alpha1.WorkloadReadyCondition, metav1.ConditionFalse, gameserverset.ReasonRefused)
	w.editSet(func(s *gamev1alpha1.GameServerSet) { s.Spec.GameServerTemplate.Spec.Containers[0].Image = "game:v2" })
	w.wantCondition(gamev1alpha1.WorkloadReadyCondition, metav1.ConditionTrue, gameserverset.ReasonAsWanted)
}

// Rule 9 of core.md: a workload that upstream made is adopted; the one write that follows changes only the hash.
func TestTakeOver(t *testing.T) {
	w := newWorld(t)
	w.create(w.arena().Replicas(2).Reserve("1").Network("Kubernetes-HostPort", "ContainerPorts", "game:80").Obj())
	w.wantServers("0,2")
	w.settle()
	before := w.workload()
	uids := []string{string(w.pod(0).UID), string(w.pod(2).UID)}
	edit(w, w.workload(), func(s *kruisev1beta1.StatefulSet) { s.Annotations[gamev1alpha1.AstsHashKey] = "5d8f7c9b4" })
	w.eventually("our hash", func(context.Context) error {
		if got := w.workload().Annotations[gamev1alpha1.AstsHashKey]; got != before.Annotations[gamev1alpha1.AstsHashKey] {
			return fmt.Errorf("it is %s", got)
		}
		return nil
	})
	w.settle()
	if after := w.workload(); after.Generation != before.Generation {
		t.Errorf("the spec changed: generation %d, then %d", before.Generation, after.Generation)
	}
	if now := []string{string(w.pod(0).UID), string(w.pod(2).UID)}; now[0] != uids[0] || now[1] != uids[1] {
		t.Errorf("pods were replaced: %v, then %v", uids, now)
	}
}

// The workload was deleted without its pods; the new one keeps exactly those.
func TestOrphansAreKept(t *testing.T) {
	w := newWorld(t)
	w.create(w.arena().Replicas(4).Obj())
	w.wantServers("0-3")
	w.gameServer(1, opsState(gamev1alpha1.WaitToDelete))
	w.scale(3)
	w.wantServers("0,2,3")
	suite.kruise.Hold(w.namespace)
	for _, id := range []int{0, 2, 3} {
		edit(w, w.pod(id), func(p *corev1.Pod) { p.OwnerReferences = nil })
	}
	if err := suite.client.Delete(t.Context(), w.workload()); err != nil {
		t.Fatal(err)
	}
	w.wantWorkload(3, "1")
	suite.kruise.Release(w.namespace)
	w.settle()
	w.wantServers("0,2,3")
}

// The workload was deleted without its pods, and the cache has not seen all of them go free: what the new workload keeps
// is decided by the API server.
func TestOrphansAreKeptWhenTheCacheIsLate(t *testing.T) {
	w := newWorld(t)
	w.create(w.arena().Replicas(4).Obj())
	w.wantServers("0-3")
	w.gameServer(1, opsState(gamev1alpha1.WaitToDelete))
	w.scale(3)
	w.wantServers("0,2,3")
	w.settle()
	suite.kruise.Hold(w.namespace)
	late := latePods{suite.spy.Client, []corev1.Pod{*w.pod(0), *w.pod(2), *w.pod(3)}}
	late.pods[0].OwnerReferences = nil
	// Only the controller that is late gets to create.
	w.writes.onWrite(func(wr write) error {
		if wr.kind == "StatefulSet" {
			return apierrors.NewConflict(gamev1alpha1.Resource("x"), "arena", fmt.Errorf("not yours"))
		}
		return nil
	})
	if err := suite.client.Delete(t.Context(), w.workload()); err != nil {
		t.Fatal(err)
	}
	r := gameserverset.New(gameserverset.Options{Client: late, Live: suite.spy.live, Clock: suite.clock, Events: suite.events})
	for _, id := range []int{0, 2, 3} {
		w.eventually("a pass that waits for its pods", func(context.Context) error {
			result, err := w.reconcileNow(r)
			if err == nil && result.RequeueAfter == 0 {
				err = fmt.Errorf("the pass has nothing to come back for")
			}
			return err
		})
		w.wantCondition(gamev1alpha1.WorkloadReadyCondition, metav1.ConditionFalse, gameserverset.ReasonEarlierPods)
		var workload kruisev1beta1.StatefulSet
		if err := suite.client.Get(t.Context(), w.key, &workload); !apierrors.IsNotFound(err) {
			t.Fatalf("the workload came before pod %d was free, without %v: %v", id, workload.Spec.ReserveOrdinals, err)
		}
		edit(w, w.pod(id), func(p *corev1.Pod) { p.OwnerReferences = nil })
	}
	w.eventually("the workload", func(ctx context.Context) error {
		if _, err := w.reconcileNow(r); err != nil {
			return err
		}
		return suite.client.Get(ctx, w.key, &kruisev1beta1.StatefulSet{})
	})
	w.wantWorkload(3, "1")
	w.writes.onWrite(nil)
	suite.kruise.Release(w.namespace)
	w.settle()
	w.wantServers("0,2,3")
}

// latePods is a cache that has fallen behind with pods.
type latePods struct {
	client.Client
	pods []corev1.Pod
}

func (c latePods) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if pods, ok := list.(*corev1.PodList); ok {
		pods.Items = c.pods
		return nil
	}
	return c.Client.List(ctx, list, opts...)
}

// A-10 and S-13: the status, from nothing to servers and back to none.
func TestStatus(t *testing.T) {
	w := newWorld(t)
	w.create(w.arena().Replicas(2).Obj())
	w.wantServers("0,1")
	edit(w, w.pod(0), func(p *corev1.Pod) { p.Labels[gamev1alpha1.GameServerOpsStateKey] = "Maintaining" })
	edit(w, w.pod(1), func(p *corev1.Pod) { p.Labels[gamev1alpha1.GameServerOpsStateKey] = "WaitToBeDeleted" })
	w.wantStatus("2 2 2 2 2 2 1 1 0 game.kruise.io/owner-gss=arena")
	w.scale(0)
	w.wantStatus("0 0 0 0 0 0 0 0 0 game.kruise.io/owner-gss=arena")
	for _, condition := range w.set().Status.Conditions {
		if condition.Status != metav1.ConditionTrue {
			t.Errorf("condition %+v", condition)
		}
	}
}

// wantStatus waits for replicas, ready, available, current, updated, updatedReady, maintaining, waitToBeDeleted,
// preDelete and the selector.
func (w *world) wantStatus(want string) {
	w.Helper()
	w.eventually("status "+want, func(context.Context) error {
		s := w.set().Status
		have := fmt.Sprint(s.Replicas, s.ReadyReplicas, s.AvailableReplicas, s.CurrentReplicas, s.UpdatedReplicas, s.UpdatedReadyReplicas,
			ptr.Deref(s.MaintainingReplicas, -1), ptr.Deref(s.WaitToBeDeletedReplicas, -1), ptr.Deref(s.PreDeleteReplicas, -1), " ", s.LabelSelector)
		if have != want {
			return fmt.Errorf("it is %s", have)
		}
		return nil
	})
}

// A set that is being deleted gets nothing new, or it could never go.
func TestDeletedSetIsLeftAlone(t *testing.T) {
	w := newWorld(t)
	set := w.arena().Replicas(1).Obj()
	set.Finalizers = []string{"test/hold"}
	w.create(set)
	w.wantServers("0")
	before := w.settle()
	if err := suite.client.Delete(t.Context(), w.set()); err != nil {
		t.Fatal(err)
	}
	if err := suite.client.Delete(t.Context(), w.workload()); err != nil {
		t.Fatal(err)
	}
	if after := w.settle(); after != before {
		t.Errorf("written: %v", w.writes.all()[before:])
	}
	edit(w, w.set(), func(s *gamev1alpha1.GameServerSet) { s.Finalizers = nil })
}

// A02: a set of the same name comes back before what belonged to the first is gone.
func TestA02RecreatedSetWaitsForTheFirstToGo(t *testing.T) {
	w := newWorld(t)
	w.create(w.arena().Replicas(1).Quality("healthy", "ls").Obj())
	w.wantServers("0")
	if err := suite.client.Delete(t.Context(), w.set()); err != nil {
		t.Fatal(err)
	}
	w.create(w.arena().Replicas(2).Quality("healthy", "ls").Obj())
	w.wantCondition(gamev1alpha1.WorkloadReadyCondition, metav1.ConditionFalse, gameserverset.ReasonEarlierSet)
	w.wantCondition(gamev1alpha1.ProbesReadyCondition, metav1.ConditionFalse, gameserverset.ReasonEarlierSet)
	// The simulator must not bring back the pod of a workload that it listed before that was deleted.
	suite.kruise.Hold(w.namespace)
	w.settle()
	w.wantEvents(gameserverset.ReasonNameConflict, 0)
	// There is no garbage collector here.
	if err := suite.client.Delete(t.Context(), w.probes()); err != nil {
		t.Fatal(err)
	}
	if err := suite.client.Delete(t.Context(), w.workload()); err != nil {
		t.Fatal(err)
	}
	w.deletePod(0)
	suite.kruise.Release(w.namespace)
	w.wantServers("0,1")
	if err := w.ownedBySet(); err != nil {
		t.Error(err)
	}
}

func (w *world) ownedBySet() error {
	if set := w.set(); !metav1.IsControlledBy(w.workload(), set) {
		return fmt.Errorf("the workload belongs to %v", w.workload().OwnerReferences)
	}
	return nil
}

// Large ranges cost nothing and are not told to OpenKruise, which would count them out.
func TestHugeReserve(t *testing.T) {
	w := newWorld(t)
	w.create(w.arena().Replicas(2).Reserve("10-2000000000").Obj())
	w.wantServers("0,1")
	w.wantWorkload(2, "10-65537")
	if got := w.set().Annotations[gamev1alpha1.GameServerSetReserveIdsKey]; got != "10-2000000000" {
		t.Errorf("annotation %q", got)
	}
	w.editSet(func(s *gamev1alpha1.GameServerSet) { s.Spec.ReserveGameServerIds = build.IDs("0") })
	w.wantServers("1,2")
}
