// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/berthgames/berth/playground/internal/program"
	"github.com/berthgames/berth/playground/internal/serviceaccount"
)

func (a *app) kubeconfig() *cobra.Command {
	var account string
	cmd := &cobra.Command{
		Use:   "kubeconfig",
		Short: "Print the path of a kubeconfig: the administrator's, or a service account's",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := a.running()
			if err != nil {
				return err
			}
			path := dir.Kubeconfig()
			if account != "" {
				namespace, name, ok := strings.Cut(account, "/")
				if !ok || namespace == "" || name == "" {
					return fmt.Errorf("--service-account: %q must be namespace/name", account)
				}
				config, err := admin(dir)
				if err != nil {
					return err
				}
				if path, err = serviceaccount.Write(cmd.Context(), dir, config, namespace, name); err != nil {
					return err
				}
			}
			fmt.Fprintln(cmd.OutOrStdout(), path)
			return nil
		},
	}
	cmd.Flags().StringVar(&account, "service-account", "", "Service account as namespace/name; its token is good for 30 days.")
	return cmd
}

// kubectl becomes the kubectl in this binary, with the administrator's kubeconfig.
func (a *app) kubectl() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "kubectl [--state DIR] [--] ARGS...",
		Short: "Run kubectl against the playground",
		RunE: func(_ *cobra.Command, args []string) error {
			self, err := os.Executable()
			if err != nil {
				return fmt.Errorf("finding own binary: %w", err)
			}
			dir, err := a.running()
			if err != nil {
				return err
			}
			env := append(os.Environ(), "KUBECONFIG="+dir.Kubeconfig())
			return syscall.Exec(self, append([]string{program.Kubectl}, args...), env)
		},
	}
	cmd.Flags().SetInterspersed(false) // flags behind the first argument are kubectl's
	return cmd
}

func (a *app) envtestAssets() *cobra.Command {
	return &cobra.Command{
		Use:   "envtest-assets DIR",
		Short: "Make a folder for KUBEBUILDER_ASSETS with links named etcd, kube-apiserver and kubectl",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := filepath.Abs(args[0])
			if err != nil {
				return fmt.Errorf("finding folder: %w", err)
			}
			if err := linkAssets(dir); err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), dir)
			return nil
		},
	}
}

func linkAssets(dir string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding own binary: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making folder: %w", err)
	}
	for _, name := range []string{program.Etcd, program.APIServer, program.Kubectl} {
		link := filepath.Join(dir, name)
		if target, err := os.Readlink(link); err == nil && target == self {
			continue
		}
		if err := os.Remove(link); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("replacing %s: %w", link, err)
		}
		if err := os.Symlink(self, link); err != nil {
			return fmt.Errorf("linking %s: %w", link, err)
		}
	}
	return nil
}
