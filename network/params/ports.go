// SPDX-License-Identifier: Apache-2.0

package params

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

const (
	// sameAsHost is the word for a container port that takes the number of its host port.
	sameAsHost = "SameAsHost"
	// bothProtocols is the word for one number in TCP and UDP.
	bothProtocols = "TCPUDP"
	// maxPort is the highest port number there is.
	maxPort = 65535
)

// Port is one item of a port list. It stands for one number, in one or two protocols.
type Port struct {
	// Number is the port, 1 to 65535; 0 with SameAsHost.
	Number int32
	// SameAsHost gives the port the number of its host port.
	SameAsHost bool
	// Protocols are TCP, UDP or SCTP, or TCP and UDP, in this order.
	Protocols []corev1.Protocol
}

// String writes the port the way users do.
func (p Port) String() string {
	number := strconv.Itoa(int(p.Number))
	if p.SameAsHost {
		number = sameAsHost
	}
	names := make([]string, len(p.Protocols))
	for i, protocol := range p.Protocols {
		names[i] = string(protocol)
	}
	return number + "/" + strings.Join(names, "")
}

// ContainerPorts are the ports of one container.
type ContainerPorts struct {
	Container string
	Ports     []Port
}

// PortProtocols is a list such as "80,7777/UDP,8080/TCPUDP". Without a protocol a port is TCP.
func PortProtocols[C any](name string, at func(*C) *[]Port) Param[C] {
	return Param[C]{doc: Doc{Name: name, Type: "port/protocol,..."}, read: func(c *C, text string) []error {
		var problems []error
		*at(c), problems = appendPorts(nil, text, false)
		return problems
	}}
}

// PortsOfContainers is "container:port/protocol,...", and may be repeated, once or several times for a container. The
// word SameAsHost in place of a port gives it the number of its host port.
// Source: network-kubernetes.md, section A2.
func PortsOfContainers[C any](name string, at func(*C) *[]ContainerPorts) Param[C] {
	return Param[C]{doc: Doc{Name: name, Type: "container:port/protocol,...", Repeated: true}, read: func(c *C, text string) []error {
		container, list, found := strings.Cut(text, ":")
		container = strings.TrimSpace(container)
		if !found || container == "" || strings.Contains(list, ":") {
			return []error{fmt.Errorf("must have the form container:port/protocol,...")}
		}
		all := at(c)
		i := slices.IndexFunc(*all, func(p ContainerPorts) bool { return p.Container == container })
		if i < 0 {
			i = len(*all)
			*all = append(*all, ContainerPorts{Container: container})
		}
		var problems []error
		(*all)[i].Ports, problems = appendPorts((*all)[i].Ports, list, true)
		return problems
	}}
}

// appendPorts adds the items of a list to ports. A port and protocol that is there already is a problem.
func appendPorts(ports []Port, list string, hostAllowed bool) ([]Port, []error) {
	var problems []error
	for item := range strings.SplitSeq(list, ",") {
		port, err := parsePort(strings.TrimSpace(item), hostAllowed)
		if err == nil {
			err = alreadyIn(ports, port)
		}
		if err != nil {
			problems = append(problems, err)
			continue
		}
		ports = append(ports, port)
	}
	return ports, problems
}

func parsePort(item string, hostAllowed bool) (Port, error) {
	number, protocol, given := strings.Cut(item, "/")
	number, protocol = strings.TrimSpace(number), strings.ToUpper(strings.TrimSpace(protocol))
	if !given {
		protocol = string(corev1.ProtocolTCP)
	}
	port := Port{}
	switch protocol {
	case string(corev1.ProtocolTCP), string(corev1.ProtocolUDP), string(corev1.ProtocolSCTP):
		port.Protocols = []corev1.Protocol{corev1.Protocol(protocol)}
	case bothProtocols:
		port.Protocols = []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP}
	default:
		return Port{}, fmt.Errorf("protocol of %q must be TCP, UDP, SCTP or TCPUDP", item)
	}
	if hostAllowed && strings.EqualFold(number, sameAsHost) {
		port.SameAsHost = true
		return port, nil
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || strings.HasPrefix(number, "+") {
		return Port{}, fmt.Errorf("port of %q must be a number from 1 to %d%s", item, maxPort, orSameAsHost(hostAllowed))
	}
	if n < 1 || n > maxPort {
		return Port{}, fmt.Errorf("port of %q is out of range, must be from 1 to %d", item, maxPort)
	}
	port.Number = int32(n)
	return port, nil
}

func orSameAsHost(allowed bool) string {
	if allowed {
		return ", or " + sameAsHost
	}
	return ""
}

// alreadyIn refuses a fixed number whose protocol is taken. Every SameAsHost is a number of its own.
func alreadyIn(ports []Port, port Port) error {
	if port.SameAsHost {
		return nil
	}
	for _, other := range ports {
		for _, protocol := range port.Protocols {
			if !other.SameAsHost && other.Number == port.Number && slices.Contains(other.Protocols, protocol) {
				return fmt.Errorf("port %d/%s is given twice", port.Number, protocol)
			}
		}
	}
	return nil
}
