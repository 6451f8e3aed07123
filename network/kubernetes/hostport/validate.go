// SPDX-License-Identifier: Apache-2.0

package hostport

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/internal/ports"
	"github.com/berthgames/berth/network/framework"
	"github.com/berthgames/berth/network/params"
)

// containerPorts is the name of the one parameter.
const containerPorts = "ContainerPorts"

// config is what the parameters say.
type config struct {
	containers []params.ContainerPorts
}

func spec() params.Spec[config] {
	return params.Spec[config]{
		params.PortsOfContainers(containerPorts, func(c *config) *[]params.ContainerPorts { return &c.containers }).Required().Doc(
			"Ports of a container that get a host port each. The protocol is TCP, UDP, SCTP or TCPUDP, and TCP when missing. " +
				"SameAsHost in place of a port lets the container listen on the number of the host port, which it finds in " +
				"its environment as " + EnvPrefix + "0, " + EnvPrefix + "1, ... A change takes effect when the pod is recreated."),
	}
}

// wants are the protocols of each number that is needed.
func (c config) wants() []ports.Protocols {
	var wants []ports.Protocols
	for _, container := range c.containers {
		for _, item := range container.Ports {
			wants = append(wants, item.Protocols)
		}
	}
	return wants
}

// sameAsHost reports whether a container is to listen on the number of its host port.
func (c config) sameAsHost() bool {
	return slices.ContainsFunc(c.containers, func(container params.ContainerPorts) bool {
		return slices.ContainsFunc(container.Ports, func(item params.PortProtocol) bool { return item.SameAsHost })
	})
}

// Validate implements framework.Plugin.
func (p *Plugin) Validate(req framework.ValidateRequest) framework.Findings {
	_, found := p.read(req)
	return found
}

// read parses the parameters and checks them against the range and the pod template. With errors config is incomplete.
// Source of the faults: network-kubernetes.md, A2 and H21.
func (p *Plugin) read(req framework.ValidateRequest) (config, framework.Findings) {
	cfg, found := p.spec.Parse(req.Params, req.ParamsPath)
	if want, usable := len(cfg.wants()), p.opts.usable(); want > usable {
		found.Errors = append(found.Errors, field.Invalid(req.ParamsPath, want, (&ports.ExhaustedError{
			Kind: kind, Range: p.opts.Range, Want: want, Free: usable, Where: "in the whole range",
		}).Error()))
	}
	if req.Template == nil {
		return cfg, found
	}
	for i, param := range req.Params {
		if strings.TrimSpace(param.Name) != containerPorts {
			continue
		}
		value, faults := params.ContainerPortsParser().Parse(strings.TrimSpace(param.Value))
		if len(faults) > 0 {
			continue // reported already
		}
		if fault := mismatch(value, req.Template); fault != "" {
			found.Errors = append(found.Errors, field.Invalid(req.ParamsPath.Index(i).Child("value"), param.Value, containerPorts+": "+fault))
		}
	}
	return cfg, found
}

// mismatch says why the ports of a container cannot be had from this pod.
func mismatch(value params.ContainerPorts, template *corev1.PodSpec) string {
	if runsOnce(template, value.Container) {
		return fmt.Sprintf("init container %q ends before the game server runs; only init containers with restartPolicy Always can have ports", value.Container)
	}
	names := namesOf(template)
	if !slices.Contains(names, value.Container) {
		return fmt.Sprintf("there is no container %q; containers are %s", value.Container, strings.Join(names, ", "))
	}
	if !template.HostNetwork {
		return ""
	}
	for _, item := range value.Ports {
		if !item.SameAsHost {
			return fmt.Sprintf("item %q: a pod on the host network can only have %s, because its container ports and host ports are the same",
				item, params.SameAsHost)
		}
	}
	return ""
}

func runsOnce(template *corev1.PodSpec, name string) bool {
	return slices.ContainsFunc(template.InitContainers, func(c corev1.Container) bool { return c.Name == name && !isSidecar(&c) })
}

// isSidecar reports whether an init container keeps running beside the others.
func isSidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

func namesOf(template *corev1.PodSpec) []string {
	var names []string
	for _, c := range runningContainers(template) {
		names = append(names, c.Name)
	}
	return names
}

// runningContainers are the containers that can have ports, those of the game first.
func runningContainers(spec *corev1.PodSpec) []*corev1.Container {
	var containers []*corev1.Container
	for i := range spec.Containers {
		containers = append(containers, &spec.Containers[i])
	}
	for i := range spec.InitContainers {
		if isSidecar(&spec.InitContainers[i]) {
			containers = append(containers, &spec.InitContainers[i])
		}
	}
	return containers
}

// inPodOrder sorts the parameters by the place of their containers in the pod.
func inPodOrder(containers []params.ContainerPorts, spec *corev1.PodSpec) []params.ContainerPorts {
	names := namesOf(spec)
	sorted := slices.Clone(containers)
	slices.SortStableFunc(sorted, func(a, b params.ContainerPorts) int {
		return slices.Index(names, a.Container) - slices.Index(names, b.Container)
	})
	return sorted
}

// confPath is where the parameters of a pod stand.
func confPath() *field.Path {
	return field.NewPath("metadata", "annotations").Key(gamev1alpha1.GameServerNetworkConf)
}
