// SPDX-License-Identifier: Apache-2.0

// Package cli is the command line of a playground.
package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/berthgames/berth/playground/internal/control"
	"github.com/berthgames/berth/playground/internal/state"
)

const (
	// stateVariable names the state folder when the flag --state does not.
	stateVariable = "BERTH_PLAYGROUND"
	stateDefault  = ".playground"
)

// Main runs the command line in os.Args and returns the exit code.
func Main() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second Ctrl-C ends the process at once; the processes it owns end with it.
	context.AfterFunc(ctx, stop)
	if err := newRoot().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		return 1
	}
	return 0
}

// app is what all commands share.
type app struct{ statePath string }

func newRoot() *cobra.Command {
	a := &app{}
	root := &cobra.Command{
		Use:   "playground",
		Short: "A real Kubernetes control plane with fake nodes on one machine, without containers",
		Long: "A real Kubernetes control plane (etcd, API server, controller manager, scheduler), fake nodes whose kubelets\n" +
			"are simulated, and OpenKruise, all as processes of this machine on loopback ports.\n\n" +
			"The binary is also etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kubectl: call it by that\n" +
			"name, or give the name as the first argument.",
		SilenceUsage: true, SilenceErrors: true,
	}
	path := os.Getenv(stateVariable)
	if path == "" {
		path = stateDefault
	}
	root.PersistentFlags().StringVar(&a.statePath, "state", path, "Folder of the playground; also $"+stateVariable+".")
	root.AddCommand(
		a.up(), a.daemon(), a.down(), a.status(), a.logs(), a.kubeconfig(), a.kubectl(),
		a.component(control.Kill), a.component(control.Stop), a.component(control.Start),
		a.install(), a.nodes(), a.audit(), a.envtestAssets(),
	)
	return root
}

// dir returns the state folder.
func (a *app) dir() (state.Dir, error) { return state.At(a.statePath) }

// running returns the state folder of a playground whose daemon lives.
func (a *app) running() (state.Dir, error) {
	dir, err := a.dir()
	if err != nil {
		return dir, err
	}
	if !dir.Exists() {
		return dir, fmt.Errorf("there is no playground in %s; start one with: playground up", dir.Root())
	}
	record, err := dir.Load()
	if err != nil {
		return dir, err
	}
	if !record.Daemon.Alive() {
		return dir, fmt.Errorf("the playground in %s does not run (%s); start it with: playground up", dir.Root(), describe(record))
	}
	return dir, nil
}

// describe says in a few words what a playground without daemon is.
func describe(record state.Record) string {
	switch record.Phase {
	case state.Failed:
		return "its start failed: " + record.Message
	case state.Stopped:
		return "it was taken down, its files were kept"
	default:
		return "its daemon died"
	}
}

// admin returns the administrator's client configuration, without rate limit.
func admin(dir state.Dir) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", dir.Kubeconfig())
	if err != nil {
		return nil, fmt.Errorf("loading kubeconfig: %w", err)
	}
	config.QPS = -1
	return config, nil
}
