// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthgames/berth/playground/internal/control"
	"github.com/berthgames/berth/playground/internal/state"
)

// component returns the command that does verb to a component.
func (a *app) component(verb control.Verb) *cobra.Command {
	short := map[control.Verb]string{
		control.Kill:  "Send a signal to a component; one that ends by it is restarted",
		control.Stop:  "Stop a component and keep it down",
		control.Start: "Start a component that was stopped",
	}
	request := control.ComponentRequest{Verb: verb}
	cmd := &cobra.Command{
		Use:   string(verb) + " COMPONENT[/INSTANCE]",
		Short: short[verb],
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := a.running()
			if err != nil {
				return err
			}
			request.Component = args[0]
			return control.NewClient(dir).Component(cmd.Context(), request)
		},
	}
	if verb == control.Kill {
		cmd.Flags().IntVar(&request.Signal, "signal", int(syscall.SIGKILL), "Number of the signal.")
	}
	return cmd
}

func (a *app) logs() *cobra.Command {
	var follow bool
	cmd := &cobra.Command{
		Use:   "logs COMPONENT[/INSTANCE]",
		Short: `Print the log of a component, or of the "daemon"`,
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := a.dir()
			if err != nil {
				return err
			}
			return printLog(cmd, dir, args[0], follow)
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "Wait for more.")
	return cmd
}

func printLog(cmd *cobra.Command, dir state.Dir, component string, follow bool) error {
	log, err := os.Open(dir.Log(component))
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("there is no log of %q in %s", component, dir.Root())
	}
	if err != nil {
		return fmt.Errorf("opening log: %w", err)
	}
	defer func() { _ = log.Close() }() // only read
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := io.Copy(cmd.OutOrStdout(), log); err != nil {
			return fmt.Errorf("printing log: %w", err)
		}
		if !follow {
			return nil
		}
		select {
		case <-cmd.Context().Done():
			return nil
		case <-tick.C:
		}
	}
}
