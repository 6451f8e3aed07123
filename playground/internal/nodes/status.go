// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Seen is what the simulated kubelet knows about one pod when it decides.
type Seen struct {
	// Pod is the pod as stored, with the status that the kubelet wrote before.
	Pod *corev1.Pod
	// HostIPs are the internal addresses of the pod's node, PodIPs the pod's own; both used until the status has them.
	HostIPs, PodIPs []string
	Now             time.Time
}

// NextStatus decides what the status of a pod becomes. It is pure, and the status it returns is complete except for
// conditions: it holds only those that belong to a kubelet. Applied to a pod that already has this status it returns
// the same again, so a steady pod causes no writes.
//
//	Pending ──start──> Running <──restart, crash, recovery──> Running
//	   └───────────────┴──fail-reason, exit without restart──> Failed | Succeeded
//
// Sources: https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle (phases, conditions, readiness gates).
func NextStatus(seen Seen) corev1.PodStatus {
	pod, b := seen.Pod, behaviorOf(seen.Pod.Annotations)
	next := begin(seen)
	switch {
	case pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed:
		next.Phase, next.Reason, next.Message = pod.Status.Phase, pod.Status.Reason, pod.Status.Message
		end(&next, pod, seen.Now, 0, "Completed")
	case pod.DeletionTimestamp != nil:
		next.Phase = corev1.PodSucceeded
		end(&next, pod, seen.Now, 0, "Completed")
	case b.failReason != "":
		next.Phase = corev1.PodFailed
		next.Reason = b.failReason
		next.Message = "simulated: the pod asks for it by annotation " + AnnotationFailReason
		end(&next, pod, seen.Now, exitKilled, "Error")
	default:
		c := containers{pod: pod, behavior: b, now: seen.Now, ready: readyAt(pod)}
		next.InitContainerStatuses = c.initStatuses()
		next.ContainerStatuses = c.statuses()
		next.Phase = phase(pod, next.ContainerStatuses)
		next.Conditions = conditions(seen, next, c.ready)
		return next
	}
	next.Conditions = conditions(seen, next, time.Time{})
	return next
}

// begin returns the parts of a status that a pod keeps from its first start to its end.
func begin(seen Seen) corev1.PodStatus {
	old := seen.Pod.Status
	next := corev1.PodStatus{
		ObservedGeneration: seen.Pod.Generation,
		StartTime:          old.StartTime,
		HostIP:             old.HostIP,
		HostIPs:            old.HostIPs,
		PodIP:              old.PodIP,
		PodIPs:             old.PodIPs,
	}
	if next.StartTime == nil {
		next.StartTime = &metav1.Time{Time: seen.Now}
	}
	if next.HostIP == "" && len(seen.HostIPs) > 0 {
		next.HostIP = seen.HostIPs[0]
		for _, ip := range seen.HostIPs {
			next.HostIPs = append(next.HostIPs, corev1.HostIP{IP: ip})
		}
	}
	if next.PodIP == "" && len(seen.PodIPs) > 0 {
		next.PodIP = seen.PodIPs[0]
		for _, ip := range seen.PodIPs {
			next.PodIPs = append(next.PodIPs, corev1.PodIP{IP: ip})
		}
	}
	return next
}

// end terminates the containers that ever started; a pod that is refused before has none.
func end(next *corev1.PodStatus, pod *corev1.Pod, now time.Time, exitCode int32, reason string) {
	next.InitContainerStatuses = pod.Status.InitContainerStatuses
	for _, s := range pod.Status.ContainerStatuses {
		next.ContainerStatuses = append(next.ContainerStatuses, terminated(s, now, exitCode, reason))
	}
}

// phase follows the rules of a kubelet for pods whose containers have one status each.
func phase(pod *corev1.Pod, statuses []corev1.ContainerStatus) corev1.PodPhase {
	var waiting, stopped, failed int
	for _, s := range statuses {
		switch {
		case s.State.Terminated != nil:
			stopped++
			if s.State.Terminated.ExitCode != 0 {
				failed++
			}
		case s.State.Waiting != nil && s.LastTerminationState.Terminated == nil:
			waiting++
		}
	}
	switch {
	case waiting > 0:
		return corev1.PodPending
	case stopped == len(statuses) && failed > 0 && pod.Spec.RestartPolicy != corev1.RestartPolicyAlways:
		return corev1.PodFailed
	case stopped == len(statuses) && failed == 0 && pod.Spec.RestartPolicy != corev1.RestartPolicyAlways:
		return corev1.PodSucceeded
	default:
		return corev1.PodRunning
	}
}

// startEnds introduces, at the end of the message of condition ContainersReady, the time at which a start that is
// under way ends. The stages wait for it; see stages.go.
const startEnds = "start ends at "

// readyAt returns the time that the last status announced as the end of a start; zero when no start is under way.
func readyAt(pod *corev1.Pod) time.Time {
	i := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.ContainersReady })
	if i < 0 {
		return time.Time{}
	}
	_, text, _ := strings.Cut(pod.Status.Conditions[i].Message, startEnds)
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}
	}
	return at
}
