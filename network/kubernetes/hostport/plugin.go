// SPDX-License-Identifier: Apache-2.0

// Package hostport is the network type Kubernetes-HostPort: each game server gets ports of the node it runs on.
//
// The numbers are fixed when the pod is created, because its ports cannot change later:
//
//	events of all pods and nodes ──▶ ledger ──▶ Admit: numbers into the pod, and a record of them
//	record, node, pod address ──▶ Reconcile: how the server is reached
//
// What is reported comes from the record on the pod, never from the range that is configured now. Nothing is released on
// request: a number is free when the pod that holds it is gone.
// Source: network-kubernetes.md, part A; hostport-at-scheduling-time.md, design D.
package hostport

import (
	"fmt"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/berthgames/berth/internal/ports"
	"github.com/berthgames/berth/network/framework"
	"github.com/berthgames/berth/network/params"
)

// Name is the network type.
const Name = "Kubernetes-HostPort"

// promiseFor is longer than an admitted pod takes to be seen, and shorter than refused creations are a nuisance.
const promiseFor = 10 * time.Second

// kind names the numbers in messages.
const kind = "host port"

// Plugin gives game servers ports of their nodes. Safe for concurrent use.
type Plugin struct {
	opts   Options
	spec   params.Spec[config]
	reader client.Reader
	ledger *ports.Ledger
	// synced is set when the handlers are registered; each func tells whether one has seen its list.
	synced atomic.Pointer[[]cache.InformerSynced]
}

var (
	_ framework.Plugin     = (*Plugin)(nil)
	_ framework.Observer   = (*Plugin)(nil)
	_ framework.Admitter   = (*Plugin)(nil)
	_ framework.Reconciler = (*Plugin)(nil)
	_ framework.Watcher    = (*Plugin)(nil)
)

// New makes the plugin. reader reads from a cache that has index.PodNodeName.
func New(opts Options, reader client.Reader, clk clock.PassiveClock) (*Plugin, error) {
	if err := opts.Validate(); err != nil {
		return nil, fmt.Errorf("making network plugin %s: %w", Name, err)
	}
	ledger := ports.NewLedger(ports.Options{Range: opts.Range, Blocked: opts.Blocked, PromiseFor: promiseFor}, clk)
	return &Plugin{opts: opts, spec: spec(), reader: reader, ledger: ledger}, nil
}

// Name implements framework.Plugin.
func (p *Plugin) Name() string { return Name }

// Alias implements framework.Plugin. Upstream gives this plugin none.
func (p *Plugin) Alias() string { return "" }
