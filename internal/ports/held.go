// SPDX-License-Identifier: Apache-2.0

package ports

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Port is one number in one protocol.
type Port struct {
	Protocol Protocols // exactly one
	Number   int32
}

// HeldBy lists the host ports that a pod holds on its node, as the scheduler counts them: those of its containers and of
// its init containers that keep running; init containers that end do not count. Host addresses are left out: numbers that
// are given out are for every address, so they meet any holder of the number. Repeated ports appear once.
// Source: kubernetes pkg/scheduler/util, GetHostPorts; case A21.
func HeldBy(pod *corev1.Pod) []Port {
	var held []Port
	add := func(c *corev1.Container) {
		for i := range c.Ports {
			protocol := ProtocolOf(c.Ports[i].Protocol)
			if c.Ports[i].HostPort > 0 && protocol != 0 {
				held = appendNew(held, Port{Protocol: protocol, Number: c.Ports[i].HostPort})
			}
		}
	}
	for i := range pod.Spec.InitContainers {
		if c := &pod.Spec.InitContainers[i]; c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			add(c)
		}
	}
	for i := range pod.Spec.Containers {
		add(&pod.Spec.Containers[i])
	}
	return held
}

func appendNew(held []Port, p Port) []Port {
	for _, known := range held {
		if known == p {
			return held
		}
	}
	return append(held, p)
}

// Finished reports whether a pod has ended for good and holds nothing any more. A pod that is being deleted still does
// until it is gone. Source: hostport-at-scheduling-time.md, section 5, F9.
func Finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// Holder is a pod as the ledger sees it.
type Holder struct {
	Name types.NamespacedName
	UID  types.UID
	// Node is empty while the pod has none.
	Node string
	// Held are its host ports, see HeldBy. The ledger keeps the slice.
	Held []Port
	// Requests is what it takes from its node's room.
	Requests Resources
	// Selector says which nodes it may use while it has none. Nil means all.
	Selector Selector
}

// Resources is room on a node, or what a pod takes of it.
type Resources struct {
	MilliCPU, Memory, Pods int64
}

func (r *Resources) add(o Resources, times int64) {
	r.MilliCPU += times * o.MilliCPU
	r.Memory += times * o.Memory
	r.Pods += times * o.Pods
}

// fits reports whether o fits into r.
func (r Resources) fits(o Resources) bool {
	return o.MilliCPU <= r.MilliCPU && o.Memory <= r.Memory && o.Pods <= r.Pods
}

// times is how often o fits into r. What o does not ask for does not limit it.
func (r Resources) times(o Resources) int {
	most := int64(math.MaxInt32)
	for _, x := range [][2]int64{{r.MilliCPU, o.MilliCPU}, {r.Memory, o.Memory}, {r.Pods, o.Pods}} {
		if x[1] > 0 {
			most = min(most, x[0]/x[1])
		}
	}
	return int(most)
}

// Selector says which nodes a pod may use. Pods that may use the same nodes must give the same key.
type Selector interface {
	Key() string
	Matches(node *corev1.Node) bool
}
