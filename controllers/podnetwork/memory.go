// SPDX-License-Identifier: Apache-2.0

package podnetwork

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

// memory holds what was last said of each pod: the trouble that was told, because a trouble that lasts is told once, and
// the status that was written, so that the event of our own write starts no pass. Nothing depends on it but noise: after a
// restart what still lasts is told once more. It holds an entry per pod for as long as the pod is there. Safe for
// concurrent use.
type memory struct {
	mu   sync.Mutex
	pods map[types.NamespacedName]said
}

type said struct {
	uid     types.UID
	trouble trouble
	status  string
}

func newMemory() *memory { return &memory{pods: map[types.NamespacedName]said{}} }

// isNews reports whether a trouble is to be told, and remembers it. No trouble ends the one before.
func (m *memory) isNews(pod *corev1.Pod, now trouble) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.of(pod)
	if now == before.trouble {
		return false
	}
	m.keep(pod, said{uid: pod.UID, status: before.status, trouble: now})
	return now != (trouble{})
}

// writes remembers the status that is about to be written; afterwards would be too late for its event.
func (m *memory) writes(pod *corev1.Pod, status string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.keep(pod, said{uid: pod.UID, status: status, trouble: m.of(pod).trouble})
}

// isOwn reports whether the status of a pod is what was written here last.
func (m *memory) isOwn(pod *corev1.Pod) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	status := pod.Annotations[gamev1alpha1.GameServerNetworkStatus]
	return status != "" && m.of(pod).status == status
}

// forget drops a pod that is gone.
func (m *memory) forget(pod types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.pods, pod)
}

// of is what was said of this pod, not of an earlier one of its name.
func (m *memory) of(pod *corev1.Pod) said {
	if entry := m.pods[client.ObjectKeyFromObject(pod)]; entry.uid == pod.UID {
		return entry
	}
	return said{}
}

func (m *memory) keep(pod *corev1.Pod, entry said) { m.pods[client.ObjectKeyFromObject(pod)] = entry }
