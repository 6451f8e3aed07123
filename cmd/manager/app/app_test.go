// SPDX-License-Identifier: Apache-2.0

package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/leaderelection"
)

// A process that cannot start says which setting is wrong.
func TestRunSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := file("good.toml", "[kubernetes]\nenable = false\n")
	cases := map[string]struct {
		args []string
		env  map[string]string
		want []string
	}{
		"flags": {args: []string{"--webhook-port=x"}, want: []string{"webhook-port"}},
		"environment (F26)": {
			args: []string{"--provider-config=" + good}, env: map[string]string{"NETWORK_TOTAL_WAIT_TIME": "soon"},
			want: []string{"NETWORK_TOTAL_WAIT_TIME", `"soon"`},
		},
		"a provider file that is missing": {
			args: []string{"--provider-config=" + filepath.Join(dir, "none.toml")}, want: []string{"none.toml"},
		},
		"a provider file with a bad range (F10)": {
			args: []string{"--provider-config=" + file("bad.toml", "[kubernetes]\nenable = true\n[kubernetes.hostPort]\nmin_port = 9000\nmax_port = 70000\n")},
			want: []string{"bad.toml", "[kubernetes.hostPort]", "max_port", "70000"},
		},
		"a kubeconfig that is missing": {
			args: []string{"--provider-config=" + good, "--kubeconfig=" + filepath.Join(dir, "none.conf")}, want: []string{"none.conf"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			err := Run(t.Context(), Process{Args: tc.args, Getenv: func(name string) string { return tc.env[name] }, Stdout: &out})
			if err == nil {
				t.Fatal("it ran")
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %q", err, want)
				}
			}
		})
	}
}

func TestRunPrintsHelp(t *testing.T) {
	var out strings.Builder
	if err := Run(t.Context(), Process{Args: []string{"-h"}, Getenv: os.Getenv, Stdout: &out}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "-provider-config") {
		t.Errorf("help: %s", out.String())
	}
}

// Case G01: a killed leader is replaced within 15 s. And a leader that is cut off steps down before another may lead.
func TestLeaseTimesAddUp(t *testing.T) {
	t.Parallel()
	look := time.Duration((1 + leaderelection.JitterFactor) * float64(retryPeriod))
	if worst := leaseDuration + 2*look; worst > 15*time.Second {
		t.Errorf("it may take %s", worst)
	}
	if renewDeadline >= leaseDuration || look >= renewDeadline {
		t.Errorf("lease %s, deadline %s, look every %s", leaseDuration, renewDeadline, look)
	}
}
