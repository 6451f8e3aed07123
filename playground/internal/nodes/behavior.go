// SPDX-License-Identifier: Apache-2.0

package nodes

import "time"

// DefaultStartDelay is the time a restarted container is not ready when no annotation says otherwise.
const DefaultStartDelay = 300 * time.Millisecond

// behavior is what the annotations of a pod ask for.
type behavior struct {
	// firstDelay and restartDelay are the times from start to readiness.
	firstDelay, restartDelay       time.Duration
	crash, neverReady, ignoreImage bool
	failReason                     string
}

func behaviorOf(annotations map[string]string) behavior {
	b := behavior{
		restartDelay: DefaultStartDelay,
		crash:        annotations[AnnotationCrash] == "true",
		neverReady:   annotations[AnnotationNeverReady] == "true",
		ignoreImage:  annotations[AnnotationIgnoreImageUpdate] == "true",
		failReason:   annotations[AnnotationFailReason],
	}
	if delay, err := time.ParseDuration(annotations[AnnotationStartDelay]); err == nil && delay >= 0 {
		b.firstDelay, b.restartDelay = delay, delay
	}
	return b
}
