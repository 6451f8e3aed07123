// SPDX-License-Identifier: Apache-2.0

package gameserverset

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/controllers/gameserverset"
	"github.com/berthgames/berth/internal/idset"
	"github.com/berthgames/berth/test/build"
)

// Scenario "scale" of core-webhook-and-scaler.md 7.1.
func TestScale(t *testing.T) {
	w := newWorld(t)
	w.create(w.arena().Replicas(3).Obj())
	w.wantServers("0-2")
	w.scale(5)
	w.wantServers("0-4")
	w.gameServer(2, opsState(gamev1alpha1.WaitToDelete))
	w.scale(4)
	w.wantServers("0,1,3,4")
	w.gameServer(3, func(gs *gamev1alpha1.GameServer) { gs.Spec.DeletionPriority = ptr.To(intstr.FromString("100")) })
	w.scale(3)
	w.wantServers("0,1,4")
	w.scale(0)
	w.wantServers("")
	w.scale(3)
	w.wantServers("0-2")
}

// Scenarios "reserve only", "reserve + replicas" (7.2) and "take one server offline" (7.3); B09.
func TestReserve(t *testing.T) {
	t.Run("from the first moment (B09)", func(t *testing.T) {
		w := newWorld(t)
		w.create(w.arena().Replicas(3).Reserve("1").Obj())
		w.wantWorkload(3, "1")
		w.wantServers("0,2,3")
		if got := w.set().Annotations[gamev1alpha1.GameServerSetReserveIdsKey]; got != "1" {
			t.Errorf("applied reserve ids %q, want 1", got)
		}
	})
	t.Run("alone, then with replicas", func(t *testing.T) {
		w := newWorld(t)
		w.create(w.arena().Replicas(5).ReclaimDelete().Obj())
		w.wantServers("0-4")
		w.editSet(func(s *gamev1alpha1.GameServerSet) { s.Spec.ReserveGameServerIds = build.IDs("3-4") })
		w.wantServers("0-2,5,6")
		w.editSet(func(s *gamev1alpha1.GameServerSet) {
			s.Spec.Replicas, s.Spec.ReserveGameServerIds = ptr.To[int32](3), build.IDs("3-6")
		})
		w.wantServers("0-2")
		w.wantWorkload(3, "3-6")
	})
	t.Run("given back starts nothing", func(t *testing.T) {
		w := newWorld(t)
		w.create(w.arena().Replicas(2).Reserve("1").Obj())
		w.wantServers("0,2")
		before := w.pod(2).UID
		w.editSet(func(s *gamev1alpha1.GameServerSet) { s.Spec.ReserveGameServerIds = nil })
		w.eventually("the annotation to be empty", func(context.Context) error {
			if text, there := w.set().Annotations[gamev1alpha1.GameServerSetReserveIdsKey]; !there || text != "" {
				return fmt.Errorf("it is %q, there: %v", text, there)
			}
			return nil
		})
		w.wantServers("0,2")
		if w.pod(2).UID != before {
			t.Error("server 2 was replaced")
		}
		if got := w.set().Spec.ReserveGameServerIds; got != nil {
			t.Errorf("strategy General wrote %v into the spec", got)
		}
	})
}

// Scenario "ReserveIds" of 7.2.
func TestReserveIDsStrategy(t *testing.T) {
	w := newWorld(t)
	w.create(w.arena().Replicas(5).ReserveIDs().Obj())
	w.wantServers("0-4")
	w.scale(3)
	w.wantServers("0-2")
	w.wantReserved("3,4")
	w.editSet(func(s *gamev1alpha1.GameServerSet) {
		s.Spec.Replicas, s.Spec.ReserveGameServerIds = ptr.To[int32](4), build.IDs("3")
	})
	w.wantServers("0-2,4")
	w.wantReserved("3")
}

