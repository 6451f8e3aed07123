// SPDX-License-Identifier: Apache-2.0

package podnetwork

import (
	"errors"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/berthgames/berth/network/framework"
)

const (
	// reasonPluginNotFound is the event's reason when no plugin has the name of a pod's network type.
	reasonPluginNotFound = "NetworkPluginNotFound"
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
	note := err.Error()
	if len(note) > mostNote {
		note = note[:mostNote-3] + "..."
	}
	var unknown *unknownTypeError
	if errors.As(err, &unknown) {
		return trouble{reason: reasonPluginNotFound, note: note}
	}
	return trouble{reason: framework.EventReason(err), note: note}
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
