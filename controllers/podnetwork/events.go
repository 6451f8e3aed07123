// SPDX-License-Identifier: Apache-2.0

package podnetwork

import (
	"errors"
	"strings"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/network/framework"
)

const (
	// reasonPluginNotFound is the event's reason when no plugin has the name of a pod's network type.
	reasonPluginNotFound = "NetworkPluginNotFound"
	// reasonNotReady is the event's reason when a plugin says what a network that is not ready waits for.
	reasonNotReady = "NetworkNotReady"
	// actionReconcile is what the controller was doing.
	actionReconcile = "ReconcileNetwork"
	// mostNote is below the limit of the API, 1024 bytes.
	mostNote = 1000
)

// trouble is one thing that is wrong with the network of a pod.
type trouble struct {
	reason, note string
}

func troubleOf(err error) trouble {
	t := trouble{reason: framework.EventReason(err), note: bounded(err.Error())}
	var unknown *unknownTypeError
	if errors.As(err, &unknown) {
		t.reason = reasonPluginNotFound
	}
	return t
}

// troubleOfWaiting is what a plugin says is missing. What it says while it is at work, or before it has anything to report,
// is no trouble.
func troubleOfWaiting(result framework.Result) trouble {
	state := result.Status.CurrentNetworkState
	if result.Waiting == "" || state == "" || state == gamev1alpha1.NetworkWaiting {
		return trouble{}
	}
	return trouble{reason: reasonNotReady, note: bounded(result.Waiting)}
}

func bounded(note string) string {
	const dots = "..."
	if len(note) <= mostNote {
		return note
	}
	return strings.ToValidUTF8(note[:mostNote-len(dots)], "") + dots
}