// wantReserved waits for the ids in spec and annotation.
func (w *world) wantReserved(ids string) {
	w.Helper()
	w.eventually("reserve ids "+ids, func(context.Context) error {
		set := w.set()
		have, err := idset.FromList(set.Spec.ReserveGameServerIds)
		if text := set.Annotations[gamev1alpha1.GameServerSetReserveIdsKey]; err == nil && (have.String() != ids || text != ids) {
			return fmt.Errorf("spec %q, annotation %q", have, text)
		}
		return err
	})
}

// Scenario "kill" of 7.2; B04.
func TestKill(t *testing.T) {
	w := newWorld(t)
	w.create(w.arena().Replicas(4).Obj())
	w.wantServers("0-3")
	uids := map[int]string{}
	for _, id := range []int{0, 1, 3} {
		uids[id] = string(w.pod(id).UID)
	}
	w.gameServer(2, opsState(gamev1alpha1.Kill))
	w.wantServers("0,1,3")
	if got := *w.set().Spec.Replicas; got != 3 {
		t.Errorf("replicas %d, want 3", got)
	}
	for id, uid := range uids {
		if string(w.pod(id).UID) != uid {
			t.Errorf("server %d was replaced", id)
		}
	}
	if got := w.set().Spec.ReserveGameServerIds; got != nil {
		t.Errorf("the id of a killed server was reserved: %v", got)
	}
	w.wantEvents(gameserverset.ReasonKill, 1)

	// Its GameServer goes with its pod in a cluster.
	w.deleteGameServer(2)
	w.scale(4)
	w.wantServers("0-3")
}

func (w *world) deleteGameServer(id int) {
	w.Helper()
	gs := &gamev1alpha1.GameServer{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: fmt.Sprintf("arena-%d", id)}}
	if err := suite.client.Delete(w.Context(), gs); err != nil {
		w.Fatal(err)
	}
}

// G-4: the GameServer of an earlier pod, not collected yet, must not kill the new one.
func TestKillDoesNotHitTheNextServerOfTheID(t *testing.T) {
	w := newWorld(t)
	w.create(w.arena().Replicas(2).Obj())
	w.wantServers("0,1")
	w.gameServer(1, nil)
	w.deletePod(1)
	w.wantServers("0,1")
	w.editGameServer(1, opsState(gamev1alpha1.Kill))
	w.settle()
	if got := *w.set().Spec.Replicas; got != 2 {
		t.Errorf("replicas %d, want 2", got)
	}
}

// S-1: upstream writes no gaps, so that OpenKruise deletes server 4, on which somebody plays, instead of the empty seat.
func TestS1EmptySeatLeaves(t *testing.T) {
	w := newWorld(t)
	w.create(w.arena().Replicas(5).Obj())
	w.wantServers("0-4")
	w.gameServer(4, opsState(gamev1alpha1.Allocated))
	suite.kruise.Hold(w.namespace)
	w.deletePod(1)
	w.scale(4)
	w.wantWorkload(4, "1")
	suite.kruise.Release(w.namespace)
	w.wantServers("0,2-4")
}

// S-2: what the cache shows is older than what somebody wants of the server.
func TestS2ServersAreReadLiveBeforeTheyLeave(t *testing.T) {
	w := newWorld(t)
	w.create(w.arena().Replicas(3).Obj())
	w.wantServers("0-2")
	w.gameServer(2, opsState(gamev1alpha1.Maintaining))
	w.settle()

	// Only a controller that does not see GameServers yet gets to write; that of the suite sees them.
	w.writes.onWrite(func(wr write) error {
		if wr.kind == "StatefulSet" {
			return apierrors.NewConflict(gamev1alpha1.Resource("x"), "arena", fmt.Errorf("not yours"))
		}
		return nil
	})
	w.scale(2)
	blind := gameserverset.New(gameserverset.Options{Client: withoutGameServers{suite.spy.Client}, Live: suite.spy.live, Clock: suite.clock, Events: suite.events})
	w.eventually("a pass that does not see GameServers", func(context.Context) error {
		if _, err := w.reconcileNow(blind); err != nil {
			return err
		}
		if got := *w.workload().Spec.Replicas; got != 2 {
			return fmt.Errorf("the workload has %d", got)
		}
		return nil
	})
	w.wantWorkload(2, "1")
	w.wantServers("0,2")
}

