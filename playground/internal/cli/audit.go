// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthgames/berth/playground/internal/audit"
)

func (a *app) audit() *cobra.Command {
	cmd := &cobra.Command{Use: "audit", Short: "Read the audit log of a playground that was started with --audit"}
	cmd.AddCommand(a.auditWrites())
	return cmd
}

func (a *app) auditWrites() *cobra.Command {
	var since, prefix, output string
	cmd := &cobra.Command{
		Use:   "writes",
		Short: "Count the write requests of every client",
		Long: "Counts the write requests of every client, those about leases apart. Dry runs, reviews and token requests change\n" +
			"nothing and are left out. With -o json: every single write, in the order of arrival.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			filter := audit.Filter{ClientPrefix: prefix}
			if since != "" {
				var err error
				if filter.Since, err = time.Parse(time.RFC3339Nano, since); err != nil {
					return fmt.Errorf("--since: %w", err)
				}
			}
			dir, err := a.dir()
			if err != nil {
				return err
			}
			writes, err := audit.Read(dir.AuditDir(), filter)
			if err != nil {
				return err
			}
			return printWrites(cmd.OutOrStdout(), writes, output)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&since, "since", "", "Only requests from this time on (RFC 3339).")
	flags.StringVar(&prefix, "client-prefix", "", "Only clients whose user name or user agent begins like this.")
	flags.StringVarP(&output, "output", "o", "", `"json" for programs.`)
	return cmd
}

func printWrites(out io.Writer, writes []audit.Write, output string) error {
	switch output {
	case "json":
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(map[string]any{"writes": slices.Concat([]audit.Write{}, writes)}) // [] rather than null
	case "":
	default:
		return fmt.Errorf(`--output: %q is not supported; it must be "json" or left out`, output)
	}
	leases := 0
	rest := slices.DeleteFunc(slices.Clone(writes), func(w audit.Write) bool {
		if w.IsLease() {
			leases++
		}
		return w.IsLease()
	})
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "COUNT\tVERB\tRESOURCE\tUSER\tCLIENT")
	for _, c := range audit.Counts(rest) {
		client, _, _ := strings.Cut(c.UserAgent, " (") // platform and build follow
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\n", c.Count, c.Verb, c.Resource, c.User, client)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	fmt.Fprintf(out, "\n%d writes, and %d about leases.\n", len(rest), leases)
	return nil
}
