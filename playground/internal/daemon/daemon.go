// SPDX-License-Identifier: Apache-2.0

// Package daemon is the process that owns a playground: it starts everything, keeps it running, answers the command
// line, and takes everything down again.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"k8s.io/utils/clock"

	"github.com/berthgames/berth/playground/internal/control"
	"github.com/berthgames/berth/playground/internal/controlplane"
	"github.com/berthgames/berth/playground/internal/egress"
	"github.com/berthgames/berth/playground/internal/processpod"
	"github.com/berthgames/berth/playground/internal/progress"
	"github.com/berthgames/berth/playground/internal/state"
	"github.com/berthgames/berth/playground/internal/supervisor"
)

// Daemon owns one playground.
type Daemon struct {
	dir        state.Dir
	options    control.Options
	supervisor *supervisor.Supervisor
	plane      *controlplane.ControlPlane
	progress   *progress.Printer
	env        []string
	pods       atomic.Pointer[processpod.Manager] // nil until the cluster is up

	ensuring sync.Mutex // held while things are added

	mu     sync.Mutex
	record state.Record
	keep   bool
	stop   context.CancelFunc
}

var _ control.Daemon = (*Daemon)(nil)

// Run starts a playground in the state folder and blocks until ctx ends or somebody asks for its end; then it stops all
// processes and removes the folder. Progress lines go to out. A start that fails leaves the folder with the logs.
// Run changes the working directory of the process.
func Run(ctx context.Context, dir state.Dir, o control.Options, out io.Writer) error {
	unlock, err := dir.Lock()
	if err != nil {
		return err
	}
	defer unlock()
	if err := os.Chdir(dir.Root()); err != nil {
		return fmt.Errorf("entering state folder: %w", err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	d, err := newDaemon(dir, o, progress.New(out, clock.RealClock{}), stop)
	if err != nil {
		return err
	}
	// The servers outlive the components: a status can be asked for while they stop.
	serving, stopServing := context.WithCancel(context.WithoutCancel(ctx))
	defer stopServing()
	servers, serving := errgroup.WithContext(serving)
	servers.Go(func() error { return control.Serve(serving, d) })
	servers.Go(func() error { return d.serveEgress(serving) })
	context.AfterFunc(serving, stop) // a playground whose servers failed is of no use

	err = errors.Join(d.live(ctx), d.teardown())
	stopServing()
	err = errors.Join(err, servers.Wait())
	return errors.Join(err, d.finish(err))
}

func newDaemon(dir state.Dir, o control.Options, p *progress.Printer, stop context.CancelFunc) (*Daemon, error) {
	self, err := state.Identify(os.Getpid())
	if err != nil {
		return nil, err
	}
	binary, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding own binary: %w", err)
	}
	d := &Daemon{
		dir: dir, options: o, progress: p, env: environment(os.LookupEnv), stop: stop,
		record: state.Record{Phase: state.Starting, Daemon: self},
	}
	d.supervisor = supervisor.New(supervisor.DefaultBackoff(), func(running map[string]state.Process) error {
		return d.save(func(r *state.Record) { r.Children = running })
	})
	d.plane = &controlplane.ControlPlane{
		Dir: dir, Supervisor: d.supervisor, Progress: p, Binary: binary, Env: d.env,
		Audit: o.Audit, EtcdFsync: o.EtcdFsync,
	}
	return d, d.save(func(*state.Record) {})
}

// live starts everything and waits for the end.
func (d *Daemon) live(ctx context.Context) error {
	err := d.start(ctx)
	if err != nil && ctx.Err() == nil { // the failures of a start that is interrupted are no news
		return err
	}
	<-ctx.Done()
	return nil
}

func (d *Daemon) start(ctx context.Context) error {
	done := d.progress.Step()
	if err := d.plane.Start(ctx); err != nil {
		return err
	}
	if err := d.startPods(ctx); err != nil {
		return err
	}
	if err := d.Ensure(ctx, d.options); err != nil {
		return err
	}
	done("playground ready; export KUBECONFIG=%s", d.dir.Kubeconfig())
	return d.save(func(r *state.Record) { r.Phase = state.Ready })
}

// startPods makes the daemon ready to run Deployments and to find what is behind Services.
func (d *Daemon) startPods(ctx context.Context) error {
	config, err := d.plane.Config()
	if err != nil {
		return err
	}
	pods, err := processpod.Start(ctx, d.dir, config, d.supervisor, d.env)
	if err != nil {
		return err
	}
	d.pods.Store(pods)
	return nil
}

// serveEgress serves the API server's way to Services until ctx ends.
func (d *Daemon) serveEgress(ctx context.Context) error {
	listener, err := net.Listen("unix", controlplane.EgressSocket)
	if err != nil {
		return fmt.Errorf("opening socket of the service proxy: %w", err)
	}
	return egress.New(d.resolve).Serve(ctx, listener)
}

// teardown stops all processes: first those that are clients of the cluster and may want to say good-bye, then the
// cluster.
func (d *Daemon) teardown() error {
	err := d.save(func(r *state.Record) { r.Phase = state.Stopping })
	if pods := d.pods.Load(); pods != nil {
		pods.Close()
	}
	var clients, rest []string
	for _, component := range d.supervisor.Status() {
		if controlplane.Owns(component.Name) {
			rest = append(rest, component.Name)
		} else {
			clients = append(clients, component.Name)
		}
	}
	d.supervisor.Remove(clients...)
	d.supervisor.Remove(rest...)
	return err
}

// finish leaves the folder as it shall be found: gone, or with a record that says what happened.
func (d *Daemon) finish(failure error) error {
	if failure != nil {
		return d.save(func(r *state.Record) { r.Phase, r.Message = state.Failed, failure.Error() })
	}
	if d.keep {
		return d.save(func(r *state.Record) { r.Phase = state.Stopped })
	}
	return d.dir.Remove()
}

// save changes the record and writes it.
func (d *Daemon) save(change func(*state.Record)) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(&d.record)
	return d.dir.Save(d.record)
}

// environment returns what the components get of the daemon's environment: enough to run and to be debugged, and
// nothing that would change their behaviour from machine to machine, such as proxies or credentials.
func environment(lookup func(string) (string, bool)) []string {
	var env []string
	for _, name := range []string{
		"PATH", "HOME", "TMPDIR", "TZ", "GODEBUG", "GOGC", "GOMEMLIMIT", "GOMAXPROCS", "GORACE", "GOTRACEBACK", "GOCOVERDIR",
	} {
		if value, ok := lookup(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}
