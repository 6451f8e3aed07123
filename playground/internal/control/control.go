// SPDX-License-Identifier: Apache-2.0

// Package control is how the command line talks to the daemon of a playground: HTTP with JSON over a socket in the
// state folder.
package control

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/berthgames/berth/playground/internal/nodes"
	"github.com/berthgames/berth/playground/internal/state"
	"github.com/berthgames/berth/playground/internal/supervisor"
)

// Options say what a playground consists of. The daemon reads them as JSON.
type Options struct {
	Nodes nodes.Flags `json:"nodes"`
	// Kruise installs OpenKruise, whose manager is the program at KruiseManager.
	Kruise        bool   `json:"kruise"`
	KruiseManager string `json:"kruiseManager,omitempty"`
	// Audit turns on the API server's audit log; EtcdFsync makes etcd write through to the disk.
	Audit     bool `json:"audit"`
	EtcdFsync bool `json:"etcdFsync"`
}

// Status is what a playground is doing.
type Status struct {
	Phase      state.Phase         `json:"phase"`
	Message    string              `json:"message,omitempty"`
	DaemonPID  int                 `json:"daemonPID"`
	Kubeconfig string              `json:"kubeconfig"`
	Components []supervisor.Status `json:"components"`
}

// Verb is what can be done to a component.
type Verb string

// The verbs. Kill sends the signal of the request.
const (
	Start Verb = "start"
	Stop  Verb = "stop"
	Kill  Verb = "kill"
)

// ComponentRequest acts on a component, or on all instances of one.
type ComponentRequest struct {
	Verb      Verb   `json:"verb"`
	Component string `json:"component"`
	Signal    int    `json:"signal,omitempty"`
}

// WorkloadRequest has Deployments run as local processes.
type WorkloadRequest struct {
	Deployments []appsv1.Deployment `json:"deployments"`
	// Binaries maps the base name of a container's command to the path of a local program.
	Binaries map[string]string `json:"binaries"`
}

// Component is one process at one revision.
type Component struct {
	Name     string `json:"name"`
	Revision string `json:"revision"`
}

// WorkloadReply names the components that the request leads to, in the order of their start.
type WorkloadReply struct {
	Components []Component `json:"components"`
}

// DownRequest ends the playground.
type DownRequest struct {
	// Keep leaves the state folder for reading.
	Keep bool `json:"keep"`
}

// Daemon does what the requests ask for.
type Daemon interface {
	Status(ctx context.Context) (Status, error)
	Component(ctx context.Context, r ComponentRequest) error
	// Ensure adds what a running playground lacks of the options.
	Ensure(ctx context.Context, o Options) error
	Workloads(ctx context.Context, r WorkloadRequest) (WorkloadReply, error)
	// Down begins the end and returns before it.
	Down(ctx context.Context, r DownRequest) error
}
