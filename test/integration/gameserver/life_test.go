// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

func ownerOf(gs *gamev1alpha1.GameServer) types.UID {
	if owner := metav1.GetControllerOf(gs); owner != nil {
		return owner.UID
	}
	return ""
}

func kill(gs *gamev1alpha1.GameServer) {
	gs.Spec.OpsState = gamev1alpha1.Kill
	gs.Spec.DeletionPriority = ptr.To(intstr.FromInt32(100))
}

func TestGameServerDeletedByHandComesBack(t *testing.T) {
	w := newWorld(t)
	pod := w.ready(0)
	w.edit(0, func(gs *gamev1alpha1.GameServer) { gs.Spec.OpsState = "Allocated" })
	first := w.gameServer(0)
	must(t, suite.client.Delete(t.Context(), first))
	w.eventuallyGS(0, "another GameServer with defaults, Ready", func(gs *gamev1alpha1.GameServer) string {
		if gs.UID == first.UID {
			return "still the first"
		}
		return cmp.Diff([]string{"None", "Ready"}, []string{string(gs.Spec.OpsState), string(gs.Status.CurrentState)})
	})
	now := &corev1.Pod{}
	must(t, suite.client.Get(t.Context(), w.name(0), now))
	if now.UID != pod.UID || now.DeletionTimestamp != nil {
		t.Error("the pod was touched")
	}
}

// There is no garbage collector here, which is the moment between the deletion of a pod and its work.
func TestG4SettingsDoNotReachTheNextPodUnderCascade(t *testing.T) {
	w := newWorld(t)
	pod := w.ready(0)
	w.edit(0, kill)
	w.eventuallyPod(0, "Kill", func(pod *corev1.Pod) string { return cmp.Diff("Kill", pod.Labels[gamev1alpha1.GameServerOpsStateKey]) })
	former := w.gameServer(0)
	w.gone(pod)
	next := w.newPod(0)
	if next.Labels[gamev1alpha1.GameServerOpsStateKey] != "None" {
		t.Errorf("the next pod is born with opsState %s", next.Labels[gamev1alpha1.GameServerOpsStateKey])
	}
	w.eventuallyGS(0, "a GameServer of its own", func(gs *gamev1alpha1.GameServer) string {
		if gs.UID == former.UID {
			return "still the former"
		}
		return cmp.Diff([]string{"None", "0", string(next.UID)}, []string{string(gs.Spec.OpsState), gs.Spec.DeletionPriority.String(), string(ownerOf(gs))})
	})
	w.settle()
	must(t, suite.client.Get(t.Context(), w.name(0), next))
	if got := next.Labels[gamev1alpha1.GameServerOpsStateKey]; got != "None" {
		t.Errorf("the next pod has opsState %s", got)
	}
}

func TestB05SettingsOutliveThePodUnderDelete(t *testing.T) {
	w := newWorld(t, keepGameServers)
	pod := w.ready(0, networked)
	w.annotate(pod, gamev1alpha1.GameServerNetworkStatus, readyReport)
	w.edit(0, func(gs *gamev1alpha1.GameServer) {
		gs.Spec.OpsState = gamev1alpha1.Maintaining
		gs.Spec.DeletionPriority = ptr.To(intstr.FromInt32(100))
	})
	w.eventuallyGS(0, "addresses", func(gs *gamev1alpha1.GameServer) string {
		return cmp.Diff([]string{"Ready", "Ready", "203.0.113.9"}, summary(gs))
	})
	first := w.gameServer(0)
	w.gone(pod)
	w.eventuallyGS(0, "F01: nothing of the former pod", func(gs *gamev1alpha1.GameServer) string {
		return cmp.Diff([]string{"Creating", "NotReady", ""}, append(summary(gs), gs.Labels[gamev1alpha1.GameServerNodeNameKey]))
	})
	next := w.ready(0, networked)
	again := w.gameServer(0)
	want := []string{string(first.UID), "Maintaining", "100", "0", string(w.set.UID)}
	got := []string{string(again.UID), string(again.Spec.OpsState), again.Spec.DeletionPriority.String(), again.Spec.UpdatePriority.String(), string(ownerOf(again))}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("GameServer (-want +got):\n%s", diff)
	}
	if got := next.Labels[gamev1alpha1.GameServerOpsStateKey]; got != "Maintaining" {
		t.Errorf("the next pod has opsState %s", got)
	}
}

func TestGameServerOfAGivenUpIDGoesWithItsPod(t *testing.T) {
	w := newWorld(t, keepGameServers)
	pod := w.ready(0)
	w.edit(0, func(gs *gamev1alpha1.GameServer) { gs.Labels[gamev1alpha1.GameServerDeletingKey] = "true" })
	w.settle()
	w.gameServer(0) // while its pod is there
	w.gone(pod)
	w.eventually("GameServer gone", func(ctx context.Context) error {
		err := suite.client.Get(ctx, w.name(0), &gamev1alpha1.GameServer{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("still there: %w", err)
	})
}

func TestG18ChangedReclaimPolicyChangesTheOwner(t *testing.T) {
	w := newWorld(t)
	pod := w.ready(0)
	if got := ownerOf(w.gameServer(0)); got != pod.UID {
		t.Fatalf("owner %s, want the pod", got)
	}
	owner := func(want types.UID) func(*gamev1alpha1.GameServer) string {
		return func(gs *gamev1alpha1.GameServer) string { return cmp.Diff(want, ownerOf(gs)) }
	}
	w.editSet(keepGameServers)
	w.eventuallyGS(0, "the set as owner", owner(w.set.UID))
	w.editSet(func(set *gamev1alpha1.GameServerSet) {
		set.Spec.GameServerTemplate.ReclaimPolicy = gamev1alpha1.CascadeGameServerReclaimPolicy
	})
	w.eventuallyGS(0, "the pod as owner", owner(pod.UID))
}

func TestB17G12TemplateMetadataFollowsWithoutTouchingThePod(t *testing.T) {
	w := newWorld(t, func(set *gamev1alpha1.GameServerSet) {
		set.Spec.GameServerTemplate.Labels = map[string]string{"region": "eu", "tier": "a"}
	})
	pod := w.ready(0)
	w.editSet(func(set *gamev1alpha1.GameServerSet) {
		set.Spec.GameServerTemplate.Labels = map[string]string{"tier": "b", "new": "1"}
	})
	w.eventuallyGS(0, "the labels of the new template", func(gs *gamev1alpha1.GameServer) string {
		return cmp.Diff([]string{"", "b", "1"}, []string{gs.Labels["region"], gs.Labels["tier"], gs.Labels["new"]})
	})
	w.settle()
	now := &corev1.Pod{}
	must(t, suite.client.Get(t.Context(), w.name(0), now))
	if now.ResourceVersion != pod.ResourceVersion {
		t.Error("the pod was written")
	}
}

func TestAPodThatAppearsBeforeItsSetGetsItsGameServer(t *testing.T) {
	w := newWorld(t)
	must(t, suite.client.Delete(t.Context(), w.set))
	pod := w.newPod(0)
	w.bind(pod, "node-"+w.namespace)
	w.settle()
	if err := suite.client.Get(t.Context(), w.name(0), &gamev1alpha1.GameServer{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Fatalf("a pod without a set has a GameServer, or %v", err)
	}
	w.set.ResourceVersion, w.set.UID = "", ""
	must(t, suite.client.Create(t.Context(), w.set))
	w.eventuallyGS(0, "a GameServer", func(gs *gamev1alpha1.GameServer) string { return cmp.Diff(pod.UID, ownerOf(gs)) })
}
