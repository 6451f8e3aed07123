// SPDX-License-Identifier: Apache-2.0

// Package network is the one list of all network plugins.
package network

import (
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/berthgames/berth/network/framework"
	"github.com/berthgames/berth/network/kubernetes/hostport"
)

// Deps is what the plugins are made from. The settings of a plugin whose provider is switched off are nil, and the plugin
// is then left out.
type Deps struct {
	// Reader reads from the manager's caches.
	Reader client.Reader
	// Clock is the time. Required.
	Clock clock.PassiveClock
	// HostPort are the settings of Kubernetes-HostPort.
	HostPort *hostport.Options
}

// Plugins makes every plugin that is switched on. An error names the plugin and the setting that is wrong.
func Plugins(deps Deps) (*framework.Registry, error) {
	var plugins []framework.Plugin
	if deps.HostPort != nil {
		p, err := hostport.New(*deps.HostPort, deps.Reader, deps.Clock)
		if err != nil {
			return nil, err
		}
		plugins = append(plugins, p)
	}
	return framework.NewRegistry(plugins...)
}
