// SPDX-License-Identifier: Apache-2.0

package hostport

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthgames/berth/internal/ports"
)

// RecordKey is a pod annotation with the host ports the pod was given: a JSON list of {"container","containerPort",
// "protocol","hostPort"}, an element per number and protocol, in the order of the pod's containers. Written once, by the
// webhook when the pod is created; read by this plugin, which reports these ports whatever the range is by then. Missing:
// the pod was made by OpenKruiseGame, and its host ports inside the range count as given (fault H9).
const RecordKey = "game.kruise.io/host-ports"

// EnvPrefix begins the names of environment variables with the host ports of a container's SameAsHost items: the number of
// the item among them follows, beginning with 0 (fault H18).
const EnvPrefix = "BERTH_HOST_PORT_"

// given is one host port of a pod in one protocol.
type given struct {
	Container     string          `json:"container"`
	ContainerPort int32           `json:"containerPort"`
	Protocol      corev1.Protocol `json:"protocol"`
	HostPort      int32           `json:"hostPort"`
}

// recordOf lists what a pod was given, nil when it was given nothing. A record that cannot be read counts as none.
func recordOf(pod *corev1.Pod, r ports.Range) []given {
	if text, ok := pod.Annotations[RecordKey]; ok {
		var record []given
		if err := json.Unmarshal([]byte(text), &record); err == nil {
			return record
		}
	}
	return fromSpec(pod, r)
}

// fromSpec takes every host port inside the range for one that was given, as OpenKruiseGame does.
func fromSpec(pod *corev1.Pod, r ports.Range) []given {
	var record []given
	for _, c := range runningContainers(&pod.Spec) {
		for _, port := range c.Ports {
			if r.Contains(port.HostPort) {
				record = append(record, given{Container: c.Name, ContainerPort: port.ContainerPort, Protocol: port.Protocol, HostPort: port.HostPort})
			}
		}
	}
	return record
}

func encodeRecord(record []given) (string, error) {
	text, err := json.Marshal(record)
	if err != nil {
		return "", fmt.Errorf("encoding the record of host ports: %w", err)
	}
	return string(text), nil
}

// heldBy are the ports of a record as the ledger counts them.
func heldBy(record []given) []ports.Port {
	held := make([]ports.Port, len(record))
	for i, g := range record {
		held[i] = ports.Port{Protocol: ports.ProtocolOf(g.Protocol), Number: g.HostPort}
	}
	return held
}
