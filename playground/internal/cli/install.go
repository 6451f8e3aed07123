// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"github.com/berthgames/berth/playground/internal/control"
	"github.com/berthgames/berth/playground/internal/install"
	"github.com/berthgames/berth/playground/internal/progress"
	"github.com/berthgames/berth/playground/internal/state"
	"github.com/berthgames/berth/playground/internal/supervisor"
)

type installOptions struct {
	folder   string
	binaries map[string]string
	wait     bool
	timeout  time.Duration
}

func (a *app) install() *cobra.Command {
	var o installOptions
	cmd := &cobra.Command{
		Use:   "install -k FOLDER [--binary NAME=PATH]...",
		Short: "Apply a kustomization; its Deployments run as local processes",
		Long: "Renders a kustomization and applies all its objects but the Deployments. Each replica of a Deployment runs as a\n" +
			"process of this machine, with the credentials of its service account. Called again, it replaces the processes\n" +
			"whose Deployment or program has changed, one after the other.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := a.running()
			if err != nil {
				return err
			}
			return runInstall(cmd.Context(), dir, o, progress.New(cmd.OutOrStdout(), clock.RealClock{}))
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.folder, "kustomize", "k", "", "Folder of the kustomization.")
	flags.StringToStringVar(&o.binaries, "binary", nil, "Program for containers whose command has this base name: NAME=PATH, repeatable.")
	flags.BoolVar(&o.wait, "wait", true, "Wait until the processes are ready.")
	flags.DurationVar(&o.timeout, "timeout", 2*time.Minute, "Longest time to wait.")
	cobra.CheckErr(cmd.MarkFlagRequired("kustomize"))
	return cmd
}

func runInstall(ctx context.Context, dir state.Dir, o installOptions, p *progress.Printer) error {
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout, fmt.Errorf("not done within %s", o.timeout))
	defer cancel()
	request, err := applyObjects(ctx, dir, o, p)
	if err != nil {
		return err
	}
	client := control.NewClient(dir)
	reply, err := client.Workloads(ctx, request)
	if err != nil || !o.wait {
		return err
	}
	return waitReady(ctx, client, reply.Components, p)
}

// applyObjects applies everything but the Deployments and returns the request to run these.
func applyObjects(ctx context.Context, dir state.Dir, o installOptions, p *progress.Printer) (control.WorkloadRequest, error) {
	request := control.WorkloadRequest{Binaries: map[string]string{}}
	for name, program := range o.binaries {
		path, err := exec.LookPath(program)
		if err == nil {
			path, err = filepath.Abs(path)
		}
		if err != nil {
			return request, fmt.Errorf("--binary %s: %w", name, err)
		}
		request.Binaries[name] = path
	}
	done := p.Step()
	objects, err := install.Render(o.folder)
	if err != nil {
		return request, err
	}
	config, err := admin(dir)
	if err != nil {
		return request, err
	}
	applier, err := install.NewApplier(config)
	if err != nil {
		return request, err
	}
	applied, deployments := install.Split(objects)
	if err := applier.Apply(ctx, applied); err != nil {
		return request, err
	}
	done("%d objects applied", len(applied))
	for _, object := range deployments {
		d, err := applier.Deployment(ctx, object)
		if err != nil {
			return request, err
		}
		request.Deployments = append(request.Deployments, d)
	}
	return request, nil
}

// waitReady waits until all components are ready at their revision and prints each that becomes so.
func waitReady(ctx context.Context, client *control.Client, wanted []control.Component, p *progress.Printer) error {
	done := p.Step()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		status, err := client.Status(ctx)
		if err != nil {
			return err
		}
		var waiting []supervisor.Status
		wanted = slices.DeleteFunc(wanted, func(c control.Component) bool {
			i := slices.IndexFunc(status.Components, func(s supervisor.Status) bool { return s.Name == c.Name })
			if i >= 0 && status.Components[i].Ready && status.Components[i].Revision == c.Revision {
				done("%s ready", c.Name)
				return true
			}
			if i >= 0 {
				waiting = append(waiting, status.Components[i])
			}
			return false
		})
		if len(wanted) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return notReady(context.Cause(ctx), waiting)
		case <-tick.C:
		}
	}
}

// notReady tells of every component what it waits for and where to read more.
func notReady(cause error, waiting []supervisor.Status) error {
	errs := []error{cause}
	for _, s := range waiting {
		errs = append(errs, fmt.Errorf("%s is not ready: %s (log: %s)", s.Name, s.Message, s.Log))
	}
	return errors.Join(errs...)
}