// withoutGameServers is a cache into which GameServers have not come yet.
type withoutGameServers struct{ client.Client }

func (c withoutGameServers) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if _, ok := list.(*gamev1alpha1.GameServerList); ok {
		return nil
	}
	return c.Client.List(ctx, list, opts...)
}

// S-7: a stuck hook, or a missing pod, does not stop a kill.
func TestS7KillWhileAServerIsHeld(t *testing.T) {
	w := newWorld(t)
	w.create(w.arena().Replicas(4).TemplateLabel("hold", "true").PreDeleteHook("hold", "true").Obj())
	w.wantServers("0-3")
	w.scale(3)
	w.eventually("server 3 to be held", func(context.Context) error {
		if w.pod(3).Labels[gamev1alpha1.LifecycleStateKey] != "PreparingDelete" {
			return fmt.Errorf("labels %v", w.pod(3).Labels)
		}
		return nil
	})
	w.gameServer(0, opsState(gamev1alpha1.Kill))
	w.wantWorkload(2, "0,3")
	edit(w, w.pod(0), func(p *corev1.Pod) { p.Labels["hold"] = "false" })
	edit(w, w.pod(3), func(p *corev1.Pod) { p.Labels["hold"] = "false" })
	w.wantServers("1,2")
}

// Scenario "preDelete hook" of 7.3; B07: the id of a held server is not used again.
func TestHeldServerKeepsItsID(t *testing.T) {
	w := newWorld(t)
	w.create(w.arena().Replicas(2).TemplateLabel("hold", "true").PreDeleteHook("hold", "true").Obj())
	w.wantServers("0,1")
	w.scale(1)
	w.eventually("server 1 to be held", func(context.Context) error {
		if w.pod(1).Labels[gamev1alpha1.LifecycleStateKey] != "PreparingDelete" {
			return fmt.Errorf("labels %v", w.pod(1).Labels)
		}
		return nil
	})
	// The GameServer controller turns it into the state.
	edit(w, w.pod(1), func(p *corev1.Pod) { p.Labels[gamev1alpha1.GameServerStateKey] = "PreDelete" })
	w.eventually("preDeleteReplicas 1", func(context.Context) error {
		if got := w.set().Status.PreDeleteReplicas; got == nil || *got != 1 {
			return fmt.Errorf("it is %v", got)
		}
		return nil
	})
	w.scale(2)
	w.wantServers("0-2")
	w.wantWorkload(2, "1")
	edit(w, w.pod(1), func(p *corev1.Pod) { p.Labels["hold"] = "false" })
	w.wantServers("0,2")
}

// S-8: upstream writes the whole set when it kills, and an edit in between is lost.
func TestS8KillLosesNoEdit(t *testing.T) {
	w := newWorld(t)
	w.create(w.arena().Replicas(3).Obj())
	w.wantServers("0-2")
	w.settle()
	edited := false
	w.writes.onWrite(func(wr write) error {
		if wr.verb == "patch" && wr.kind == "GameServerSet" && !edited {
			edited = true
			w.editSet(func(s *gamev1alpha1.GameServerSet) {
				s.Spec.Replicas = ptr.To[int32](5)
				s.Spec.GameServerTemplate.Spec.Containers[0].Image = "game:v2"
			})
		}
		return nil
	})
	w.gameServer(1, opsState(gamev1alpha1.Kill))
	w.wantServers("0,2-4")
	if set := w.set(); *set.Spec.Replicas != 4 || set.Spec.GameServerTemplate.Spec.Containers[0].Image != "game:v2" {
		t.Errorf("replicas %d, image %s", *set.Spec.Replicas, set.Spec.GameServerTemplate.Spec.Containers[0].Image)
	}
}

