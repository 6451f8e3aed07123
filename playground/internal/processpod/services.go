// SPDX-License-Identifier: Apache-2.0

package processpod

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/berthgames/berth/playground/internal/freeport"
)

// backend is a process pod as a Service sees it.
type backend struct {
	namespace string
	labels    map[string]string
	container *corev1.Container
	ready     bool
	local     func(containerPort int32) int
}

// endpoints returns the loopback addresses behind a port of a Service, in the order of backends: those of the ready
// pods that the selector matches. None is an error that says why.
func endpoints(service *corev1.Service, port int32, backends []backend) ([]string, error) {
	name := service.Namespace + "/" + service.Name
	var target *corev1.ServicePort
	for i := range service.Spec.Ports {
		if service.Spec.Ports[i].Port == port {
			target = &service.Spec.Ports[i]
		}
	}
	if target == nil {
		return nil, fmt.Errorf("service %s has no port %d", name, port)
	}
	if len(service.Spec.Selector) == 0 {
		return nil, fmt.Errorf("service %s has no selector", name)
	}
	selector := labels.SelectorFromSet(service.Spec.Selector)
	var addresses []string
	matching := 0
	for _, b := range backends {
		if b.namespace != service.Namespace || !selector.Matches(labels.Set(b.labels)) {
			continue
		}
		matching++
		containerPort, ok := containerPort(b.container, target.TargetPort)
		if local := b.local(containerPort); ok && b.ready && local != 0 {
			addresses = append(addresses, freeport.Address(local))
		}
	}
	switch {
	case matching == 0:
		return nil, fmt.Errorf("no process pod matches the selector %s of service %s", selector, name)
	case len(addresses) == 0:
		return nil, fmt.Errorf("none of the %d process pods of service %s is ready at port %s", matching, name, target.TargetPort.String())
	}
	return addresses, nil
}
