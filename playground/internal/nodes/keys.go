// SPDX-License-Identifier: Apache-2.0

package nodes

// Annotations on pods, the last one on nodes. Users write them, the simulated kubelet reads them, also after the pod has started: a pod
// leaves a simulated trouble when the annotation is removed. A missing annotation means the friendly behaviour.
const (
	// keyPrefix starts every key of the playground.
	keyPrefix = "playground.berth.games/"

	// AnnotationStartDelay is the time a container needs from its start to readiness, as a Go duration like "5s". It
	// counts for the first start of a pod and for every restart. Missing or malformed means DefaultStartDelay at a
	// restart and none at the first start.
	AnnotationStartDelay = keyPrefix + "start-delay"

	// AnnotationCrash set to "true" makes every container end with exit code 1. A pod that restarts its containers
	// shows CrashLoopBackOff; one that does not goes to phase Failed.
	AnnotationCrash = keyPrefix + "crash"

	// AnnotationNeverReady set to "true" keeps running containers unready.
	AnnotationNeverReady = keyPrefix + "never-ready"

	// AnnotationFailReason ends the pod in phase Failed with this reason, for example "Evicted" or "OutOfpods". A
	// failed pod stays failed, as with a real kubelet.
	AnnotationFailReason = keyPrefix + "fail-reason"

	// AnnotationIgnoreImageUpdate set to "true" keeps containers on the image they run when the spec names another.
	AnnotationIgnoreImageUpdate = keyPrefix + "ignore-image-update"

	// AnnotationStopDelay is the time between the request to delete a pod and its end: a Go duration, or "grace" for
	// the pod's whole grace period. Missing means at once.
	AnnotationStopDelay = keyPrefix + "stop-delay"

	// AnnotationProbePrefix plus the name of a probe holds the result of that probe of a PodProbeMarker: "true",
	// "false" or "unknown", and after a colon the message, for example "true:players=3". Missing means the probe has
	// not run yet.
	AnnotationProbePrefix = keyPrefix + "probe."

	// AnnotationNotReady on a node, set to "true", makes the node's condition Ready False. Removing it heals the node.
	AnnotationNotReady = keyPrefix + "not-ready"
)
