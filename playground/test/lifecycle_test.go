// SPDX-License-Identifier: Apache-2.0

package test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/berthgames/berth/playground/internal/state"
)

// TestLifeOfAPlayground: up, status, a killed API server, down.
func TestLifeOfAPlayground(t *testing.T) {
	t.Parallel()
	p := newPlayground(t)
	p.run("up", "--kruise=false", "--nodes", "3", "--audit")
	status := p.status()
	if status.Phase != state.Ready {
		t.Errorf("phase %s, want %s", status.Phase, state.Ready)
	}
	for _, c := range status.Components {
		if !c.Ready || c.PID == 0 || c.Restarts != 0 {
			t.Errorf("component %+v, want it ready at its first start", c)
		}
	}
	if output := p.run("up", "--kruise=false", "--nodes", "4"); !strings.Contains(output, "is running already") {
		t.Errorf("the second up said %q", output)
	}
	nodes := func() error {
		output, err := p.try(t.Context(), "kubectl", "get", "nodes", "--no-headers")
		if ready := strings.Count(output, " Ready "); err != nil || ready != 4 {
			return fmt.Errorf("%d nodes ready, want 4: %w\n%s", ready, err, output)
		}
		return nil
	}
	p.eventually("nodes of the second up", nodes)

	killed := p.component("kube-apiserver")
	p.run("kill", "kube-apiserver")
	p.eventually("recovery of the API server", func() error {
		if c := p.component("kube-apiserver"); !c.Ready || c.Restarts != 1 || c.PID == killed.PID {
			return fmt.Errorf("component %+v", c)
		}
		return nil
	})
	p.eventually("nodes after the recovery", nodes)
	if output := p.run("audit", "writes", "--client-prefix", "playground-"); !strings.Contains(output, "playground-daemon") {
		t.Errorf("the audit log lacks the nodes that the daemon made:\n%s", output)
	}

	processes := p.processes()
	p.run("down")
	p.nothingLeft(processes)
	p.noFolder()
	if output := p.run("down"); !strings.Contains(output, "There is no playground") {
		t.Errorf("the second down said %q", output)
	}
}

// TestOneBinaryIsManyPrograms calls the links that envtest uses.
func TestOneBinaryIsManyPrograms(t *testing.T) {
	t.Parallel()
	p := newPlayground(t)
	assets := strings.TrimSpace(p.run("envtest-assets", filepath.Join(t.TempDir(), "assets")))
	for _, tc := range []struct{ name, arg, want string }{
		{"etcd", "--version", "etcd Version: 3."},
		{"kube-apiserver", "--version", "Kubernetes v1.37."},
		{"kubectl", "version", "Client Version: v1.37."},
	} {
		output, _ := exec.CommandContext(t.Context(), filepath.Join(assets, tc.name), tc.arg).CombinedOutput() // kubectl finds no server
		if !strings.Contains(string(output), tc.want) {
			t.Errorf("%s %s says %q, want %q", tc.name, tc.arg, output, tc.want)
		}
	}
}

// TestNothingOutlivesTheDaemon kills the daemon the hard way.
func TestNothingOutlivesTheDaemon(t *testing.T) {
	t.Parallel()
	p := newPlayground(t)
	p.run("up", "--kruise=false", "--nodes", "0")
	processes := p.processes()
	if err := syscall.Kill(p.status().DaemonPID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	p.nothingLeft(processes)
	if _, err := p.try(t.Context(), "status"); err == nil || !strings.Contains(err.Error(), "its daemon died") {
		t.Errorf("status says %v, want that the daemon died", err)
	}
	p.run("up", "--kruise=false", "--nodes", "0")
	processes = p.processes()
	p.run("down", "--keep")
	p.nothingLeft(processes)
	if _, err := os.Stat(p.dir.Log("kube-apiserver")); err != nil {
		t.Errorf("the kept folder has no logs: %v", err)
	}
	p.run("down")
	p.noFolder()
}

// TestForegroundEndsWithCtrlC interrupts a playground in the foreground, as a terminal does.
func TestForegroundEndsWithCtrlC(t *testing.T) {
	t.Parallel()
	p := newPlayground(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := p.command(ctx, "up", "--foreground", "--kruise=false", "--nodes", "1")
	output := &strings.Builder{}
	cmd.Stdout, cmd.Stderr = output, output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.eventually("readiness", func() error {
		if record, err := p.dir.Load(); err != nil || record.Phase != state.Ready {
			return fmt.Errorf("record %+v, %w", record, err)
		}
		return nil
	})
	processes := p.processes()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the end by Ctrl-C: %v\n%s", err, output)
	}
	t.Logf("Ctrl-C took %s", time.Since(begin))
	p.nothingLeft(processes)
	p.noFolder()
}
