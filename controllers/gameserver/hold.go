// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/network/framework"
)

const (
	// createTime is how long the creation of a GameServer waits for its pod to get a node.
	createTime = 15 * time.Second
	// readyTime is how long started or updated containers may take to be ready without being reported as not ready.
	readyTime = 10 * time.Second
	// settleTime is how long a report waits for what follows within moments: readiness after the start of containers, the
	// network plugin's first word after the address of the pod.
	settleTime = 2 * time.Second
)

// hold says how long state label and status may still stay as they are, because more will follow soon and nothing is
// wrong. Zero means that they are written now, if they differ.
func hold(s seen, stored gamev1alpha1.GameServerStatus, h health, grace time.Duration) time.Duration {
	if h.troubled() {
		return 0
	}
	return max(holdStart(s, stored, grace), holdUpdate(s.pod, stored, s.now, grace))
}

// holdStart is for a server that was never reported.
//
// A server that starts as it should is written once, when it is up, instead of at each step on the way: scheduled,
// containers started, the gate for in-place updates opened by OpenKruise, ready. What is not written yet reads the same:
// without a state label and a status the server is being created. Anything wrong is reported at once, and a start that
// takes longer than grace, or whose containers run and do not get ready, is reported too.
func holdStart(s seen, stored gamev1alpha1.GameServerStatus, grace time.Duration) time.Duration {
	if !unreported(s.pod, stored) {
		return 0
	}
	told := s.pod.Labels[gamev1alpha1.GameServerStateKey] != ""
	switch state := stateOf(s.pod); {
	case !told && (state == gamev1alpha1.Creating || state == gamev1alpha1.NotReady && awaitsGates(s.pod)):
		return timeLeft(grace, s.pod.CreationTimestamp.Time, s.now)
	case !told && state == gamev1alpha1.NotReady:
		return timeLeft(min(grace, readyTime), lastStep(s.pod), s.now)
	case state == gamev1alpha1.NotReady, state == gamev1alpha1.Ready && awaitsNetwork(s.pod):
		return timeLeft(settleTime, lastStep(s.pod), s.now)
	default:
		return 0
	}
}

// holdUpdate is for a server that OpenKruise updates in place. Its way is Ready, Updating, Ready; the steps between say no
// more: the gate closes a moment before the pod is marked as Updating, the status of the pod changes with each container,
// and the mark goes a moment before the new containers are ready.
func holdUpdate(pod *corev1.Pod, stored gamev1alpha1.GameServerStatus, now time.Time, grace time.Duration) time.Duration {
	state := stateOf(pod)
	switch {
	case stored.CurrentState == gamev1alpha1.Ready && state == gamev1alpha1.NotReady && gateClosed(pod):
		return timeLeft(min(grace, settleTime), lastStep(pod), now)
	case stored.CurrentState == gamev1alpha1.Updating && (state == gamev1alpha1.Updating || state == gamev1alpha1.NotReady):
		return timeLeft(min(grace, readyTime), lastStep(pod), now)
	default:
		return 0
	}
}

// gateClosed says that OpenKruise has taken the pod out of service for an in-place update.
func gateClosed(pod *corev1.Pod) bool {
	gate := podCondition(pod, gamev1alpha1.InPlaceUpdateReady)
	return gate != nil && gate.Status == corev1.ConditionFalse
}

// awaitsGates says that the containers are ready, and the pod only waits for others to say so too. OpenKruise opens the
// gate for in-place updates of new pods when it has created all pods of a set.
func awaitsGates(pod *corev1.Pod) bool {
	containers := podCondition(pod, corev1.ContainersReady)
	return containers != nil && containers.Status == corev1.ConditionTrue
}

// awaitsNetwork says that the pod's network plugin has not said anything yet.
func awaitsNetwork(pod *corev1.Pod) bool {
	return framework.TypeOf(pod) != "" && reportedNetwork(pod) == nil
}

// unreported says that nothing but the creation of this server was ever written, and nothing of a former pod is left.
func unreported(pod *corev1.Pod, stored gamev1alpha1.GameServerStatus) bool {
	label := pod.Labels[gamev1alpha1.GameServerStateKey]
	return (label == "" || label == string(gamev1alpha1.Creating)) &&
		(stored.CurrentState == "" || stored.CurrentState == gamev1alpha1.Creating) &&
		len(stored.NetworkStatus.InternalAddresses)+len(stored.NetworkStatus.ExternalAddresses) == 0
}

// lastStep is when something last happened on the pod's way to being ready. The Ready condition alone does not tell:
// OpenKruise leaves out its time when it closes the gate of a pod.
func lastStep(pod *corev1.Pod) time.Time {
	last := pod.CreationTimestamp.Time
	for _, step := range []corev1.PodConditionType{corev1.ContainersReady, gamev1alpha1.InPlaceUpdateReady, corev1.PodReady} {
		if c := podCondition(pod, step); c != nil && c.LastTransitionTime.After(last) {
			last = c.LastTransitionTime.Time
		}
	}
	for _, status := range pod.Status.ContainerStatuses {
		if running := status.State.Running; running != nil && running.StartedAt.After(last) {
			last = running.StartedAt.Time
		}
	}
	return last
}

// timeLeft is what is left of a grace that began at began; zero when it is over. When began, which is a time of the API
// server or of a kubelet, is far ahead of our clock, waiting for it to pass might take for ever: then nothing is left.
func timeLeft(grace time.Duration, began, now time.Time) time.Duration {
	left := grace - now.Sub(began)
	if left < 0 || left > 2*grace {
		return 0
	}
	return left
}
