// SPDX-License-Identifier: Apache-2.0

package podnetwork

import (
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/network/framework"
)

// answer is what came of asking a plugin.
type answer struct {
	result framework.Result
	err    error
	// silent means that there is nobody to ask who has something to say now.
	silent bool
}

// next says what makes the controller look at a pod again, besides events.
type next int

const (
	// afterRecheck waits for the time the plugin asked for, if it did.
	afterRecheck next = iota
	// afterWait asks again with back-off: what the plugin waits for is on its way.
	afterWait
	// afterFault tries again with back-off, and counts and logs the fault.
	afterFault
)

// plan is what follows from a plugin's answer.
type plan struct {
	// status is the annotation to write, nil when there is nothing to write.
	status *string
	// trouble is what to tell the user; empty when nothing is wrong.
	trouble trouble
	next    next
	// recheckAfter is when to look again without an event; zero means never. It counts with afterRecheck.
	recheckAfter time.Duration
}

// decide turns the answer of a plugin into what is written and told. Pure.
// Source: network-framework.md, section 5, "Ours": wrong parameters and unknown types are NotReady and wait for a change;
// after every other fault the last status stays, and the plugin is asked again.
func decide(pod *framework.Pod, given answer) (plan, error) {
	if given.err != nil {
		return decideOnError(pod, given.err)
	}
	p := plan{recheckAfter: max(given.result.RecheckAfter, 0)}
	if unheard(pod, given.result.Status.CurrentNetworkState) {
		return p, nil
	}
	if !ends(pod.Pod) {
		p.trouble = troubleOfWaiting(given.result)
	}
	var err error
	p.status, err = statusToWrite(pod, given.result.Status)
	return p, err
}

func decideOnError(pod *framework.Pod, fault error) (plan, error) {
	p := plan{trouble: troubleOf(fault)}
	var wait *framework.RetryError
	var exhausted *framework.ExhaustedError
	switch {
	case needsChange(fault):
		if ends(pod.Pod) {
			return p, nil
		}
		var err error
		p.status, err = statusToWrite(pod, gamev1alpha1.NetworkStatus{CurrentNetworkState: gamev1alpha1.NetworkNotReady})
		return p, err
	case errors.As(fault, &wait) && wait.After > 0:
		p.recheckAfter = wait.After
	case errors.As(fault, &wait), errors.As(fault, &exhausted):
		p.next = afterWait
	default:
		p.next = afterFault
	}
	return p, nil
}

// unheard reports whether a NotReady would be the first that is said of a pod which has no node yet, or which ends. A
// missing report already reads as NotReady, so it is left out: a server that starts well costs one write.
func unheard(pod *framework.Pod, state gamev1alpha1.NetworkState) bool {
	return pod.Status == nil && state == gamev1alpha1.NetworkNotReady && (pod.Spec.NodeName == "" || ends(pod.Pod))
}

// ends reports whether a pod is on its way out or has finished. Its plugin is still asked, since it may have something to
// put away, and a different answer is written; nothing else is said of it.
func ends(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// statusToWrite is the text to write, nil when the annotation already says the same, in whatever order or spelling, or
// when the plugin has nothing to report yet.
func statusToWrite(pod *framework.Pod, wanted gamev1alpha1.NetworkStatus) (*string, error) {
	if wanted.CurrentNetworkState == "" {
		return nil, nil
	}
	text, err := framework.EncodeStatus(wanted)
	if err != nil {
		return nil, err
	}
	if pod.Status != nil {
		stored, err := framework.EncodeStatus(*pod.Status)
		if err != nil {
			return nil, err
		}
		if stored == text {
			return nil, nil
		}
	}
	return &text, nil
}

// needsChange reports whether only a change by somebody can help.
func needsChange(err error) bool {
	var parameter *framework.ParameterError
	var unknown *unknownTypeError
	return errors.As(err, &parameter) || errors.As(err, &unknown)
}

// unknownTypeError says that no plugin has the name of a pod's network type.
type unknownTypeError struct {
	name  string
	known []string
}

func (e *unknownTypeError) Error() string {
	if len(e.known) == 0 {
		return fmt.Sprintf("network type %q is not available; no network provider is enabled", e.name)
	}
	return fmt.Sprintf("network type %q is not available; available are: %s", e.name, strings.Join(e.known, ", "))
}
