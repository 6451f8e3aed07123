// SPDX-License-Identifier: Apache-2.0

package podnetwork

import (
	"errors"
	"sync"

	"k8s.io/apimachinery/pkg/types"

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
	var unknown *unknownTypeError
	if errors.As(err, &unknown) {
		return trouble{reason: reasonPluginNotFound, note: bounded(err.Error())}
	}
	return trouble{reason: framework.EventReason(err), note: bounded(err.Error())}
}

// waitingFor is what a plugin that reports NotReady says is missing.
func waitingFor(result framework.Result) trouble {
	if result.Waiting == "" || result.Status.CurrentNetworkState != gamev1alpha1.NetworkNotReady {
		return trouble{}
	}
	return trouble{reason: reasonNotReady, note: bounded(result.Waiting)}
}

func bounded(note string) string {
	if len(note) > mostNote {
		return note[:mostNote-3] + "..."
	}
	return note
}

// told remembers the last trouble that was told of each pod, so that it is told once for as long as it lasts.
type told struct {
	mu   sync.Mutex
	last map[types.NamespacedName]toldOf
}

type toldOf struct {
	uid types.UID
	trouble
}

func newTold() *told { return &told{last: map[types.NamespacedName]toldOf{}} }

// isNew reports whether the trouble of a pod is to be told now, and remembers it. No trouble ends the one before.
func (t *told) isNew(pod types.NamespacedName, uid types.UID, now trouble) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now == (trouble{}) {
		delete(t.last, pod)
		return false
	}
	before, known := t.last[pod]
	t.last[pod] = toldOf{uid: uid, trouble: now}
	return !known || before != t.last[pod]
}

// forget drops what was told of a pod that is gone.
func (t *told) forget(pod types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.last, pod)
}
