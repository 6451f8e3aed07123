// SPDX-License-Identifier: Apache-2.0

// Package kruise runs OpenKruise's manager in a playground.
package kruise

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"k8s.io/client-go/rest"

	"github.com/berthgames/berth/playground/internal/freeport"
	"github.com/berthgames/berth/playground/internal/install"
	"github.com/berthgames/berth/playground/internal/kruiseassets"
	"github.com/berthgames/berth/playground/internal/probe"
	"github.com/berthgames/berth/playground/internal/serviceaccount"
	"github.com/berthgames/berth/playground/internal/state"
	"github.com/berthgames/berth/playground/internal/supervisor"
)

// Component is the manager's name in the playground.
const Component = kruiseassets.Binary

// Install creates the kinds, rights and configurations that the manager needs. To be called once for a cluster.
func Install(ctx context.Context, config *rest.Config) error {
	objects, err := kruiseassets.Objects()
	if err != nil {
		return fmt.Errorf("reading manifests of OpenKruise: %w", err)
	}
	applier, err := install.NewApplier(config)
	if err != nil {
		return err
	}
	return applier.Apply(ctx, objects)
}

// Spec returns the manager, the program at binary, as a component that runs as its own service account.
func Spec(dir state.Dir, config *rest.Config, binary string, env []string) (supervisor.Spec, error) {
	// Chosen at every start and read by the probes that follow it.
	var ports []int
	certs := dir.Join("kruise-certs")
	if err := os.MkdirAll(certs, 0o700); err != nil {
		return supervisor.Spec{}, fmt.Errorf("making folder for certificates: %w", err)
	}
	return supervisor.Spec{
		Name: Component, Log: dir.Log(Component), Grace: 2 * time.Second,
		Ready: func(ctx context.Context) error {
			return probe.HTTP("http://" + freeport.Address(ports[1]) + kruiseassets.ReadyPath)(ctx)
		},
		Command: func(ctx context.Context) (supervisor.Command, error) {
			var err error
			if ports, err = freeport.Keep(ports, 2); err != nil {
				return supervisor.Command{}, err
			}
			kubeconfig, err := serviceaccount.Write(ctx, dir, config, kruiseassets.Namespace, kruiseassets.ServiceAccount)
			if err != nil {
				return supervisor.Command{}, err
			}
			args, more := kruiseassets.Command(kubeconfig, certs, kruiseassets.Ports{Webhook: ports[0], Health: ports[1]})
			return supervisor.Command{
				Path: binary, Args: args, Env: slices.Concat(env, more), Dir: dir.Root(),
				Ports: map[string]int{"webhook": ports[0], "health": ports[1]},
			}, nil
		},
	}, nil
}
