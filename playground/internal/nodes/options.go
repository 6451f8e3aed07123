// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"net/netip"

	corev1 "k8s.io/api/core/v1"
)

// Options describe a group of equal nodes. The zero value is no group; start from [Flags.Options].
type Options struct {
	// Count is the number of nodes, at least 0. The nodes are called NamePrefix plus 0 … Count-1.
	Count int
	// NamePrefix starts the name of every node, for example "node-".
	NamePrefix string
	// Labels are set on every node besides the well-known ones (host name, operating system, architecture, zone).
	Labels map[string]string
	// Taints are set on every node.
	Taints []corev1.Taint
	// Capacity is both capacity and allocatable of every node.
	Capacity corev1.ResourceList
	// Zones are given to the nodes in turn as topology.kubernetes.io/zone. Empty means no zone label.
	Zones []string
	// InternalIPs and ExternalIPs are the ranges of node addresses. Within one address family the ranges are used up
	// one after the other; each node gets one address of every family that occurs. Empty means no such address.
	InternalIPs, ExternalIPs []netip.Prefix
	// PodCIDRs holds at most one range per address family, from which every node gets a block for its pods.
	PodCIDRs []netip.Prefix
	// AddressOffset is the number of addresses and pod blocks that other groups of nodes with the same ranges use.
	AddressOffset int
}
