// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

// fate is what happens to the GameServer of one name in this pass.
type fate string

const (
	// leave: there is nothing to do, or an event that will come decides.
	leave fate = "leave"
	// create: the pod has no GameServer.
	create fate = "create"
	// replace: the GameServer belongs to a former pod of this name and its settings must not reach this one (fault G-4).
	replace fate = "replace"
	// keep: pod and GameServer belong together.
	keep fate = "keep"
	// await: the GameServer has outlived its pod and waits for the next one.
	await fate = "await"
	// remove: the set has given up this id.
	remove fate = "remove"
)

// fateOf decides from what exists.
//
//	pod      GameServer                      fate
//	-------  ------------------------------  -----------------------------------------------
//	none     marked gs-deleting              remove
//	none     owned by the set                await
//	none     owned by a pod                  leave to the garbage collector
//	exists   none                            create, unless pod or set are on their way out
//	exists   owned by another pod, Cascade   replace
//	exists   any other                       keep
//
// Source: core-controllers.md, "Life of the GS".
func fateOf(s seen) fate {
	switch {
	case s.gameServer == nil && s.pod == nil:
		return leave
	case s.gameServer == nil:
		// The next pod gets a new GameServer; one made now would only keep the garbage collector busy.
		if s.set == nil || s.set.DeletionTimestamp != nil || s.pod.DeletionTimestamp != nil {
			return leave
		}
		return create
	case s.gameServer.DeletionTimestamp != nil:
		return leave
	case s.pod == nil:
		return fateWithoutPod(s.gameServer)
	case ownedByFormerPod(s.gameServer, s.pod) && !survivesPods(s.set):
		if s.set == nil || s.pod.DeletionTimestamp != nil {
			return leave
		}
		return replace
	default:
		return keep
	}
}

func fateWithoutPod(gs *gamev1alpha1.GameServer) fate {
	if gs.Labels[gamev1alpha1.GameServerDeletingKey] == "true" {
		return remove
	}
	if owner := metav1.GetControllerOf(gs); owner != nil && owner.Kind == gamev1alpha1.GameServerSetKind {
		return await
	}
	return leave
}

func ownedByFormerPod(gs *gamev1alpha1.GameServer, pod *corev1.Pod) bool {
	owner := metav1.GetControllerOf(gs)
	return owner != nil && owner.Kind == podKind && owner.UID != pod.UID
}

// survivesPods says whether the set's GameServers outlive their pods. Policies other than Delete count as Cascade.
func survivesPods(set *gamev1alpha1.GameServerSet) bool {
	return set != nil && set.Spec.GameServerTemplate.ReclaimPolicy == gamev1alpha1.DeleteGameServerReclaimPolicy
}

// createLater says how long the creation of a GameServer may still wait. A pod that has just been made and is on its way
// to a node gets its GameServer together with the node's name, in one write instead of two. Zero means now.
func createLater(s seen, grace time.Duration) time.Duration {
	pod := s.pod
	if pod.Spec.NodeName != "" || pod.Status.Phase != corev1.PodPending {
		return 0
	}
	if scheduled := podCondition(pod, corev1.PodScheduled); scheduled != nil && scheduled.Status != corev1.ConditionTrue {
		return 0
	}
	return timeLeft(min(grace, createTime), pod.CreationTimestamp.Time, s.now)
}

// newGameServer is the GameServer of a pod before metadata and service qualities are filled in.
func newGameServer(pod *corev1.Pod) *gamev1alpha1.GameServer {
	return &gamev1alpha1.GameServer{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name},
		Spec: gamev1alpha1.GameServerSpec{
			OpsState:         gamev1alpha1.None,
			UpdatePriority:   ptr.To(intstr.FromInt32(0)),
			DeletionPriority: ptr.To(intstr.FromInt32(0)),
			NetworkDisabled:  ptr.To(false),
		},
	}
}

const podKind = "Pod"

// setOwner makes the GameServer go with its pod (Cascade) or with its set (Delete), also when the policy was changed
// after it had been created (fault G-18). A controller of another kind is somebody else's decision and stays.
func setOwner(gs *gamev1alpha1.GameServer, pod *corev1.Pod, set *gamev1alpha1.GameServerSet) {
	want := metav1.OwnerReference{
		APIVersion: corev1.SchemeGroupVersion.String(), Kind: podKind, Name: pod.Name, UID: pod.UID,
		Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
	}
	if survivesPods(set) {
		want.APIVersion, want.Kind = gamev1alpha1.SchemeGroupVersion.String(), gamev1alpha1.GameServerSetKind
		want.Name, want.UID = set.Name, set.UID
	}
	for i, have := range gs.OwnerReferences {
		if !ptr.Deref(have.Controller, false) {
			continue
		}
		if have.Kind == podKind || have.Kind == gamev1alpha1.GameServerSetKind {
			gs.OwnerReferences[i] = want
		}
		return
	}
	gs.OwnerReferences = append(gs.OwnerReferences, want)
}
