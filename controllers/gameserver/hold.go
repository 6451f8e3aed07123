// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/network/framework"
)

// settleTime is how long the first report of a started server waits for the rest: readiness follows the start of the
// containers, and the network plugin's first word follows the pod's address, within moments.
const settleTime = 2 * time.Second

// holdFirstReport says how long the first report of a server's start may still wait. Zero means now.
//
// A server that starts as it should is written once, when it is up, instead of at each step on the way: state label and
// status of 1,000 servers that start together are 2,000 writes this way, and 5,000 the other. What is not written yet reads
// the same: a missing state label and a missing status mean that the server is being created. Anything wrong is
// reported at once, and a start that takes longer than grace is reported too.
func holdFirstReport(s seen, stored gamev1alpha1.GameServerStatus, h health, grace time.Duration) time.Duration {
	if !unreported(s.pod, stored) || h.troubled() {
		return 0
	}
	switch stateOf(s.pod) {
	case gamev1alpha1.Creating:
		if s.pod.Labels[gamev1alpha1.GameServerStateKey] != "" {
			return 0
		}
		return timeLeft(grace, s.pod.CreationTimestamp.Time, s.now)
	case gamev1alpha1.NotReady:
		return timeLeft(settleTime, lastStep(s.pod), s.now)
	case gamev1alpha1.Ready:
		if framework.TypeOf(s.pod) == "" || reportedNetwork(s.pod) != nil {
			return 0
		}
		return timeLeft(settleTime, lastStep(s.pod), s.now)
	default:
		return 0
	}
}

// unreported says that nothing but the creation of this server was ever written, and nothing of a former pod is left.
func unreported(pod *corev1.Pod, stored gamev1alpha1.GameServerStatus) bool {
	label := pod.Labels[gamev1alpha1.GameServerStateKey]
	return (label == "" || label == string(gamev1alpha1.Creating)) &&
		(stored.CurrentState == "" || stored.CurrentState == gamev1alpha1.Creating) &&
		len(stored.NetworkStatus.InternalAddresses)+len(stored.NetworkStatus.ExternalAddresses) == 0
}

// lastStep is when the pod last came nearer to being ready: when its readiness changed, or a container was started.
func lastStep(pod *corev1.Pod) time.Time {
	last := pod.CreationTimestamp.Time
	if ready := podCondition(pod, corev1.PodReady); ready != nil && ready.LastTransitionTime.After(last) {
		last = ready.LastTransitionTime.Time
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
