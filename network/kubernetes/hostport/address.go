// SPDX-License-Identifier: Apache-2.0

package hostport

import (
	"net/netip"

	corev1 "k8s.io/api/core/v1"
)

// nodeAddress is how a node is reached: an IP address, a host name, or both. podIP tells the primary IP family of the pod.
//
// An external address comes before an internal one, an IP of the pod's family before another, and the first of equals
// before later ones. An external host name goes with the external IP; an internal one only stands in for it.
// Source: network-kubernetes.md, A5 "Ours" (fault H15).
func nodeAddress(node *corev1.Node, podIP string) (ip, endPoint string) {
	externalIP, internalIP := firstIP(node, corev1.NodeExternalIP, podIP), firstIP(node, corev1.NodeInternalIP, podIP)
	externalName, internalName := firstName(node, corev1.NodeExternalDNS), firstName(node, corev1.NodeInternalDNS)
	switch {
	case externalIP != "" || externalName != "":
		return externalIP, externalName
	case internalIP != "":
		return internalIP, ""
	}
	return "", internalName
}

// firstIP is the first address of a type in the family of podIP, else the first one that is an IP at all.
func firstIP(node *corev1.Node, kind corev1.NodeAddressType, podIP string) string {
	first := ""
	pod, podErr := netip.ParseAddr(podIP)
	for _, address := range node.Status.Addresses {
		if address.Type != kind {
			continue
		}
		parsed, err := netip.ParseAddr(address.Address)
		if err != nil {
			continue
		}
		if podErr == nil && parsed.Unmap().Is4() == pod.Unmap().Is4() {
			return address.Address
		}
		if first == "" {
			first = address.Address
		}
	}
	return first
}

func firstName(node *corev1.Node, kind corev1.NodeAddressType) string {
	for _, address := range node.Status.Addresses {
		if address.Type == kind && address.Address != "" {
			return address.Address
		}
	}
	return ""
}
