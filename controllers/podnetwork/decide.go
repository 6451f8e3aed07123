// SPDX-License-Identifier: Apache-2.0

package podnetwork

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/network/framework"
)

// recheck is when a plugin that waits for others is asked again, if no event says earlier that they are done.
const recheck = 10 * time.Second

// plan is what follows from a plugin's answer.
type plan struct {
	// status is the annotation to write, nil when there is nothing to write.
	status *string
	// trouble is what to tell the user; empty when nothing is wrong.
	trouble trouble
	// recheckAfter is when to look again without an event; zero means never.
	recheckAfter time.Duration
	// retry asks for another try with back-off.
	retry bool
}

// decide turns the answer of a plugin into what is written and told. Pure.
// Source: network-framework.md, section 5, "Ours": wrong parameters and unknown types are NotReady and wait for a change;
// after every other fault the last status stays, and the plugin is asked again.
func decide(pod *framework.Pod, given answer) (plan, error) {
	if given.err == nil {
		status, err := statusToWrite(pod, given.result.Status)
		return plan{status: status, recheckAfter: given.result.RecheckAfter}, err
	}
	p := plan{trouble: troubleOf(given.err)}
	if isFinal(given.err) {
		var err error
		p.status, err = statusToWrite(pod, gamev1alpha1.NetworkStatus{CurrentNetworkState: gamev1alpha1.NetworkNotReady})
		return p, err
	}
	p.recheckAfter, p.retry = patience(given.err)
	return p, nil
}

// patience says when to ask again: after the time an expected wait takes, or with the queue's back-off after a fault.
func patience(err error) (after time.Duration, backOff bool) {
	var wait *framework.RetryError
	var exhausted *framework.ExhaustedError
	switch {
	case errors.As(err, &wait) && wait.After > 0:
		return wait.After, false
	case errors.As(err, &wait), errors.As(err, &exhausted):
		return recheck, false
	default:
		return 0, true
	}
}

// statusToWrite is the text to write, nil when the annotation already says the same, in whatever order or spelling, or
// when there is nothing to say: an empty status means that the plugin has no news.
func statusToWrite(pod *framework.Pod, wanted gamev1alpha1.NetworkStatus) (*string, error) {
	if equality.Semantic.DeepEqual(wanted, gamev1alpha1.NetworkStatus{}) {
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

// isFinal reports whether only a change by somebody can help.
func isFinal(err error) bool {
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
	return fmt.Sprintf("network type %q is not available; available are: %s", e.name, strings.Join(e.known, ", "))
}
