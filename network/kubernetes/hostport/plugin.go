// SPDX-License-Identifier: Apache-2.0

// Package hostport is the network type Kubernetes-HostPort: each game server gets ports of the node it runs on.
package hostport

import (
	"fmt"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/berthgames/berth/network/framework"
)

// Name is the network type.
const Name = "Kubernetes-HostPort"

// Plugin gives game servers ports of their nodes.
type Plugin struct {
	opts   Options
	reader client.Reader
	clock  clock.PassiveClock
}

var _ framework.Plugin = (*Plugin)(nil)

// New makes the plugin.
func New(opts Options, reader client.Reader, clk clock.PassiveClock) (*Plugin, error) {
	if err := opts.Validate(); err != nil {
		return nil, fmt.Errorf("making network plugin %s: %w", Name, err)
	}
	return &Plugin{opts: opts, reader: reader, clock: clk}, nil
}

// Name implements framework.Plugin.
func (p *Plugin) Name() string { return Name }

// Alias implements framework.Plugin. Upstream gives this plugin none.
func (p *Plugin) Alias() string { return "" }

// Validate implements framework.Plugin.
func (p *Plugin) Validate(framework.ValidateRequest) framework.Findings { return framework.Findings{} }
