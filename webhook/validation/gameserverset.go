// SPDX-License-Identifier: Apache-2.0

// Package validation says what is wrong with a GameServerSet. It is pure: objects and plugins in, findings out.
//
// The schema of the CRD refuses what can be judged without knowing the network plugins or decoding the pod template:
// enums, minima, immutable fields. The rules here do the rest. They look only at what a request changes, so that an
// object which was stored before its rule existed stays editable. Source: core-api.md, section 6.
package validation

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/internal/idset"
	"github.com/berthgames/berth/network/framework"
)

// MaxNameLength is how long the name of a set may be. Pods are named <name>-<ordinal> and the workload's controller
// labels them with <name>-<hash>; ordinal and hash have up to ten digits, and a label value has at most 63 characters
// (fault A-2).
const MaxNameLength = validation.LabelValueMaxLength - 1 - 10

// Networks are the network plugins that are switched on; *framework.Registry is one.
type Networks interface {
	Get(name string) (framework.Plugin, bool)
	Names() []string
}

// GameServerSet checks the request that leads from old to set; old is nil for a creation.
func GameServerSet(old, set *gamev1alpha1.GameServerSet, networks Networks) framework.Findings {
	c := &checker{old: old, set: set, networks: networks}
	c.name()
	c.reserveIDs()
	c.reserveSize()
	c.template()
	c.serviceQualities()
	c.network()
	return c.findings
}

// checker collects the findings of one request.
type checker struct {
	old, set *gamev1alpha1.GameServerSet
	networks Networks
	findings framework.Findings
}

func (c *checker) fault(errs ...*field.Error) {
	c.findings.Errors = append(c.findings.Errors, errs...)
}

func (c *checker) warn(path *field.Path, format string, args ...any) {
	c.findings.Warnings = append(c.findings.Warnings, path.String()+": "+fmt.Sprintf(format, args...))
}

// changed reports whether the request changes what part picks. A creation changes everything.
func (c *checker) changed(part func(*gamev1alpha1.GameServerSetSpec) any) bool {
	return c.old == nil || !equality.Semantic.DeepEqual(part(&c.old.Spec), part(&c.set.Spec))
}

func (c *checker) name() {
	if c.old != nil {
		return
	}
	path := field.NewPath("metadata", "name")
	if n := len(c.set.Name); n > MaxNameLength {
		c.fault(field.Invalid(path, c.set.Name, fmt.Sprintf("has %d characters; pods are named and labelled <name>-<number "+
			"of up to 10 digits>, and that may have %d, so the name may have %d", n, validation.LabelValueMaxLength, MaxNameLength)))
		return
	}
	for _, problem := range validation.IsDNS1123Label(c.set.Name) {
		c.fault(field.Invalid(path, c.set.Name, "is part of the host names of its pods: "+problem))
	}
}

// reserveIDs reports every bad element. Upstream computed this and dropped the result (fault W-1).
func (c *checker) reserveIDs() {
	if !c.changed(func(s *gamev1alpha1.GameServerSetSpec) any { return s.ReserveGameServerIds }) {
		return
	}
	path := field.NewPath("spec", "reserveGameServerIds")
	for _, bad := range idset.CheckList(c.set.Spec.ReserveGameServerIds) {
		c.fault(field.Invalid(path.Index(bad.Index), bad.Element, bad.Problem))
	}
}

// reserveSize refuses what would make OpenKruise skip more ids than it can bear. Fewer servers never make that worse.
func (c *checker) reserveSize() {
	replicas := ptr.Deref(c.set.Spec.Replicas, 0)
	grows := c.old == nil || replicas > ptr.Deref(c.old.Spec.Replicas, 0)
	if !grows && !c.changed(func(s *gamev1alpha1.GameServerSetSpec) any { return s.ReserveGameServerIds }) {
		return
	}
	reserved, err := idset.FromList(c.set.Spec.ReserveGameServerIds)
	if err != nil {
		return // reserveIDs reports it, unless it was stored so.
	}
	if below := reserved.CountBelow(int64(replicas)); below > idset.MaxBelowMembers {
		c.fault(field.Invalid(field.NewPath("spec", "reserveGameServerIds"), reserved.String(), fmt.Sprintf(
			"with %d replicas, %d reserved ids are below the highest server; there may be %d", replicas, below, idset.MaxBelowMembers)))
	}
}

func (c *checker) podSpec() *corev1.PodSpec { return &c.set.Spec.GameServerTemplate.Spec }

// containersChanged reports whether the request changes which containers there are, or what they are like.
func (c *checker) containersChanged() bool {
	return c.changed(func(s *gamev1alpha1.GameServerSetSpec) any { return s.GameServerTemplate.Spec.Containers })
}

// containerNames lists the names of the template's containers, in its order.
func containerNames(spec *corev1.PodSpec) []string {
	names := make([]string, len(spec.Containers))
	for i := range spec.Containers {
		names[i] = spec.Containers[i].Name
	}
	return names
}
