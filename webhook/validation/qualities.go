// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/internal/qualitytemplate"
)

// serviceQualities checks what OpenKruise would refuse in the probes later, which upstream let stop the whole set
// (fault S-5). A quality that the request leaves alone is only checked for its container, and only when those change.
func (c *checker) serviceQualities() {
	before := map[string]gamev1alpha1.ServiceQuality{}
	if c.old != nil {
		for _, quality := range c.old.Spec.ServiceQualities {
			before[quality.Name] = quality
		}
	}
	names := containerNames(c.podSpec())
	containersChanged := c.containersChanged()
	for i := range c.set.Spec.ServiceQualities {
		quality := &c.set.Spec.ServiceQualities[i]
		path := field.NewPath("spec", "serviceQualities").Index(i)
		was, existed := before[quality.Name]
		changed := !existed || !equality.Semantic.DeepEqual(was, *quality)
		if changed || containersChanged {
			switch {
			case quality.ContainerName == "":
				c.fault(field.Required(path.Child("containerName"), "the probe looks at one container of the template"))
			case !slices.Contains(names, quality.ContainerName):
				c.fault(missingContainer(path.Child("containerName"), quality.ContainerName, c.podSpec()))
			}
		}
		if changed {
			c.qualityName(path.Child("name"), quality.Name)
			c.probe(path, quality)
			for j := range quality.ServiceQualityAction {
				c.action(path.Child("serviceQualityAction").Index(j), &quality.ServiceQualityAction[j])
			}
		}
	}
}

// qualityName must make the type of a pod condition, and must not hold the separator of OpenKruise's probe states.
func (c *checker) qualityName(path *field.Path, name string) {
	if name == "" {
		c.fault(field.Required(path, "a service quality needs a name"))
		return
	}
	for _, problem := range validation.IsQualifiedName(gamev1alpha1.ServiceQualityConditionPrefix + name) {
		c.fault(field.Invalid(path, name, problem))
	}
}

func (c *checker) probe(path *field.Path, quality *gamev1alpha1.ServiceQuality) {
	const only = "OpenKruise probes with exec and tcpSocket only"
	if quality.HTTPGet != nil {
		c.fault(field.Forbidden(path.Child("httpGet"), only))
	}
	if quality.GRPC != nil {
		c.fault(field.Forbidden(path.Child("grpc"), only))
	}
	switch {
	case quality.Exec != nil && quality.TCPSocket != nil:
		c.fault(field.Forbidden(path.Child("tcpSocket"), "may not be given together with exec"))
	case quality.Exec != nil && len(quality.Exec.Command) == 0:
		c.fault(field.Required(path.Child("exec", "command"), "the command to run in the container"))
	case quality.TCPSocket != nil:
		c.probePort(path.Child("tcpSocket", "port"), quality.TCPSocket.Port)
	case quality.Exec == nil && quality.HTTPGet == nil && quality.GRPC == nil:
		c.fault(field.Required(path.Child("exec"), "a service quality needs exec or tcpSocket"))
	}
	c.atLeastZero(path.Child("initialDelaySeconds"), quality.InitialDelaySeconds)
	c.atLeastZero(path.Child("timeoutSeconds"), quality.TimeoutSeconds)
	c.atLeastZero(path.Child("periodSeconds"), quality.PeriodSeconds)
	c.atLeastZero(path.Child("successThreshold"), quality.SuccessThreshold)
	c.atLeastZero(path.Child("failureThreshold"), quality.FailureThreshold)
	if quality.TerminationGracePeriodSeconds != nil {
		c.warn(path.Child("terminationGracePeriodSeconds"), "has no use in a service quality")
	}
}

func (c *checker) atLeastZero(path *field.Path, value int32) {
	if value < 0 {
		c.fault(field.Invalid(path, value, "must be above 0, or 0 for the default"))
	}
}

func (c *checker) probePort(path *field.Path, port intstr.IntOrString) {
	problems := validation.IsValidPortNum(int(port.IntVal))
	if port.Type == intstr.String {
		problems = validation.IsValidPortName(port.StrVal)
	}
	for _, problem := range problems {
		c.fault(field.Invalid(path, port.String(), problem))
	}
}

// action checks values that are written as they are. A value that holds a template can only be judged when the probe has
// given its output. Source: core-controllers.md, section 3.4, templates.
func (c *checker) action(path *field.Path, action *gamev1alpha1.ServiceQualityAction) {
	if c.literal(path.Child("opsState"), string(action.OpsState)) {
		for _, problem := range validation.IsValidLabelValue(string(action.OpsState)) {
			c.fault(field.Invalid(path.Child("opsState"), action.OpsState, problem))
		}
	}
	c.priority(path.Child("updatePriority"), action.UpdatePriority)
	c.priority(path.Child("deletionPriority"), action.DeletionPriority)
	for _, key := range slices.Sorted(maps.Keys(action.Labels)) {
		at := path.Child("labels").Key(key)
		for _, problem := range validation.IsQualifiedName(key) {
			c.fault(field.Invalid(at, key, problem))
		}
		if c.literal(at, action.Labels[key]) {
			for _, problem := range validation.IsValidLabelValue(action.Labels[key]) {
				c.fault(field.Invalid(at, action.Labels[key], problem))
			}
		}
	}
	c.fault(apivalidation.ValidateAnnotations(action.Annotations, path.Child("annotations"))...)
	for _, key := range slices.Sorted(maps.Keys(action.Annotations)) {
		c.literal(path.Child("annotations").Key(key), action.Annotations[key])
	}
}

func (c *checker) priority(path *field.Path, value *intstr.IntOrString) {
	if value == nil {
		return
	}
	number := int64(value.IntVal)
	if value.Type == intstr.String {
		if !c.literal(path, value.StrVal) {
			return
		}
		var err error
		if number, err = strconv.ParseInt(value.StrVal, 10, 32); err != nil {
			number = -1
		}
	}
	if number < 0 {
		c.fault(field.Invalid(path, value.String(), "must be an integer from 0 to 2147483647, or a template that gives one"))
	}
}

// literal reports whether text is written as it is. It refuses a template that is not allowed, and warns of one that
// cannot be read: the GameServer controller then writes its text as it is.
func (c *checker) literal(path *field.Path, text string) bool {
	if !qualitytemplate.Is(text) {
		return true
	}
	err := qualitytemplate.Check(text)
	switch {
	case errors.Is(err, qualitytemplate.ErrNotAllowed):
		c.fault(field.Invalid(path, text, fmt.Sprintf("%v; %s", err, qualitytemplate.Allowed)))
	case err != nil:
		c.warn(path, "%q is no template that can be read, so it is used as it is: %v", text, err)
	}
	return false
}
