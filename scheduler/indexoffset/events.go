// SPDX-License-Identifier: Apache-2.0

package indexoffset

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

const (
	// reasonBadSelector is the reason of the event on a pod whose selector annotation cannot be understood.
	reasonBadSelector = "InvalidSchedulerSelector"
	// The API allows a note of 1024 bytes; a character has up to four.
	maxNote, maxNoteValue = 250, 80
)

// tellBadSelector puts an event on the pod. Repetitions, if the pod has to be tried again, are folded by the recorder
// into a series of the one event.
func (p *Plugin) tellBadSelector(pod *corev1.Pod, err error) {
	recorder := p.handle.EventRecorder()
	if recorder == nil {
		return // the framework is driven by something that only simulates scheduling
	}
	note := fmt.Sprintf("Index is not regarded: annotation %s has value %.*q, which is no label selector: %s",
		SelectorAnnotation, maxNoteValue, pod.Annotations[SelectorAnnotation], err)
	recorder.Eventf(pod, nil, corev1.EventTypeWarning, reasonBadSelector, "Scheduling", "%.*s", maxNote, note)
}
