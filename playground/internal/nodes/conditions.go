// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// conditions returns the conditions of a kubelet for a pod that gets the status next. ready is when a start that is
// under way ends. A condition that keeps its status keeps its transition time.
func conditions(seen Seen, next corev1.PodStatus, ready time.Time) []corev1.PodCondition {
	alive := next.Phase == corev1.PodRunning || next.Phase == corev1.PodPending
	containersReady, ok := judgeContainers(next)
	if seen.Now.Before(ready) {
		containersReady.message += "; " + startEnds + ready.UTC().Format(time.RFC3339Nano)
	}
	podReady := containersReady
	if ok {
		podReady = judgeGates(seen.Pod)
	}
	c := func(kind corev1.PodConditionType, v verdict) corev1.PodCondition {
		return keepTime(seen, corev1.PodCondition{Type: kind, Status: v.status, Reason: v.reason, Message: v.message})
	}
	return []corev1.PodCondition{
		c(corev1.PodReadyToStartContainers, verdict{status: boolStatus(alive)}),
		c(corev1.PodInitialized, verdict{status: corev1.ConditionTrue}),
		c(corev1.ContainersReady, containersReady),
		c(corev1.PodReady, podReady),
	}
}

// verdict is a condition without type and time.
type verdict struct {
	status          corev1.ConditionStatus
	reason, message string
}

// judgeContainers decides ContainersReady.
func judgeContainers(next corev1.PodStatus) (v verdict, ok bool) {
	if next.Phase == corev1.PodSucceeded {
		return verdict{status: corev1.ConditionFalse, reason: "PodCompleted"}, false
	}
	if next.Phase == corev1.PodFailed {
		return verdict{status: corev1.ConditionFalse, reason: "PodFailed"}, false
	}
	var unready []string
	for _, s := range next.ContainerStatuses {
		if !s.Ready {
			unready = append(unready, s.Name)
		}
	}
	if len(unready) == 0 {
		return verdict{status: corev1.ConditionTrue}, true
	}
	return verdict{
		status:  corev1.ConditionFalse,
		reason:  "ContainersNotReady",
		message: fmt.Sprintf("containers with unready status: %v", unready),
	}, false
}

// judgeGates decides Ready for a pod whose containers are ready: every readiness gate must have a condition that is
// True. Somebody else, for example OpenKruise, writes these conditions.
func judgeGates(pod *corev1.Pod) verdict {
	for _, gate := range pod.Spec.ReadinessGates {
		i := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == gate.ConditionType })
		if i < 0 || pod.Status.Conditions[i].Status != corev1.ConditionTrue {
			return verdict{
				status:  corev1.ConditionFalse,
				reason:  "ReadinessGatesNotReady",
				message: fmt.Sprintf("the condition of readiness gate %q is missing or not True", gate.ConditionType),
			}
		}
	}
	return verdict{status: corev1.ConditionTrue}
}

func keepTime(seen Seen, c corev1.PodCondition) corev1.PodCondition {
	c.LastTransitionTime = metav1.NewTime(seen.Now)
	for _, old := range seen.Pod.Status.Conditions {
		if old.Type == c.Type && old.Status == c.Status {
			c.LastTransitionTime = old.LastTransitionTime
		}
	}
	return c
}

func boolStatus(value bool) corev1.ConditionStatus {
	if value {
		return corev1.ConditionTrue
	}
	return corev1.ConditionFalse
}
