// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/network/framework"
)

// network checks type and parameters. Source: core-api.md section 6, network-framework.md section 8.
func (c *checker) network() {
	path := field.NewPath("spec", "network")
	var before *gamev1alpha1.Network
	if c.old != nil {
		before = c.old.Spec.Network
	}
	now := c.set.Spec.Network
	if now == nil {
		if before != nil {
			c.warn(path, "was removed: running servers keep their annotations until they are updated, and what plugin %s made for them is cleaned up then", before.NetworkType)
		}
		return
	}
	if c.old != nil && before == nil {
		c.warn(path, "was added: running servers get it only when they are updated; podUpdatePolicy ReCreate does that by recreating them")
	}

	plugin, usable := c.networkType(path.Child("networkType"), before, now)
	if !usable || !c.changed(networkDependsOn) {
		return
	}
	confPath := path.Child("networkConf")
	for i, param := range now.NetworkConf {
		at := confPath.Index(i)
		if param.Name == "" {
			c.fault(field.Required(at.Child("name"), "a parameter needs a name"))
		}
		if param.Name == gamev1alpha1.AllowNotReadyContainersNetworkConfName {
			c.allowNotReady(at.Child("value"), param.Value)
		}
	}
	found := plugin.Validate(framework.ValidateRequest{Params: now.NetworkConf, ParamsPath: confPath, Template: c.podSpec()})
	c.findings.Errors = append(c.findings.Errors, found.Errors...)
	c.findings.Warnings = append(c.findings.Warnings, found.Warnings...)
}

// networkDependsOn is all that a plugin judges parameters by.
func networkDependsOn(s *gamev1alpha1.GameServerSetSpec) any {
	pod := s.GameServerTemplate.Spec
	return []any{s.Network, pod.HostNetwork, pod.Containers, pod.InitContainers}
}

// networkType returns the plugin of the set. A type that the request does not touch is not complained about: its
// provider may have been switched off since.
func (c *checker) networkType(path *field.Path, before, now *gamev1alpha1.Network) (framework.Plugin, bool) {
	plugin, known := c.networks.Get(now.NetworkType)
	if before != nil && before.NetworkType == now.NetworkType {
		return plugin, known
	}
	switch {
	case before != nil && before.NetworkType != "":
		c.fault(field.Invalid(path, now.NetworkType, "may not change from "+before.NetworkType+"; for another plugin create another GameServerSet"))
		return nil, false
	case now.NetworkType == "":
		c.fault(field.Required(path, "must name a network plugin: "+strings.Join(c.networks.Names(), ", ")))
	case !known:
		c.fault(field.NotSupported(path, now.NetworkType, c.networks.Names()))
	}
	return plugin, known
}

// allowNotReady checks the one parameter that the framework knows itself.
func (c *checker) allowNotReady(path *field.Path, value string) {
	names := containerNames(c.podSpec())
	for part := range strings.SplitSeq(value, ",") {
		name := strings.TrimSpace(part)
		if name != "" && !slices.Contains(names, name) {
			c.fault(missingContainer(path, name, c.podSpec()))
		}
	}
}
