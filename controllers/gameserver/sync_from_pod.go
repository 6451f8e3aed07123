// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/internal/apply"
)

// statusInput is what the status of a server with a pod is made of.
type statusInput struct {
	stored     gamev1alpha1.GameServerStatus
	pod        *corev1.Pod
	changes    podChanges
	records    []gamev1alpha1.ServiceQualityCondition
	conditions []gamev1alpha1.GameServerCondition
	now        metav1.Time
}

// syncFromPod is the whole status, so that whatever is missing in it disappears from the stored one (fault G-1).
// Source: core-api.md, section 3.2.
func syncFromPod(in statusInput) gamev1alpha1.GameServerStatus {
	label := func(key string) string { return in.changes.label(in.pod, key) }
	status := gamev1alpha1.GameServerStatus{
		DesiredState:              gamev1alpha1.Ready,
		CurrentState:              stateOf(in.pod),
		PodStatus:                 in.pod.Status,
		ServiceQualitiesCondition: in.records,
		UpdatePriority:            priorityOf(label(gamev1alpha1.GameServerUpdatePriorityKey)),
		DeletionPriority:          priorityOf(label(gamev1alpha1.GameServerDeletePriorityKey)),
		Conditions:                in.conditions,
	}
	disabled := label(gamev1alpha1.GameServerNetworkDisabled) == "true"
	status.NetworkStatus = networkStatus(in.stored.NetworkStatus, in.pod, disabled, in.now)
	return status
}

// statusWithoutPod is the status of a server that waits for its next pod: nothing of the former one is left in it, so
// that nobody sends players to an address that now belongs to somebody else.
func statusWithoutPod(stored gamev1alpha1.GameServerStatus, now metav1.Time) gamev1alpha1.GameServerStatus {
	status := gamev1alpha1.GameServerStatus{
		DesiredState:     gamev1alpha1.Ready,
		CurrentState:     stateOf(nil),
		UpdatePriority:   stored.UpdatePriority,
		DeletionPriority: stored.DeletionPriority,
	}
	if stored.NetworkStatus.NetworkType != "" {
		network := gamev1alpha1.NetworkStatus{
			NetworkType:         stored.NetworkStatus.NetworkType,
			DesiredNetworkState: stored.NetworkStatus.DesiredNetworkState,
			CurrentNetworkState: gamev1alpha1.NetworkNotReady,
			CreateTime:          stored.NetworkStatus.CreateTime,
			LastTransitionTime:  stored.NetworkStatus.LastTransitionTime,
		}
		if stored.NetworkStatus.CurrentNetworkState != network.CurrentNetworkState {
			network.LastTransitionTime = now
		}
		status.NetworkStatus = network
	}
	return status
}

// priorityOf is the priority on the pod, as text, which is how upstream stores it; nil when the pod has none.
func priorityOf(label string) *intstr.IntOrString {
	if label == "" {
		return nil
	}
	return ptr.To(intstr.FromString(label))
}

// settle returns the wanted status with its lastTransitionTime, or nil when there is no reason to write.
// Times at which something was probed are no reason: a probe that finds the same every few seconds would make a write of
// each run. They come along with the next change.
func settle(stored, wanted gamev1alpha1.GameServerStatus, now metav1.Time) (*gamev1alpha1.GameServerStatus, error) {
	wanted.LastTransitionTime = stored.LastTransitionTime
	quiet := withProbeTimesOf(stored, wanted)
	diff, err := apply.MergePatch(stored, quiet)
	if err != nil || diff == nil {
		return nil, err
	}
	wanted.LastTransitionTime = now
	return &wanted, nil
}

// settleUnpatched settles for a pod that stays as it is.
func settleUnpatched(in statusInput) (*gamev1alpha1.GameServerStatus, error) {
	if in.changes.empty() {
		return nil, nil
	}
	in.changes = podChanges{}
	return settle(in.stored, syncFromPod(in), in.now)
}

// withProbeTimesOf returns wanted with the probe times of stored, wherever both have the same entry.
func withProbeTimesOf(stored, wanted gamev1alpha1.GameServerStatus) gamev1alpha1.GameServerStatus {
	wanted.PodStatus.Conditions = append([]corev1.PodCondition(nil), wanted.PodStatus.Conditions...)
	for i := range wanted.PodStatus.Conditions {
		for j := range stored.PodStatus.Conditions {
			if stored.PodStatus.Conditions[j].Type == wanted.PodStatus.Conditions[i].Type {
				wanted.PodStatus.Conditions[i].LastProbeTime = stored.PodStatus.Conditions[j].LastProbeTime
			}
		}
	}
	wanted.ServiceQualitiesCondition = append([]gamev1alpha1.ServiceQualityCondition(nil), wanted.ServiceQualitiesCondition...)
	for i := range wanted.ServiceQualitiesCondition {
		record := &wanted.ServiceQualitiesCondition[i]
		old := storedRecord(stored.ServiceQualitiesCondition, record.Name)
		if old.Status == record.Status && old.LastActionTransitionTime.Equal(&record.LastActionTransitionTime) {
			// The transition time is the later of action and probe, so with the same action it is a probe time too.
			record.LastProbeTime, record.LastTransitionTime = old.LastProbeTime, old.LastTransitionTime
		}
	}
	return wanted
}
