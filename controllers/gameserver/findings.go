// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// finding is one thing that is not as it should be. Either text may be empty, not both.
type finding struct {
	reason, message string
	// passing findings are part of every healthy start: they say that something has not happened yet.
	passing bool
}

// podFindings lists what is wrong with a pod. Source: core-controllers.md, "Conditions on the GS", PodNormal.
func podFindings(pod *corev1.Pod) []finding {
	var found []finding
	if pod.Status.Reason != "" {
		found = append(found, finding{reason: pod.Status.Reason, message: pod.Status.Message})
	}
	found = append(found, podConditionFindings(pod)...)
	for i := range pod.Status.InitContainerStatuses {
		found = append(found, containerFindings(&pod.Status.InitContainerStatuses[i], true)...)
	}
	for i := range pod.Status.ContainerStatuses {
		found = append(found, containerFindings(&pod.Status.ContainerStatuses[i], false)...)
	}
	return found
}

func podConditionFindings(pod *corev1.Pod) []finding {
	var found []finding
	add := func(c *corev1.PodCondition, passing bool) {
		if c != nil && c.Status != corev1.ConditionTrue && c.Reason+c.Message != "" {
			found = append(found, finding{reason: c.Reason, message: c.Message, passing: passing})
		}
	}
	add(podCondition(pod, corev1.PodScheduled), false)
	add(podCondition(pod, corev1.PodInitialized), true)
	containers := podCondition(pod, corev1.ContainersReady)
	add(containers, true)
	// While containers are not ready, the pod is not ready for the same reason.
	if containers != nil && containers.Status == corev1.ConditionTrue {
		add(podCondition(pod, corev1.PodReady), true)
	}
	return found
}

func containerFindings(status *corev1.ContainerStatus, init bool) []finding {
	var found []finding
	// A container that waits without a message is on its usual way, such as plain ContainerCreating.
	if w := status.State.Waiting; w != nil && w.Reason != "" && w.Message != "" {
		found = append(found, finding{reason: w.Reason, message: w.Message})
	}
	found = append(found, terminationFindings(status.State.Terminated, init)...)
	if status.State.Running == nil {
		found = append(found, terminationFindings(status.LastTerminationState.Terminated, init)...)
	}
	return found
}

func terminationFindings(t *corev1.ContainerStateTerminated, init bool) []finding {
	// An init container is meant to end.
	if t == nil || t.Reason == "" || init && t.ExitCode == 0 {
		return nil
	}
	message := fmt.Sprintf("ExitCode: %d", t.ExitCode)
	if t.Message != "" {
		message = t.Message + " " + message
	}
	return []finding{{reason: "ContainerTerminated:" + t.Reason, message: message}}
}

// nodeFindings lists what is wrong with the node of a pod; node is nil when it is not in the cluster (fault G-5).
// Ready and SufficientIP must be True, every other condition must be False: the others of Kubernetes, and those that
// node problem detectors add, name a trouble.
func nodeFindings(name string, node *corev1.Node) []finding {
	if node == nil {
		return []finding{{reason: "NodeNotFound", message: fmt.Sprintf("There is no node named %s in cluster", name)}}
	}
	var found []finding
	for _, c := range node.Status.Conditions {
		good := corev1.ConditionFalse
		if c.Type == corev1.NodeReady || c.Type == "SufficientIP" {
			good = corev1.ConditionTrue
		}
		if c.Status != good {
			found = append(found, finding{reason: string(c.Type) + ":" + c.Reason, message: c.Message})
		}
	}
	return found
}

// claim is one volume claim of a pod, as far as it was found.
type claim struct {
	name   string
	exists bool
	bound  bool
	// volume is nil when it was not found, or not looked for because the claim is not bound.
	volume *corev1.PersistentVolume
}

// volumeFindings lists what is wrong with the volumes behind a pod's claims.
func volumeFindings(namespace string, claims []claim) []finding {
	var found []finding
	for _, c := range claims {
		switch {
		case !c.exists:
			found = append(found, finding{reason: "PersistentVolumeClaim Not Found",
				message: fmt.Sprintf("There is no pvc named %s/%s in cluster", namespace, c.name)})
		case !c.bound || c.volume == nil:
			found = append(found, finding{reason: "PersistentVolume Not Found",
				message: fmt.Sprintf("There is no pv which pvc %s/%s is bound with", namespace, c.name)})
		case c.volume.Status.Reason+c.volume.Status.Message != "":
			found = append(found, finding{reason: c.volume.Status.Reason, message: c.volume.Status.Message})
		}
	}
	return found
}

// joinFindings makes one reason and one message of all findings, parts separated by "; ". A text that the joined one
// already contains is not added again, and an empty one leaves no separator behind.
func joinFindings(found []finding) (reason, message string) {
	for _, f := range found {
		reason = joinText(reason, f.reason)
		message = joinText(message, f.message)
	}
	return reason, message
}

func joinText(joined, text string) string {
	switch {
	case strings.Contains(joined, text):
		return joined
	case joined == "":
		return text
	default:
		return joined + "; " + text
	}
}

// troubled says whether anything found is more than a part of every healthy start.
func troubled(found []finding) bool {
	for _, f := range found {
		if !f.passing {
			return true
		}
	}
	return false
}
