// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/berthgames/berth/playground/internal/control"
	"github.com/berthgames/berth/playground/internal/kruise"
	"github.com/berthgames/berth/playground/internal/nodes"
	"github.com/berthgames/berth/playground/internal/program"
	"github.com/berthgames/berth/playground/internal/supervisor"
)

// kruiseTimeout is the time for OpenKruise's manager to make its certificates and answer webhooks.
const kruiseTimeout = 2 * time.Minute

// Ensure implements control.Daemon. It may be called again; what is there already stays as it is.
func (d *Daemon) Ensure(ctx context.Context, o control.Options) error {
	d.ensuring.Lock()
	defer d.ensuring.Unlock()
	if (o.Audit && !d.options.Audit) || (o.EtcdFsync && !d.options.EtcdFsync) {
		return errors.New("--audit and --etcd-fsync cannot be turned on while the playground runs; take it down first")
	}
	wanted, invalid := o.Nodes.Options()
	if len(invalid) > 0 {
		return invalid.ToAggregate()
	}
	config, err := d.plane.Config()
	if err != nil {
		return err
	}
	group, both := errgroup.WithContext(ctx)
	group.Go(func() error { return d.ensureNodes(both, config, wanted) })
	group.Go(func() error { return d.ensureKruise(both, config, o) })
	if err := group.Wait(); err != nil {
		return err
	}
	return nodes.ApplyProbes(ctx, config, wanted)
}

func (d *Daemon) ensureNodes(ctx context.Context, config *rest.Config, o nodes.Options) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("building client: %w", err)
	}
	done := d.progress.Step()
	if err := nodes.Apply(ctx, client, o); err != nil {
		return err
	}
	done("%d nodes ready", o.Count)
	return nil
}

// ensureKruise installs OpenKruise if it is wanted, and starts the kubelets, which need its kinds to answer its probes.
func (d *Daemon) ensureKruise(ctx context.Context, config *rest.Config, o control.Options) error {
	if d.has(kruise.Component) {
		return nil
	}
	if !o.Kruise {
		if d.has(program.Kubelets) {
			return nil
		}
		return d.plane.StartKubelets(ctx, false)
	}
	done := d.progress.Step()
	if err := kruise.Install(ctx, config); err != nil {
		return fmt.Errorf("installing OpenKruise: %w", err)
	}
	done("manifests of OpenKruise applied")
	d.supervisor.Remove(program.Kubelets) // those of a start without OpenKruise
	if err := d.plane.StartKubelets(ctx, true); err != nil {
		return err
	}
	spec, err := kruise.Spec(d.dir, config, o.KruiseManager, d.env)
	if err != nil {
		return err
	}
	done = d.progress.Step()
	if err := d.supervisor.Add(ctx, spec); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, kruiseTimeout)
	defer cancel()
	if err := d.supervisor.WaitReady(ctx, spec.Name); err != nil {
		return err
	}
	done("%s ready", spec.Name)
	return nil
}

func (d *Daemon) has(component string) bool {
	return slices.ContainsFunc(d.supervisor.Status(), func(s supervisor.Status) bool { return s.Name == component })
}
