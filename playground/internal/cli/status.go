// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/berthgames/berth/playground/internal/control"
)

func (a *app) status() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the components: process, restarts, readiness, ports",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := a.running()
			if err != nil {
				return err
			}
			status, err := control.NewClient(dir).Status(cmd.Context())
			if err != nil {
				return err
			}
			switch output {
			case "":
				return printStatus(cmd.OutOrStdout(), status)
			case "json":
				encoder := json.NewEncoder(cmd.OutOrStdout())
				encoder.SetIndent("", "  ")
				return encoder.Encode(status)
			default:
				return fmt.Errorf(`--output: %q is not supported; it must be "json" or left out`, output)
			}
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", `"json" for programs.`)
	return cmd
}

func printStatus(out io.Writer, s control.Status) error {
	fmt.Fprintf(out, "Playground %s, daemon %d, kubeconfig %s\n\n", s.Phase, s.DaemonPID, s.Kubeconfig)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "COMPONENT\tSTATE\tREADY\tPID\tRESTARTS\tPORTS\tMESSAGE")
	for _, c := range s.Components {
		var ports []string
		for _, name := range slices.Sorted(maps.Keys(c.Ports)) {
			ports = append(ports, fmt.Sprintf("%s=%d", name, c.Ports[name]))
		}
		pid := "-"
		if c.PID != 0 {
			pid = fmt.Sprint(c.PID)
		}
		fmt.Fprintf(w, "%s\t%s\t%t\t%s\t%d\t%s\t%s\n", c.Name, c.State, c.Ready, pid, c.Restarts, strings.Join(ports, ","), c.Message)
	}
	return w.Flush()
}
