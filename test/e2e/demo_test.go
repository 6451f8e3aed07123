// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berthgames/berth/test/cluster"
)

// TestDemoTwice runs what make demo runs, twice on one cluster: the second time the first one's set is still there.
func TestDemoTwice(t *testing.T) {
	e := newEnv(t, "e2e-demo")
	kubeconfig, err := berth.Playground(t.Context(), "kubeconfig")
	e.must(err, "asking for the kubeconfig")
	for _, round := range []string{"first", "second"} {
		demo := exec.CommandContext(t.Context(), filepath.Join(os.Getenv(cluster.BinVariable), "demo"),
			"--kubeconfig", strings.TrimSpace(kubeconfig), "--sample", "manifests/samples/arena.yaml", "--namespace", e.namespace)
		demo.Dir = berth.Root
		output, err := demo.CombinedOutput()
		if err != nil {
			t.Fatalf("the %s demo failed: %v\n%s", round, err, output)
		}
		for _, want := range []string{"arena-9 ", "/UDP", "Neighbours in number are kept apart", "arena-4 left, nobody else"} {
			if !strings.Contains(string(output), want) {
				t.Errorf("the %s demo does not print %q:\n%s", round, want, output)
			}
		}
	}
}
