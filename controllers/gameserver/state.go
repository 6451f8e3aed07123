// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	appspub "github.com/openkruise/kruise-api/apps/pub"
	corev1 "k8s.io/api/core/v1"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

// stateOf says where the server of a pod is in its life. A pod that is being deleted is Deleting in every phase, and a
// running pod without a Ready condition is NotReady (fault G-7). Without a pod, nil, the server is Creating: a GameServer
// that outlives its pod waits for the next one.
// Source: core-controllers.md, "State of the GS".
func stateOf(pod *corev1.Pod) gamev1alpha1.GameServerState {
	if pod == nil {
		return gamev1alpha1.Creating
	}
	if pod.DeletionTimestamp != nil {
		return gamev1alpha1.Deleting
	}
	switch pod.Status.Phase {
	case corev1.PodRunning:
		return stateOfRunning(pod)
	case corev1.PodFailed:
		return gamev1alpha1.Crash
	case corev1.PodPending:
		return gamev1alpha1.Creating
	default:
		return gamev1alpha1.Unknown
	}
}

func stateOfRunning(pod *corev1.Pod) gamev1alpha1.GameServerState {
	switch lifecycleOf(pod) {
	case appspub.LifecycleStateUpdating:
		return gamev1alpha1.Updating
	case appspub.LifecycleStatePreparingUpdate:
		return gamev1alpha1.PreUpdate
	case appspub.LifecycleStatePreparingDelete:
		return gamev1alpha1.PreDelete
	default:
	}
	if ready := podCondition(pod, corev1.PodReady); ready != nil && ready.Status == corev1.ConditionTrue {
		return gamev1alpha1.Ready
	}
	return gamev1alpha1.NotReady
}

func lifecycleOf(pod *corev1.Pod) appspub.LifecycleStateType {
	return appspub.LifecycleStateType(pod.Labels[gamev1alpha1.LifecycleStateKey])
}

func podCondition(pod *corev1.Pod, conditionType corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == conditionType {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}