// S-9: the manager stops between the write of the workload and that of the set.
func TestS9BackfillSurvivesACrash(t *testing.T) {
	w := newWorld(t)
	w.create(w.arena().Replicas(3).ReserveIDs().Obj())
	w.wantServers("0-2")
	w.settle()
	failed := false
	w.writes.onWrite(func(wr write) error {
		if wr.verb == "patch" && wr.kind == "GameServerSet" && !failed {
			failed = true
			return apierrors.NewInternalError(fmt.Errorf("crash"))
		}
		return nil
	})
	w.scale(2)
	w.wantReserved("2")
	w.wantServers("0,1")
	if !failed {
		t.Error("nothing failed")
	}
}

// S-16 and A-1: one strict reader for both.
func TestS16UnreadableAnnotationIsRebuilt(t *testing.T) {
	w := newWorld(t)
	w.create(w.arena().Replicas(2).Reserve("1").Annotation(gamev1alpha1.GameServerSetReserveIdsKey, "1,abc").Obj())
	w.wantServers("0,2")
	if events := w.wantEvents(gameserverset.ReasonReserveIDsRebuilt, 1); !strings.Contains(events[0], `"1,abc"`) {
		t.Errorf("event %q", events[0])
	}
	edit(w, w.set(), func(s *gamev1alpha1.GameServerSet) { s.Annotations[gamev1alpha1.GameServerSetReserveIdsKey] = "5-2" })
	w.wantEvents(gameserverset.ReasonReserveIDsRebuilt, 2)
	w.wantWorkload(2, "1")
	if got := w.set().Annotations[gamev1alpha1.GameServerSetReserveIdsKey]; got != "1" {
		t.Errorf("annotation %q, want 1", got)
	}
	w.settle()
	w.wantEvents(gameserverset.ReasonScale, 0)
}

func TestA1UnreadableReserveIDsStopScaling(t *testing.T) {
	w := newWorld(t)
	w.create(w.arena().Replicas(3).Reserve("1").Obj())
	w.wantServers("0,2,3")
	before := w.workload().Generation
	// Stored as such before there was a webhook to refuse it.
	w.editSet(func(s *gamev1alpha1.GameServerSet) {
		s.Spec.Replicas = ptr.To[int32](1)
		s.Spec.ReserveGameServerIds = append(build.IDs("1"), intstr.FromString("5-x"))
	})
	message := w.wantCondition(gamev1alpha1.ScaleConsistentCondition, metav1.ConditionFalse, gameserverset.ReasonInvalidReserveIDs)
	if !strings.Contains(message, `spec.reserveGameServerIds: element 1 "5-x"`) {
		t.Errorf("message %q", message)
	}
	w.settle()
	w.wantEvents(gameserverset.ReasonInvalidReserveIDs, 1)
	if now := w.workload().Generation; now != before {
		t.Errorf("the workload was written: generation %d, then %d", before, now)
	}
	if got := w.set().Status.Replicas; got != 1 {
		t.Errorf("the status stood still: replicas %d", got)
	}
	w.editSet(func(s *gamev1alpha1.GameServerSet) { s.Spec.ReserveGameServerIds = build.IDs("1") })
	w.wantServers("0")
	w.wantCondition(gamev1alpha1.ScaleConsistentCondition, metav1.ConditionTrue, gameserverset.ReasonAsWanted)
}

// S-17: upstream tells of a scaling before it has happened, and again with every attempt.
func TestS17ScaleIsToldOnceAndAfter(t *testing.T) {
	w := newWorld(t)
	w.create(w.arena().Replicas(1).Obj())
	w.wantServers("0")
	w.settle()
	attempts := 0
	w.writes.onWrite(func(wr write) error {
		if wr.verb != "patch" || wr.kind != "StatefulSet" {
			return nil
		}
		if attempts++; attempts <= 3 {
			return apierrors.NewConflict(gamev1alpha1.Resource("x"), "arena", fmt.Errorf("newer"))
		}
		for _, event := range suite.events.of(w.namespace) {
			if strings.Contains(event, gameserverset.ReasonScale) {
				t.Errorf("told before it was written: %s", event)
			}
		}
		return nil
	})
	w.scale(3)
	w.wantServers("0-2")
	w.settle()
	if events := w.wantEvents(gameserverset.ReasonScale, 1); !strings.Contains(events[0], "scale from 1 to 3") {
		t.Errorf("event %q", events[0])
	}
}

