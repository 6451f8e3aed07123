// SPDX-License-Identifier: Apache-2.0

package params

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthgames/berth/internal/ports"
)

// SameAsHost stands where a port number is expected: the container listens on the very number that is opened outside.
const SameAsHost = "SameAsHost"

// tcpUDP is how users write both protocols on one number.
const tcpUDP = "TCPUDP"

// PortProtocol is one item of a list of ports: "80", "80/TCP", "8021/UDP", "80/TCPUDP", "SameAsHost/UDP".
type PortProtocol struct {
	// Port is the number inside the container, 0 with SameAsHost.
	Port int32
	// SameAsHost means that the number is not known yet.
	SameAsHost bool
	// Protocols has both for TCPUDP.
	Protocols ports.Protocols
}

// String gives the item in its full form.
func (p PortProtocol) String() string {
	port, protocol := strconv.Itoa(int(p.Port)), p.Protocols.String()
	if p.SameAsHost {
		port = SameAsHost
	}
	if p.Protocols == ports.TCP|ports.UDP {
		protocol = tcpUDP
	}
	return port + "/" + protocol
}

// ContainerPorts are the ports of one container.
type ContainerPorts struct {
	Container string
	Ports     []PortProtocol
}

// PortProtocols is a parameter that takes a list of ports with their protocols.
func PortProtocols[C any](name string, field func(*C) *[]PortProtocol) Value[C, []PortProtocol] {
	return One(name, field, PortProtocolsParser())
}

// PortsOfContainers is a parameter that takes the ports of one container. It may be given several times, also for the same
// container.
func PortsOfContainers[C any](name string, field func(*C) *[]ContainerPorts) Value[C, ContainerPorts] {
	v := Each(name, field, ContainerPortsParser())
	v.store = func(c *C, more ContainerPorts) []string {
		all := field(c)
		i := slices.IndexFunc(*all, func(known ContainerPorts) bool { return known.Container == more.Container })
		if i < 0 {
			*all = append(*all, more)
			return nil
		}
		merged := slices.Concat((*all)[i].Ports, more.Ports)
		if faults := repeated(merged); len(faults) > 0 {
			return faults
		}
		(*all)[i].Ports = merged
		return nil
	}
	return v
}

// PortProtocolsParser takes "port/protocol,port/protocol,...". The protocol is TCP, UDP, SCTP or TCPUDP in any case, TCP when
// missing. No port may occur twice in one protocol.
func PortProtocolsParser() Parser[[]PortProtocol] {
	return Parser[[]PortProtocol]{Type: "port/protocol,port/protocol,...", Parse: func(text string) ([]PortProtocol, []string) {
		return parsePorts(text, false)
	}}
}

// ContainerPortsParser takes "container:port/protocol,port/protocol,..." with ports as PortProtocolsParser, SameAsHost included.
func ContainerPortsParser() Parser[ContainerPorts] {
	const form = "container:port/protocol,port/protocol,..."
	return Parser[ContainerPorts]{Type: form, Parse: func(text string) (ContainerPorts, []string) {
		container, list, ok := strings.Cut(text, ":")
		container = strings.TrimSpace(container)
		if !ok || container == "" || strings.Contains(list, ":") {
			return ContainerPorts{}, []string{"must have the form " + form}
		}
		items, faults := parsePorts(list, true)
		return ContainerPorts{Container: container, Ports: items}, faults
	}}
}

func parsePorts(text string, sameAsHost bool) ([]PortProtocol, []string) {
	var (
		items  []PortProtocol
		faults []string
	)
	for part := range strings.SplitSeq(text, ",") {
		item, fault := parseItem(strings.TrimSpace(part), sameAsHost)
		if fault != "" {
			faults = append(faults, fault)
			continue
		}
		items = append(items, item)
	}
	return items, append(faults, repeated(items)...)
}

// repeated reports fixed ports that occur twice in one protocol. Every SameAsHost is a number of its own.
func repeated(items []PortProtocol) []string {
	var faults []string
	taken := map[int32]ports.Protocols{}
	for _, item := range items {
		if again := taken[item.Port] & item.Protocols; again != 0 && !item.SameAsHost {
			faults = append(faults, fmt.Sprintf("port %d/%s is given twice", item.Port, again))
		}
		taken[item.Port] |= item.Protocols
	}
	return faults
}

func parseItem(text string, sameAsHost bool) (PortProtocol, string) {
	number, protocol, hasProtocol := strings.Cut(text, "/")
	number, protocol = strings.TrimSpace(number), strings.TrimSpace(protocol)
	if strings.Contains(protocol, "/") {
		return PortProtocol{}, fmt.Sprintf("item %q must have the form port/protocol", text)
	}
	item := PortProtocol{Protocols: ports.TCP}
	if hasProtocol {
		item.Protocols = parseProtocol(protocol)
		if item.Protocols == 0 {
			return PortProtocol{}, fmt.Sprintf("item %q: protocol must be TCP, UDP, SCTP or %s", text, tcpUDP)
		}
	}
	if sameAsHost && strings.EqualFold(number, SameAsHost) {
		item.SameAsHost = true
		return item, ""
	}
	port, fault := parsePort(number)
	if fault != "" {
		if sameAsHost {
			fault += " or " + SameAsHost
		}
		return PortProtocol{}, fmt.Sprintf("item %q: port %s", text, fault)
	}
	item.Port = port
	return item, ""
}

func parseProtocol(text string) ports.Protocols {
	switch name := strings.ToUpper(text); name {
	case "":
		return 0
	case tcpUDP:
		return ports.TCP | ports.UDP
	default:
		return ports.ProtocolOf(corev1.Protocol(name))
	}
}

// parsePort reads a port number; the text says what is allowed when it is none.
func parsePort(text string) (int32, string) {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 1 || n > int64(ports.MaxPort) {
		return 0, fmt.Sprintf("must be a number from 1 to %d", ports.MaxPort)
	}
	return int32(n), ""
}
