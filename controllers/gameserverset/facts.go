// SPDX-License-Identifier: Apache-2.0

package gameserverset

import (
	"strconv"
	"strings"

	appspub "github.com/openkruise/kruise-api/apps/pub"
	kruisev1beta1 "github.com/openkruise/kruise-api/apps/v1beta1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

// idOf returns the id in the name of a pod or GameServer of the set; ok is false when the name is not <set>-<digits>
// as the workload writes it (S-11).
func idOf(set, name string) (id int32, ok bool) {
	digits, found := strings.CutPrefix(name, set+"-")
	if !found {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 32)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != digits {
		return 0, false
	}
	return int32(n), true
}

// isMember reports whether a pod with the set's label is one of its servers: controlled by the workload or, for the
// workload to adopt, by nobody.
func isMember(pod *corev1.Pod, workload *kruisev1beta1.StatefulSet) bool {
	controller := metav1.GetControllerOfNoCopy(pod)
	return controller == nil || workload != nil && controller.UID == workload.UID
}

// newServer reads what the plan needs of a pod and its GameServer, which may be nil. What the GameServer wants wins over
// the labels of the pod, which follow it late (S-2).
func newServer(id int32, pod *corev1.Pod, gs *gamev1alpha1.GameServer) Server {
	server := Server{
		ID:               id,
		Class:            classOf(pod),
		OpsState:         gamev1alpha1.OpsState(pod.Labels[gamev1alpha1.GameServerOpsStateKey]),
		DeletionPriority: number(pod.Labels[gamev1alpha1.GameServerDeletePriorityKey]),
		Ready:            isReady(pod),
	}
	if gs == nil || !describes(gs, pod) {
		return server
	}
	server.OpsState, server.DeletionPriority = gs.Spec.OpsState, 0
	if gs.Spec.DeletionPriority != nil {
		server.DeletionPriority = number(gs.Spec.DeletionPriority.String())
	}
	return server
}

// describes reports whether a GameServer with the name of the pod is about this pod. After a quick recreation the
// GameServer of the earlier pod may still be there, and its Kill must not hit the new one.
func describes(gs *gamev1alpha1.GameServer, pod *corev1.Pod) bool {
	controller := metav1.GetControllerOfNoCopy(gs)
	return controller == nil || controller.Kind != "Pod" || controller.UID == pod.UID
}

func classOf(pod *corev1.Pod) Class {
	switch {
	case pod.DeletionTimestamp != nil:
		return Terminating
	case pod.Labels[gamev1alpha1.LifecycleStateKey] == string(appspub.LifecycleStatePreparingDelete):
		return PreDeleting
	default:
		return Live
	}
}

func isReady(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		if condition := &pod.Status.Conditions[i]; condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// number reads a deletion priority; what is no integer counts as 0.
func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// counts are the numbers of the status that come from the labels of pods.
type counts struct {
	pods, maintaining, waitToBeDeleted, preDelete int32
}

func (c *counts) add(pod *corev1.Pod) {
	c.pods++
	switch gamev1alpha1.OpsState(pod.Labels[gamev1alpha1.GameServerOpsStateKey]) {
	case gamev1alpha1.Maintaining:
		c.maintaining++
	case gamev1alpha1.WaitToDelete:
		c.waitToBeDeleted++
	default:
	}
	if pod.Labels[gamev1alpha1.GameServerStateKey] == string(gamev1alpha1.PreDelete) {
		c.preDelete++
	}
}
