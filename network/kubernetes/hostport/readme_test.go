// SPDX-License-Identifier: Apache-2.0

package hostport

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The README shows the parameters that the plugin reads, no more and no fewer.
func TestReadmeListsTheParameters(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	yes := func(b bool) string {
		if b {
			return "yes"
		}
		return ""
	}
	want := "| Name | Value | Default | Required | Repeated |\n| --- | --- | --- | --- | --- |\n"
	for _, row := range spec().Rows() {
		line := fmt.Sprintf("| `%s` | `%s` | %s | %s | %s |", row.Name, row.Type, row.Default, yes(row.Required), yes(row.Repeated))
		want += strings.ReplaceAll(line, "|  |", "| |") + "\n"
	}
	if !strings.Contains(string(readme), want+"\n") {
		t.Errorf("README.md has no table\n%s", want)
	}
}
