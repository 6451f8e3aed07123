// SPDX-License-Identifier: Apache-2.0

package processpod

import (
	"fmt"
	"maps"
	"path"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Check returns what of a Deployment cannot be run as process pods. binaries maps the base name of a command to a
// local program.
func Check(d *appsv1.Deployment, binaries map[string]string) field.ErrorList {
	root := field.NewPath("spec", "template", "spec")
	spec := &d.Spec.Template.Spec
	var errs field.ErrorList
	if len(spec.InitContainers) > 0 {
		errs = append(errs, field.Forbidden(root.Child("initContainers"), "process pods have no init containers"))
	}
	for i, volume := range spec.Volumes {
		errs = append(errs, checkVolume(root.Child("volumes").Index(i), volume)...)
	}
	containers := root.Child("containers")
	if len(spec.Containers) != 1 {
		return append(errs, field.Invalid(containers, len(spec.Containers), "process pods have exactly one container"))
	}
	return append(errs, checkContainer(containers.Index(0), &spec.Containers[0], binaries)...)
}

func checkVolume(at *field.Path, v corev1.Volume) field.ErrorList {
	switch {
	case v.ConfigMap != nil, v.Secret != nil, v.EmptyDir != nil:
		return nil
	case v.Projected != nil:
		var errs field.ErrorList
		for i, source := range v.Projected.Sources {
			if source.ConfigMap == nil && source.Secret == nil && source.ServiceAccountToken == nil {
				errs = append(errs, field.Forbidden(at.Child("projected", "sources").Index(i),
					"only configMap, secret and serviceAccountToken are supported"))
			}
		}
		return errs
	default:
		return field.ErrorList{field.Forbidden(at, "only configMap, secret, projected and emptyDir are supported")}
	}
}

func checkContainer(at *field.Path, c *corev1.Container, binaries map[string]string) field.ErrorList {
	var errs field.ErrorList
	if len(c.Command) == 0 {
		errs = append(errs, field.Required(at.Child("command"), "the program cannot be read from an image"))
	} else if _, ok := binaries[path.Base(c.Command[0])]; !ok {
		errs = append(errs, field.NotSupported(at.Child("command").Index(0), c.Command[0], slices.Sorted(maps.Keys(binaries))))
	}
	if len(c.EnvFrom) > 0 {
		errs = append(errs, field.Forbidden(at.Child("envFrom"), "list the variables in env"))
	}
	ports := declared(c)
	for i, e := range c.Env {
		variable := at.Child("env").Index(i)
		if e.ValueFrom != nil && e.ValueFrom.FieldRef == nil && e.ValueFrom.ConfigMapKeyRef == nil && e.ValueFrom.SecretKeyRef == nil {
			errs = append(errs, field.Forbidden(variable.Child("valueFrom"), "only fieldRef, configMapKeyRef and secretKeyRef are supported"))
		}
		errs = append(errs, checkListen(variable, e.Value, ports)...)
	}
	rewriteArgs(c.Args, func(_, value string) string {
		errs = append(errs, checkListen(at.Child("args"), value, ports)...)
		return value
	})
	return append(errs, checkProbe(at, c)...)
}

func checkListen(at *field.Path, value string, ports map[int32]int) field.ErrorList {
	if port := undeclared(value, ports); port != "" {
		return field.ErrorList{field.Invalid(at, value, fmt.Sprintf("port %s must be a containerPort, so that every replica can be given its own", port))}
	}
	return nil
}

func checkProbe(at *field.Path, c *corev1.Container) field.ErrorList {
	if c.ReadinessProbe == nil {
		return nil
	}
	at = at.Child("readinessProbe")
	if c.ReadinessProbe.HTTPGet == nil {
		return field.ErrorList{field.Forbidden(at, "only httpGet is supported")}
	}
	if _, ok := containerPort(c, c.ReadinessProbe.HTTPGet.Port); !ok {
		return field.ErrorList{field.Invalid(at.Child("httpGet", "port"), c.ReadinessProbe.HTTPGet.Port.String(), "must be a containerPort")}
	}
	return nil
}

// declared returns the TCP ports that a container declares, each mapped to itself.
func declared(c *corev1.Container) map[int32]int {
	ports := map[int32]int{}
	for _, p := range c.Ports {
		if isTCP(p) {
			ports[p.ContainerPort] = int(p.ContainerPort)
		}
	}
	return ports
}

func isTCP(p corev1.ContainerPort) bool { return p.Protocol == "" || p.Protocol == corev1.ProtocolTCP }

// containerPort returns the declared port that ref means by number or name.
func containerPort(c *corev1.Container, ref intstr.IntOrString) (int32, bool) {
	for _, p := range c.Ports {
		if isTCP(p) && (ref.Type == intstr.String && p.Name == ref.StrVal || ref.Type == intstr.Int && p.ContainerPort == ref.IntVal) {
			return p.ContainerPort, true
		}
	}
	return 0, false
}

// groupOf returns what the playground calls the instances of a Deployment: the base name of the command. The Deployment
// must have passed Check.
func groupOf(d *appsv1.Deployment) string {
	return path.Base(d.Spec.Template.Spec.Containers[0].Command[0])
}

// componentName is what the playground calls instance i of a group.
func componentName(group string, i int) string { return fmt.Sprintf("%s/%d", group, i) }
