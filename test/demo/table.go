// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/berthgames/berth/test/expect"
)

// printServers prints one line per server: what it is, where it runs, how players reach it.
func printServers(out io.Writer, servers []expect.Server) {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "  NAME\tSTATE\tOPSSTATE\tNODE\tEXTERNAL ADDRESS")
	for _, server := range servers {
		fmt.Fprintf(table, "  %s\t%s\t%s\t%s\t%s\n", server.GameServer.Name, server.GameServer.Status.CurrentState,
			server.GameServer.Spec.OpsState, server.Pod.Spec.NodeName, strings.Join(server.Addresses(), ", "))
	}
	_ = table.Flush() // A terminal that is gone needs no table.
}

// printPlacement prints which ordinals sit on which node.
func printPlacement(out io.Writer, servers []expect.Server) {
	onNode := map[string][]string{}
	for _, server := range servers {
		onNode[server.Pod.Spec.NodeName] = append(onNode[server.Pod.Spec.NodeName], fmt.Sprint(server.Ordinal))
	}
	fmt.Fprintln(out, "\n  Neighbours in number are kept apart:")
	for _, node := range slices.Sorted(maps.Keys(onNode)) {
		fmt.Fprintf(out, "  %s: %s\n", node, strings.Join(onNode[node], ", "))
	}
}
