// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/berthgames/berth/playground/internal/nodes"
)

func (a *app) nodes() *cobra.Command {
	cmd := &cobra.Command{Use: "nodes", Short: "Add or delete fake nodes"}
	cmd.AddCommand(a.nodesAdd(), a.nodesDelete())
	return cmd
}

func (a *app) nodesAdd() *cobra.Command {
	var flags nodes.Flags
	cmd := &cobra.Command{
		Use:   "add",
		Short: "Make nodes, or bring those of the same names up to date",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			options, invalid := flags.Options()
			if len(invalid) > 0 {
				return invalid.ToAggregate()
			}
			client, config, err := a.client()
			if err != nil {
				return err
			}
			if err := nodes.Apply(cmd.Context(), client, options); err != nil {
				return err
			}
			if err := nodes.ApplyProbes(cmd.Context(), config, options); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%d nodes ready\n", options.Count)
			return nil
		},
	}
	flags.Register(cmd.Flags())
	return cmd
}

func (a *app) nodesDelete() *cobra.Command {
	return &cobra.Command{
		Use:   "delete NAME...",
		Short: "Delete nodes; their pods go as in any cluster that loses a machine",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, names []string) error {
			client, _, err := a.client()
			if err != nil {
				return err
			}
			var errs []error
			for _, name := range names {
				errs = append(errs, client.CoreV1().Nodes().Delete(cmd.Context(), name, metav1.DeleteOptions{}))
			}
			return errors.Join(errs...)
		},
	}
}

// client returns the administrator's client of a playground that runs, and what it is made from.
func (a *app) client() (kubernetes.Interface, *rest.Config, error) {
	dir, err := a.running()
	if err != nil {
		return nil, nil, err
	}
	config, err := admin(dir)
	if err != nil {
		return nil, nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, nil, fmt.Errorf("building client: %w", err)
	}
	return client, config, nil
}
