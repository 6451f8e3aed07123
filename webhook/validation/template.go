// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

// template checks the parts of the pod template that would otherwise fail late, when the workload's controller creates
// the workload or a pod: the schema leaves the template open (fault A-8).
func (c *checker) template() {
	if !c.changed(func(s *gamev1alpha1.GameServerSetSpec) any { return s.GameServerTemplate }) {
		return
	}
	path := field.NewPath("spec", "gameServerTemplate")
	specPath := path.Child("spec")
	spec := c.podSpec()
	if len(spec.Containers) == 0 {
		c.fault(field.Required(specPath.Child("containers"), "a game server needs at least one container"))
	}
	seen := sets.New[string]()
	c.containers(specPath.Child("initContainers"), spec.InitContainers, seen)
	c.containers(specPath.Child("containers"), spec.Containers, seen)
	if policy := spec.RestartPolicy; policy != "" && policy != corev1.RestartPolicyAlways {
		c.fault(field.NotSupported(specPath.Child("restartPolicy"), policy, []corev1.RestartPolicy{corev1.RestartPolicyAlways}))
	}
	c.volumeClaims(path.Child("volumeClaimTemplates"))
	c.metadata(path.Child("metadata"))
}

// containers checks names and ports. seen holds the names that are taken.
func (c *checker) containers(path *field.Path, containers []corev1.Container, seen sets.Set[string]) {
	for i := range containers {
		container := &containers[i]
		namePath := path.Index(i).Child("name")
		switch {
		case container.Name == "":
			c.fault(field.Required(namePath, "a container needs a name"))
		case seen.Has(container.Name):
			c.fault(field.Duplicate(namePath, container.Name))
		default:
			for _, problem := range validation.IsDNS1123Label(container.Name) {
				c.fault(field.Invalid(namePath, container.Name, problem))
			}
		}
		seen.Insert(container.Name)
		if container.Image == "" {
			c.fault(field.Required(path.Index(i).Child("image"), "a container needs an image"))
		}
		c.containerPorts(path.Index(i).Child("ports"), container.Ports)
	}
}

func (c *checker) containerPorts(path *field.Path, ports []corev1.ContainerPort) {
	names := sets.New[string]()
	for i, port := range ports {
		at := path.Index(i)
		for _, problem := range validation.IsValidPortNum(int(port.ContainerPort)) {
			c.fault(field.Invalid(at.Child("containerPort"), port.ContainerPort, problem))
		}
		if port.HostPort != 0 {
			for _, problem := range validation.IsValidPortNum(int(port.HostPort)) {
				c.fault(field.Invalid(at.Child("hostPort"), port.HostPort, problem))
			}
		}
		switch port.Protocol {
		case "", corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP:
		default:
			c.fault(field.NotSupported(at.Child("protocol"), port.Protocol,
				[]corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP}))
		}
		if port.Name == "" {
			continue
		}
		for _, problem := range validation.IsValidPortName(port.Name) {
			c.fault(field.Invalid(at.Child("name"), port.Name, problem))
		}
		if names.Has(port.Name) {
			c.fault(field.Duplicate(at.Child("name"), port.Name))
		}
		names.Insert(port.Name)
	}
}

func (c *checker) volumeClaims(path *field.Path) {
	names := sets.New[string]()
	for i := range c.set.Spec.GameServerTemplate.VolumeClaimTemplates {
		name := c.set.Spec.GameServerTemplate.VolumeClaimTemplates[i].Name
		at := path.Index(i).Child("metadata", "name")
		switch {
		case name == "":
			c.fault(field.Required(at, "a volume claim needs a name; its volume has the same"))
		case names.Has(name):
			c.fault(field.Duplicate(at, name))
		}
		names.Insert(name)
	}
}

// metadata checks what becomes labels and annotations of every pod, and warns of a label that the controller overwrites.
func (c *checker) metadata(path *field.Path) {
	const key = gamev1alpha1.GameServerOwnerGssKey
	template := &c.set.Spec.GameServerTemplate
	c.fault(metav1validation.ValidateLabels(template.Labels, path.Child("labels"))...)
	c.fault(apivalidation.ValidateAnnotations(template.Annotations, path.Child("annotations"))...)
	if owner, given := template.Labels[key]; given && owner != c.set.Name {
		c.warn(path.Child("labels").Key(key), "%q is replaced by the name of the set", owner)
	}
}

// missingContainer says that name is none of the template's containers.
func missingContainer(path *field.Path, name string, spec *corev1.PodSpec) *field.Error {
	return field.Invalid(path, name, fmt.Sprintf("is no container of the template, which has %q", containerNames(spec)))
}
