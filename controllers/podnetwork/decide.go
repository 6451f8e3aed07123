// SPDX-License-Identifier: Apache-2.0

package podnetwork

import (
	"errors"
	"fmt"
	"strings"
	"time"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/network/framework"
)

// recheck is when the network of a pod that found no free ports is looked at again: ports that become free are no event.
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
		return plan{status: status, trouble: waitingFor(given.result), recheckAfter: given.result.RecheckAfter}, err
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

// patience says when to ask again: after the time an expected wait takes, or else with the queue's back-off.
func patience(err error) (after time.Duration, backOff bool) {
	var wait *framework.RetryError
	var exhausted *framework.ExhaustedError
	switch {
	case errors.As(err, &wait) && wait.After > 0:
		return wait.After, false
	case errors.As(err, &exhausted):
		return recheck, false
	default:
		return 0, true
	}
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
