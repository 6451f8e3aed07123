// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"fmt"
	"maps"
	"math/bits"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-base/version"
)

// annotationFake marks the nodes that the simulated kubelet looks after.
const annotationFake = "kwok.x-k8s.io/node"

// plan knows the nodes of one group before they exist. It is pure: equal options give equal nodes.
type plan struct {
	options            Options
	internal, external []family
	// podBits is the number of host bits of a node's block of pod addresses.
	podBits int
}

// newPlan checks that the ranges have room for all nodes.
func newPlan(o Options) (plan, *field.Error) {
	p := plan{
		options:  o,
		internal: families(o.InternalIPs),
		external: families(o.ExternalIPs),
		podBits:  podBits(o.Capacity.Pods().Value()),
	}
	need := o.AddressOffset + o.Count
	for _, f := range p.internal {
		if room := f.room(); room < need {
			return plan{}, noRoom("node-internal-ips", f, need, fmt.Sprintf("%d addresses", room))
		}
	}
	for _, f := range p.external {
		if room := f.room(); room < need {
			return plan{}, noRoom("node-external-ips", f, need, fmt.Sprintf("%d addresses", room))
		}
	}
	for _, cidr := range o.PodCIDRs {
		if room := pow2(cidr.Addr().BitLen() - cidr.Bits() - p.podBits); room < need {
			return plan{}, noRoom("pod-cidrs", family{cidr}, need, fmt.Sprintf("%d blocks of %d addresses", room, pow2(p.podBits)))
		}
	}
	return p, nil
}

// podBits is the number of host bits in a block that has addresses for so many pods, besides the two addresses of an
// IPv4 range that no machine may have.
func podBits(pods int64) int { return bits.Len64(uint64(max(pods, 1)) + 1) }

func noRoom(flag string, f family, need int, has string) *field.Error {
	return field.Invalid(flagPath(flag), fmt.Sprint(f), fmt.Sprintf("has %s, needed are %d", has, need))
}

func (p plan) name(i int) string { return p.options.NamePrefix + strconv.Itoa(i) }

// node returns the i-th node as it is to be, without conditions.
func (p plan) node(i int) *corev1.Node {
	name := p.name(i)
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Labels:      p.labels(i),
			Annotations: map[string]string{annotationFake: "fake"},
		},
		Spec: corev1.NodeSpec{
			ProviderID: "playground://" + name,
			Taints:     p.options.Taints,
		},
		Status: corev1.NodeStatus{
			Capacity:    p.options.Capacity,
			Allocatable: p.options.Capacity,
			Addresses:   p.addresses(i),
			NodeInfo: corev1.NodeSystemInfo{
				Architecture:            "amd64",
				OperatingSystem:         "linux",
				OSImage:                 "Playground",
				KernelVersion:           "fake",
				ContainerRuntimeVersion: "fake://1.0.0",
				KubeletVersion:          version.Get().GitVersion,
			},
		},
	}
	for _, cidr := range p.options.PodCIDRs {
		node.Spec.PodCIDRs = append(node.Spec.PodCIDRs, block(cidr, p.podBits, p.options.AddressOffset+i).String())
	}
	if len(node.Spec.PodCIDRs) > 0 {
		node.Spec.PodCIDR = node.Spec.PodCIDRs[0]
	}
	return node
}

func (p plan) labels(i int) map[string]string {
	labels := map[string]string{
		corev1.LabelHostname:   p.name(i),
		corev1.LabelOSStable:   "linux",
		corev1.LabelArchStable: "amd64",
	}
	if zones := p.options.Zones; len(zones) > 0 {
		labels[corev1.LabelTopologyZone] = zones[i%len(zones)]
	}
	maps.Copy(labels, p.options.Labels)
	return labels
}

func (p plan) addresses(i int) []corev1.NodeAddress {
	var out []corev1.NodeAddress
	for _, f := range p.internal {
		out = append(out, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: f.address(p.options.AddressOffset + i).String()})
	}
	for _, f := range p.external {
		out = append(out, corev1.NodeAddress{Type: corev1.NodeExternalIP, Address: f.address(p.options.AddressOffset + i).String()})
	}
	return append(out, corev1.NodeAddress{Type: corev1.NodeHostName, Address: p.name(i)})
}
