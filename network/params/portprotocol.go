// SPDX-License-Identifier: Apache-2.0

package params

import (
	"fmt"
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
	if strings.TrimSpace(text) == "" {
		return nil, []string{"needs at least one port"}
	}
	var (
		items  []PortProtocol
		faults []string
		taken  = map[int32]ports.Protocols{}
	)
	for part := range strings.SplitSeq(text, ",") {
		item, fault := parseItem(strings.TrimSpace(part), sameAsHost)
		if fault != "" {
			faults = append(faults, fault)
			continue
		}
		if !item.SameAsHost {
			if again := taken[item.Port] & item.Protocols; again != 0 {
				faults = append(faults, fmt.Sprintf("port %d is listed twice for %s", item.Port, again))
				continue
			}
			taken[item.Port] |= item.Protocols
		}
		items = append(items, item)
	}
	return items, faults
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
