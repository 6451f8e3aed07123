// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/tools/events"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

// Reasons of the events on GameServers. Conditions that turn False bring their own reason.
const (
	reasonStateChanged            = "GsStateChanged"
	reasonNetworkState            = "GsNetworkState"
	reasonInvalidDeletionPriority = "InvalidDeletionPriority"
	reasonInvalidUpdatePriority   = "InvalidUpdatePriority"
	reasonInvalidAction           = "InvalidServiceQualityAction"
	reasonInvalidField            = "InvalidGameServerField"
	reasonPodRefused              = "PodChangesRefused"
)

// Actions of the events: what the controller was doing.
const (
	actionSyncPod     = "SyncPod"
	actionRunQuality  = "RunServiceQuality"
	actionCheckHealth = "CheckHealth"
	actionWaitNetwork = "WaitForNetwork"
)

const (
	// mostNote is below the limit of the API, 1024 bytes, and mostReason that of the API.
	mostNote   = 1000
	mostReason = 128
)

// event is one event on a GameServer, to be sent after the write that it tells of.
type event struct {
	eventType, reason, action, note string
	// key tells lasting troubles apart whose notes change from pass to pass; empty means the note.
	key string
}

// changeEvents tell of the values on the pod that replace another one.
func changeEvents(pod *corev1.Pod, c podChanges) []event {
	watched := []struct{ key, name, alarming string }{
		{gamev1alpha1.GameServerStateKey, "State", string(gamev1alpha1.Crash)},
		{gamev1alpha1.GameServerOpsStateKey, "OpsState", string(gamev1alpha1.Maintaining)},
		{gamev1alpha1.GameServerUpdatePriorityKey, "UpdatePriority", ""},
		{gamev1alpha1.GameServerDeletePriorityKey, "DeletionPriority", ""},
		{gamev1alpha1.GameServerNetworkDisabled, "NetworkDisabled", ""},
	}
	var list []event
	for _, w := range watched {
		old, value := pod.Labels[w.key], c.Labels[w.key]
		if value == nil || old == "" {
			continue
		}
		eventType := corev1.EventTypeNormal
		if *value == w.alarming {
			eventType = corev1.EventTypeWarning
		}
		list = append(list, event{eventType: eventType, reason: reasonStateChanged, action: actionSyncPod,
			note: fmt.Sprintf("%s turned from %s to %s", w.name, old, *value)})
	}
	return list
}

func conditionEvent(c gamev1alpha1.GameServerCondition) event {
	reason := c.Reason
	if reason == "" {
		reason = string(c.Type)
	}
	return event{eventType: corev1.EventTypeWarning, reason: reason, action: actionCheckHealth,
		note: fmt.Sprintf("%s is False: %s", c.Type, c.Message)}
}

func invalidActionEvent(reason, quality string, err *field.Error) event {
	return event{eventType: corev1.EventTypeWarning, reason: reason, action: actionRunQuality,
		note: fmt.Sprintf("Service quality %s: %v; the field stays as it is", quality, err)}
}

func invalidFieldEvent(err *field.Error) event {
	return event{eventType: corev1.EventTypeWarning, reason: reasonInvalidField, action: actionSyncPod,
		note: fmt.Sprintf("%v; it has no effect on the pod", err)}
}

func networkLateEvent(status gamev1alpha1.NetworkStatus, waited, total time.Duration) event {
	return event{eventType: corev1.EventTypeWarning, reason: reasonNetworkState, action: actionWaitNetwork,
		note: fmt.Sprintf("Network of type %s is %s, wanted %s: waited %s, at most %s were expected", status.NetworkType,
			status.CurrentNetworkState, status.DesiredNetworkState, waited.Round(time.Second), total),
		key: reasonNetworkState + " " + status.LastTransitionTime.UTC().Format(time.RFC3339)}
}

// send hands events to the recorder.
func send(recorder events.EventRecorder, gs *gamev1alpha1.GameServer, list []event) {
	for _, e := range list {
		recorder.Eventf(gs, nil, e.eventType, shorten(e.reason, mostReason), e.action, "%s", shorten(e.note, mostNote))
	}
}

func shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const dots = "..."
	return strings.ToValidUTF8(text[:most-len(dots)], "") + dots
}

// lasting remembers which troubles of each GameServer were told, because a trouble that lasts is told once, not in each
// pass (faults G-15, A-4). It is forgotten with the process: after a restart what still lasts is told once more.
// Safe for concurrent use.
type lasting struct {
	mu   sync.Mutex
	told map[types.NamespacedName][]string
}

func newLasting() *lasting {
	return &lasting{told: map[types.NamespacedName][]string{}}
}

// unsaid returns the troubles of now that were not told before. Those told before and gone now may be told again later.
func (l *lasting) unsaid(name types.NamespacedName, now []event) []event {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.told[name]
	var keys []string
	var list []event
	for _, e := range now {
		key := e.key
		if key == "" {
			key = e.note
		}
		if !slices.Contains(before, key) {
			list = append(list, e)
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		delete(l.told, name)
	} else {
		l.told[name] = keys
	}
	return list
}

// forget drops what was told about a GameServer that is gone.
func (l *lasting) forget(name types.NamespacedName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.told, name)
}
