// SPDX-License-Identifier: Apache-2.0

package ports

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// nodeTable numbers the nodes, so that sets of them are bits. A number is used again when its node, and all pods on it,
// are gone.
type nodeTable struct {
	list   []nodeState
	byName map[string]int
	unused []int
}

type nodeState struct {
	name        string
	node        *corev1.Node // nil while only pods speak of it
	pods        int
	holders     map[Port]int // how many pods hold a number of the range
	requested   Resources
	allocatable Resources
}

// index is the number of a node, which gets one if it has none.
func (t *nodeTable) index(name string) int {
	if i, ok := t.byName[name]; ok {
		return i
	}
	var i int
	if last := len(t.unused) - 1; last >= 0 {
		i, t.unused = t.unused[last], t.unused[:last]
	} else {
		i = len(t.list)
		t.list = append(t.list, nodeState{})
	}
	t.list[i] = nodeState{name: name}
	t.byName[name] = i
	return i
}

// free gives the number of a node back if nobody speaks of it any more.
func (t *nodeTable) free(i int) {
	n := &t.list[i]
	if n.node != nil || n.pods > 0 {
		return
	}
	delete(t.byName, n.name)
	t.list[i] = nodeState{}
	t.unused = append(t.unused, i)
}

// room finds those of nodes where a pod with these requests fits, and how many such pods a node can hold that is the
// largest in every respect.
func (t *nodeTable) room(nodes NodeSet, requests Resources) (room NodeSet, slots int) {
	room = make(NodeSet, len(nodes))
	var largest Resources
	nodes.each(func(i int) {
		n := &t.list[i]
		largest.MilliCPU = max(largest.MilliCPU, n.allocatable.MilliCPU)
		largest.Memory = max(largest.Memory, n.allocatable.Memory)
		largest.Pods = max(largest.Pods, n.allocatable.Pods)
		left := n.allocatable
		left.add(n.requested, -1)
		if left.fits(requests) {
			room.Add(i)
		}
	})
	return room, largest.times(requests)
}

// resourcesOf reads cpu, memory and number of pods.
func resourcesOf(list corev1.ResourceList) Resources {
	return Resources{MilliCPU: list.Cpu().MilliValue(), Memory: list.Memory().Value(), Pods: list.Pods().Value()}
}

// selectAlike reports whether no selector can tell the two states of a node apart.
func selectAlike(a, b *corev1.Node) bool {
	return a.Spec.Unschedulable == b.Spec.Unschedulable && maps.Equal(a.Labels, b.Labels) &&
		slices.EqualFunc(a.Spec.Taints, b.Spec.Taints, func(x, y corev1.Taint) bool {
			return x.Key == y.Key && x.Value == y.Value && x.Effect == y.Effect
		})
}
