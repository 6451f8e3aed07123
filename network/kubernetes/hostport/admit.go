// SPDX-License-Identifier: Apache-2.0

package hostport

import (
	"context"
	"errors"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/internal/ports"
	"github.com/berthgames/berth/network/framework"
	"github.com/berthgames/berth/network/params"
)

// Admit implements framework.Admitter. It gives the pod its host ports: entries appended to the ports of its containers,
// the record of them, and environment variables for SameAsHost. Ports the template has are left alone. A pod that no node
// can take now is admitted too, so that it waits where people look for it; only a range that is too small refuses it.
func (p *Plugin) Admit(ctx context.Context, req framework.AdmitRequest) error {
	cfg, found := p.read(framework.ValidateRequest{Params: req.Params, ParamsPath: confPath(), Template: &req.Pod.Spec})
	if err := framework.AsParameterError(found.Errors); err != nil {
		return err
	}
	if !p.Observed() {
		return framework.Retryf("the host ports in use are not known yet")
	}
	cfg.containers = inPodOrder(cfg.containers, &req.Pod.Spec)
	if p.alreadyShaped(req.Pod, cfg) {
		return nil
	}
	selector, err := p.selectorOf(ctx, req.Pod)
	if err != nil {
		return err
	}
	numbers, err := p.ledger.Grant(ports.Request{
		Pod:      types.NamespacedName{Namespace: req.Pod.Namespace, Name: req.Pod.Name},
		ID:       req.RequestUID,
		Wants:    cfg.wants(),
		Own:      ownPorts(&req.Pod.Spec, ports.HeldBy(req.Pod), cfg),
		Selector: selector,
		Requests: requestsOf(req.Pod),
		Start:    startOf(req.Pod),
		DryRun:   req.DryRun,
	})
	if err != nil {
		var exhausted *ports.ExhaustedError
		if errors.As(err, &exhausted) {
			exhausted.Kind, exhausted.Where = kind, "in the whole range"
		}
		return err
	}
	return shape(req.Pod, cfg, numbers)
}

// ownPorts are the numbers that the pod itself uses: the host ports it holds anyhow, and, when a container is to listen on
// the number of its host port, all that its containers listen on, for they share one network namespace.
func ownPorts(spec *corev1.PodSpec, held []ports.Port, cfg config) []ports.Port {
	if !cfg.sameAsHost() {
		return held
	}
	own := slices.Clone(held)
	for _, container := range runningContainers(spec) {
		for _, port := range container.Ports {
			own = append(own, ports.Port{Protocol: ports.ProtocolOf(port.Protocol), Number: port.ContainerPort})
		}
	}
	for _, wanted := range cfg.containers {
		for _, item := range wanted.Ports {
			for _, protocol := range item.Protocols.List() {
				own = append(own, ports.Port{Protocol: ports.ProtocolOf(protocol), Number: item.Port})
			}
		}
	}
	return own
}

// startOf makes pods of one set begin their search at consecutive numbers, whichever replica answers.
func startOf(pod *corev1.Pod) uint32 {
	set := pod.Labels[gamev1alpha1.GameServerOwnerGssKey]
	h := fnv.New32a()
	_, _ = h.Write([]byte(pod.Namespace + "/" + set))
	if dash := strings.LastIndexByte(pod.Name, '-'); dash >= 0 {
		if ordinal, err := strconv.ParseUint(pod.Name[dash+1:], 10, 32); err == nil {
			return h.Sum32() + uint32(ordinal)
		}
	}
	_, _ = h.Write([]byte("/" + pod.Name))
	return h.Sum32()
}

// shape writes numbers into the pod, in the order of cfg.
func shape(pod *corev1.Pod, cfg config, numbers []int32) error {
	var record []given
	for _, wanted := range cfg.containers {
		container := containerOf(&pod.Spec, wanted.Container)
		var env []corev1.EnvVar
		for _, item := range wanted.Ports {
			hostPort := numbers[0]
			numbers = numbers[1:]
			containerPort := item.Port
			if item.SameAsHost {
				containerPort = hostPort
				env = append(env, corev1.EnvVar{Name: EnvPrefix + strconv.Itoa(len(env)), Value: strconv.Itoa(int(hostPort))})
			}
			for _, protocol := range item.Protocols.List() {
				container.Ports = append(container.Ports, corev1.ContainerPort{ContainerPort: containerPort, HostPort: hostPort, Protocol: protocol})
				record = append(record, given{Container: container.Name, ContainerPort: containerPort, Protocol: protocol, HostPort: hostPort})
			}
		}
		addEnv(container, env)
	}
	text, err := encodeRecord(record)
	if err != nil {
		return err
	}
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Annotations[RecordKey] = text
	return nil
}

// addEnv puts variables in front, so that the user's own can refer to them. A variable that the user set stays the user's.
func addEnv(container *corev1.Container, env []corev1.EnvVar) {
	env = slices.DeleteFunc(env, func(ours corev1.EnvVar) bool {
		return slices.ContainsFunc(container.Env, func(theirs corev1.EnvVar) bool { return theirs.Name == ours.Name })
	})
	container.Env = append(env, container.Env...)
}

func containerOf(spec *corev1.PodSpec, name string) *corev1.Container {
	containers := runningContainers(spec)
	return containers[slices.IndexFunc(containers, func(c *corev1.Container) bool { return c.Name == name })]
}

// alreadyShaped reports whether the pod carries a record that suits its parameters and its ports: the API server may ask
// again about a pod that was answered before, with the changes in it.
func (p *Plugin) alreadyShaped(pod *corev1.Pod, cfg config) bool {
	if pod.Annotations[RecordKey] == "" {
		return false
	}
	record := recordOf(pod, p.opts.Range)
	for _, wanted := range cfg.containers {
		for _, item := range wanted.Ports {
			for _, protocol := range item.Protocols.List() {
				if len(record) == 0 || !suits(record[0], wanted.Container, item, protocol) || !inSpec(record[0], &pod.Spec) {
					return false
				}
				record = record[1:]
			}
		}
	}
	return len(record) == 0
}

func suits(g given, container string, item params.PortProtocol, protocol corev1.Protocol) bool {
	if item.SameAsHost {
		return g.Container == container && g.Protocol == protocol && g.ContainerPort == g.HostPort
	}
	return g.Container == container && g.Protocol == protocol && g.ContainerPort == item.Port
}

func inSpec(g given, spec *corev1.PodSpec) bool {
	return slices.ContainsFunc(containerOf(spec, g.Container).Ports, func(port corev1.ContainerPort) bool {
		return port.HostPort == g.HostPort && port.ContainerPort == g.ContainerPort && port.Protocol == g.Protocol
	})
}
