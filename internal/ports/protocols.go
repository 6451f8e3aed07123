// SPDX-License-Identifier: Apache-2.0

package ports

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Protocols is a set of transport protocols. A number is wanted free in all of them.
type Protocols uint8

// The protocols Kubernetes knows. TCP|UDP is what users write as TCPUDP.
const (
	TCP Protocols = 1 << iota
	UDP
	SCTP

	protocolCount = 3
)

// ProtocolOf is the set of one protocol as a container port holds it; empty means TCP, as the API server defaults it.
// Anything else gives the empty set.
func ProtocolOf(p corev1.Protocol) Protocols {
	switch p {
	case corev1.ProtocolTCP, "":
		return TCP
	case corev1.ProtocolUDP:
		return UDP
	case corev1.ProtocolSCTP:
		return SCTP
	}
	return 0
}

// List gives the protocols in the order TCP, UDP, SCTP.
func (p Protocols) List() []corev1.Protocol {
	var list []corev1.Protocol
	for i, name := range [protocolCount]corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP} {
		if p&(1<<i) != 0 {
			list = append(list, name)
		}
	}
	return list
}

// String gives "TCP+UDP".
func (p Protocols) String() string {
	names := make([]string, 0, protocolCount)
	for _, name := range p.List() {
		names = append(names, string(name))
	}
	return strings.Join(names, "+")
}

// each calls f with the index of every protocol of the set.
func (p Protocols) each(f func(index int)) {
	for i := range protocolCount {
		if p&(1<<i) != 0 {
			f(i)
		}
	}
}