// S-19: GameServers are marked when the workload was really scaled, and marks are repaired.
func TestS19Marks(t *testing.T) {
	w := newWorld(t)
	w.create(w.arena().Replicas(3).ReclaimDelete().Obj())
	w.wantServers("0-2")
	for id := range 3 {
		w.gameServer(id, nil)
	}
	w.settle()
	w.writes.onWrite(func(wr write) error {
		if wr.verb == "patch" && wr.kind == "StatefulSet" {
			return apierrors.NewInternalError(fmt.Errorf("no"))
		}
		return nil
	})
	w.scale(2)
	w.eventually("an attempt to scale", func(context.Context) error {
		for _, wr := range w.writes.all() {
			if wr.verb == "patch" && wr.kind == "StatefulSet" {
				return nil
			}
		}
		return fmt.Errorf("none")
	})
	if mark := w.mark(2); mark == "true" {
		t.Error("marked before the workload was scaled")
	}
	w.writes.onWrite(nil)
	w.wantMarks("", "", "true")
	w.wantServers("0,1")

	w.scale(3)
	w.wantMarks("", "", "false")
	w.wantServers("0-2")

	w.editGameServer(1, func(gs *gamev1alpha1.GameServer) { gs.Labels[gamev1alpha1.GameServerDeletingKey] = "true" })
	w.wantMarks("", "false", "false")
}

func (w *world) mark(id int) string {
	w.Helper()
	gs := &gamev1alpha1.GameServer{}
	if err := suite.client.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: fmt.Sprintf("arena-%d", id)}, gs); err != nil {
		w.Fatal(err)
	}
	return gs.Labels[gamev1alpha1.GameServerDeletingKey]
}

func (w *world) wantMarks(want ...string) {
	w.Helper()
	w.eventually(fmt.Sprintf("marks %q", want), func(context.Context) error {
		for id, mark := range want {
			if have := w.mark(id); have != mark {
				return fmt.Errorf("GameServer %d has %q", id, have)
			}
		}
		return nil
	})
}

// D03, and more servers than are read one by one.
func TestD03UpDownUp(t *testing.T) {
	w := newWorld(t)
	w.create(w.arena().Replicas(30).Obj())
	w.wantServers("0-29")
	w.gameServer(7, opsState(gamev1alpha1.Allocated))
	w.gameServer(20, opsState(gamev1alpha1.Maintaining))
	w.scale(2)
	w.wantServers("7,20")
	w.scale(30)
	w.wantServers("0-29")
	w.wantWorkload(30, "")
}

// S-11: pods that only carry the label.
func TestS11StrayPods(t *testing.T) {
	w := newWorld(t)
	w.create(w.arena().Replicas(2).Obj())
	w.wantServers("0,1")
	stray := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "debug",
		Labels: map[string]string{gamev1alpha1.GameServerOwnerGssKey: "arena", gamev1alpha1.GameServerOpsStateKey: "Kill"}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	w.create(stray)
	message := w.wantCondition(gamev1alpha1.ScaleConsistentCondition, metav1.ConditionTrue, gameserverset.ReasonStrayPods)
	if !strings.Contains(message, "debug") {
		t.Errorf("message %q", message)
	}
	w.settle()
	w.wantEvents(gameserverset.ReasonStrayPods, 1)
	if set := w.set(); *set.Spec.Replicas != 2 || set.Status.CurrentReplicas != 2 {
		t.Errorf("replicas %d, current %d", *set.Spec.Replicas, set.Status.CurrentReplicas)
	}
}
