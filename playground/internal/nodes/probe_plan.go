// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"slices"
	"strings"
	"time"

	kruisev1alpha1 "github.com/openkruise/kruise-api/apps/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// NextProbeStatus decides the status of one NodePodProbe. It is pure: pods holds the pods of the node by UID, and only
// results that differ from those in the old status get the time now.
//
// A pod has results for the probes that it answers by annotation, once it runs; see AnnotationProbePrefix.
func NextProbeStatus(
	probes *kruisev1alpha1.NodePodProbe, pods map[types.UID]*corev1.Pod, now time.Time,
) kruisev1alpha1.NodePodProbeStatus {
	var next kruisev1alpha1.NodePodProbeStatus
	for _, asked := range probes.Spec.PodProbes {
		pod := pods[types.UID(asked.UID)]
		if pod == nil || pod.Status.Phase != corev1.PodRunning {
			continue
		}
		old := probeStates(probes.Status, asked.UID)
		var states []kruisev1alpha1.ContainerProbeState
		for _, probe := range asked.Probes {
			if state, ok := answer(pod, probe.Name); ok {
				states = append(states, date(state, old, now))
			}
		}
		if len(states) > 0 {
			next.PodProbeStatuses = append(next.PodProbeStatuses, kruisev1alpha1.PodProbeStatus{
				Name: asked.Name, Namespace: asked.Namespace, UID: asked.UID, ProbeStates: states,
			})
		}
	}
	return next
}

// answer reads the result of a probe from the annotations of its pod. name is "<PodProbeMarker>#<probe>".
func answer(pod *corev1.Pod, name string) (state kruisev1alpha1.ContainerProbeState, ok bool) {
	_, probe, _ := strings.Cut(name, "#")
	text, ok := pod.Annotations[AnnotationProbePrefix+probe]
	if !ok {
		return state, false
	}
	result, message, _ := strings.Cut(text, ":")
	state = kruisev1alpha1.ContainerProbeState{Name: name, State: kruisev1alpha1.ProbeUnknown, Message: message}
	switch result {
	case "true":
		state.State = kruisev1alpha1.ProbeSucceeded
	case "false":
		state.State = kruisev1alpha1.ProbeFailed
	}
	return state, true
}

// date sets the times of a result: those of the same result in old, else now.
func date(
	state kruisev1alpha1.ContainerProbeState, old []kruisev1alpha1.ContainerProbeState, now time.Time,
) kruisev1alpha1.ContainerProbeState {
	state.LastProbeTime, state.LastTransitionTime = metav1.NewTime(now), metav1.NewTime(now)
	i := slices.IndexFunc(old, func(s kruisev1alpha1.ContainerProbeState) bool { return s.Name == state.Name })
	if i < 0 || old[i].State != state.State {
		return state
	}
	state.LastTransitionTime = old[i].LastTransitionTime
	if old[i].Message == state.Message {
		state.LastProbeTime = old[i].LastProbeTime
	}
	return state
}

func probeStates(status kruisev1alpha1.NodePodProbeStatus, uid string) []kruisev1alpha1.ContainerProbeState {
	for _, s := range status.PodProbeStatuses {
		if s.UID == uid {
			return s.ProbeStates
		}
	}
	return nil
}
