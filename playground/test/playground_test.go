// SPDX-License-Identifier: Apache-2.0

// Package test tries the built playground from outside, through its command line.
package test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/berthgames/berth/playground/internal/control"
	"github.com/berthgames/berth/playground/internal/state"
	"github.com/berthgames/berth/playground/internal/supervisor"
)

// binVariable names the folder of the built programs. make test-unit sets it.
const binVariable = "BERTH_BIN"

// patience is far more than anything here takes on a busy machine.
const patience = 2 * time.Minute

// playground is one playground in a folder of its own.
type playground struct {
	*testing.T
	program string
	dir     state.Dir
}

func newPlayground(t *testing.T) playground {
	t.Helper()
	bin := os.Getenv(binVariable)
	if bin == "" {
		t.Skip(binVariable + " is not set; make test-unit builds the programs and sets it")
	}
	dir, err := state.At(filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	p := playground{T: t, program: filepath.Join(bin, "playground"), dir: dir}
	t.Cleanup(func() {
		if t.Failed() {
			p.explain()
		}
		_, _ = p.try(context.WithoutCancel(t.Context()), "down") // also after a failure
	})
	return p
}

// run runs a command and returns its output; a failure ends the test.
func (p playground) run(args ...string) string {
	p.Helper()
	output, err := p.try(p.Context(), args...)
	if err != nil {
		p.Fatal(err)
	}
	return output
}

func (p playground) try(ctx context.Context, args ...string) (string, error) {
	var output bytes.Buffer
	cmd := p.command(ctx, args...)
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		return output.String(), fmt.Errorf("playground %s: %w\n%s", strings.Join(args, " "), err, &output)
	}
	return output.String(), nil
}

func (p playground) command(ctx context.Context, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, p.program, append([]string{"--state", p.dir.Root()}, args...)...)
}

func (p playground) status() control.Status {
	p.Helper()
	var status control.Status
	if err := json.Unmarshal([]byte(p.run("status", "-o", "json")), &status); err != nil {
		p.Fatal(err)
	}
	return status
}

func (p playground) component(name string) supervisor.Status {
	p.Helper()
	components := p.status().Components
	i := slices.IndexFunc(components, func(s supervisor.Status) bool { return s.Name == name })
	if i < 0 {
		p.Fatalf("there is no component %s among %+v", name, components)
	}
	return components[i]
}

// eventually repeats check until it succeeds.
func (p playground) eventually(what string, check func() error) {
	p.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			p.Fatalf("%s: %v", what, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// processes returns the daemon and its children as the state folder names them.
func (p playground) processes() []state.Process {
	p.Helper()
	record, err := p.dir.Load()
	if err != nil {
		p.Fatal(err)
	}
	return append(slices.Collect(maps.Values(record.Children)), record.Daemon)
}

// nothingLeft fails unless all the processes end soon.
func (p playground) nothingLeft(processes []state.Process) {
	p.Helper()
	if len(processes) < 5 {
		p.Errorf("only %d processes were running", len(processes))
	}
	ctx, cancel := context.WithTimeout(p.Context(), 10*time.Second)
	defer cancel()
	if err := state.WaitGone(ctx, processes...); err != nil {
		p.Error(err)
	}
}

func (p playground) noFolder() {
	p.Helper()
	if _, err := os.Stat(p.dir.Root()); !errors.Is(err, os.ErrNotExist) {
		p.Errorf("the state folder is still there: %v", err)
	}
}

// explain prints the ends of all logs.
func (p playground) explain() {
	logs, err := filepath.Glob(p.dir.Join("logs", "*.log"))
	if err != nil {
		p.Log(err)
	}
	for _, path := range logs {
		raw, err := os.ReadFile(path)
		p.Logf("%s (%v):\n%s", path, err, raw[max(0, len(raw)-2000):])
	}
}
