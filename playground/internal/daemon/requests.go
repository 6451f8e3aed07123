// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/berthgames/berth/playground/internal/control"
)

// Status implements control.Daemon.
func (d *Daemon) Status(context.Context) (control.Status, error) {
	components := d.supervisor.Status()
	d.mu.Lock()
	defer d.mu.Unlock()
	return control.Status{
		Phase: d.record.Phase, Message: d.record.Message, DaemonPID: d.record.Daemon.PID,
		Kubeconfig: d.dir.Kubeconfig(), Components: components,
	}, nil
}

// Component implements control.Daemon.
func (d *Daemon) Component(_ context.Context, r control.ComponentRequest) error {
	switch r.Verb {
	case control.Start:
		return d.supervisor.Start(r.Component)
	case control.Stop:
		return d.supervisor.Stop(r.Component)
	case control.Kill:
		return d.supervisor.Signal(r.Component, syscall.Signal(r.Signal))
	default:
		return fmt.Errorf("unknown verb %q", r.Verb)
	}
}

// Down implements control.Daemon.
func (d *Daemon) Down(_ context.Context, r control.DownRequest) error {
	d.mu.Lock()
	d.keep = r.Keep
	d.mu.Unlock()
	d.stop()
	return nil
}

// Workloads implements control.Daemon.
func (d *Daemon) Workloads(ctx context.Context, r control.WorkloadRequest) (control.WorkloadReply, error) {
	pods := d.pods.Load()
	if pods == nil {
		return control.WorkloadReply{}, errors.New("the playground is still starting")
	}
	return pods.Apply(ctx, r)
}

// resolve tells the egress proxy what is behind the address of a Service.
func (d *Daemon) resolve(address string) ([]string, error) {
	pods := d.pods.Load()
	if pods == nil {
		return nil, errors.New("the playground is still starting")
	}
	return pods.Resolve(address)
}
