// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthgames/berth/playground/internal/state"
)

// parentVariable makes the test binary a parent that supervises a shell and waits to be killed.
const parentVariable = "SUPERVISOR_TEST_PARENT"

func TestMain(m *testing.M) {
	if folder := os.Getenv(parentVariable); folder != "" {
		if err := beParent(folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

func beParent(folder string) error {
	s := New(DefaultBackoff(), func(map[string]state.Process) error { return nil })
	if err := s.Add(context.Background(), shell("child", filepath.Join(folder, "log"), "sleep 600")); err != nil {
		return err
	}
	if err := s.WaitReady(context.Background(), "child"); err != nil {
		return err
	}
	fmt.Println(s.Status()[0].PID)
	select {}
}

func shell(name, log, script string) Spec {
	return Spec{Name: name, Log: log, Command: func(context.Context) (Command, error) {
		return Command{Path: "/bin/sh", Args: []string{"-c", script}, Dir: "/"}, nil
	}}
}

// fixture is a supervisor with the last record it wrote.
type fixture struct {
	*testing.T
	*Supervisor
	log string

	mu      sync.Mutex
	running map[string]state.Process
}

func newFixture(t *testing.T) *fixture {
	t.Parallel()
	f := &fixture{T: t, log: filepath.Join(t.TempDir(), "log")}
	f.Supervisor = New(Backoff{Initial: 10 * time.Millisecond, Max: 20 * time.Millisecond, Reset: time.Hour},
		func(running map[string]state.Process) error {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.running = running
			return nil
		})
	t.Cleanup(func() {
		for _, s := range f.Status() {
			f.Remove(s.Name)
		}
	})
	return f
}

func (f *fixture) add(spec Spec) {
	f.Helper()
	if err := f.Add(f.Context(), spec); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) recorded() map[string]state.Process {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.running
}

// eventually waits until the status of the one process is as wanted.
func (f *fixture) eventually(what string, ok func(Status) bool) Status {
	f.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		status := f.Status()[0]
		if ok(status) {
			return status
		}
		if time.Now().After(deadline) {
			f.Fatalf("never %s; status %+v", what, status)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestCrashedProcessIsRestarted(t *testing.T) {
	f := newFixture(t)
	starts := 0 // probes follow a start, so they do not race with it
	spec := shell("a", f.log, "echo once; exec sleep 600")
	command := spec.Command
	spec.Command = func(ctx context.Context) (Command, error) { starts++; return command(ctx) }
	spec.Ready = func(context.Context) error {
		if output, err := os.ReadFile(f.log); err != nil || strings.Count(string(output), "once") != starts {
			return fmt.Errorf("no output of start %d yet", starts)
		}
		return nil
	}
	f.add(spec)
	first := f.eventually("ready", func(s Status) bool { return s.Ready })
	if got := f.recorded()["a"].PID; got != first.PID {
		t.Errorf("recorded process %d, want %d", got, first.PID)
	}
	if err := f.Signal("a", syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	second := f.eventually("restarted", func(s Status) bool { return s.Ready && s.Restarts == 1 })
	if second.PID == first.PID {
		t.Error("the process is the same after the restart")
	}
	f.Remove("a")
	if diff := cmp.Diff(map[string]state.Process{}, f.recorded()); diff != "" {
		t.Errorf("recorded processes (-want +got):\n%s", diff)
	}
	if process, err := state.Identify(second.PID); err == nil {
		t.Errorf("process %v outlived its removal", process)
	}
}

func TestStoppedProcessStaysDownUntilStarted(t *testing.T) {
	f := newFixture(t)
	f.add(shell("a/0", f.log, "sleep 600"))
	pid := f.eventually("ready", func(s Status) bool { return s.Ready }).PID
	if err := f.Stop("a"); err != nil {
		t.Fatal(err)
	}
	f.eventually("stopped", func(s Status) bool { return s.State == Stopped && !s.Ready && s.PID == 0 })
	if _, err := state.Identify(pid); err == nil {
		t.Error("the process runs although it is stopped")
	}
	if err := f.Signal("a/0", syscall.SIGKILL); err == nil {
		t.Error("a signal to a stopped process is no error")
	}
	if err := f.Start("a"); err != nil {
		t.Fatal(err)
	}
	f.eventually("ready again", func(s Status) bool { return s.Ready && s.State == Running })
}

func TestGraceLetsAProcessSayGoodbye(t *testing.T) {
	f := newFixture(t)
	spec := shell("a", f.log, "trap 'echo goodbye; exit 0' TERM; echo up; while :; do sleep 0.01; done")
	spec.Grace = 20 * time.Second
	spec.Ready = func(context.Context) error {
		if output, err := os.ReadFile(f.log); err != nil || !strings.Contains(string(output), "up") {
			return errors.New("not up")
		}
		return nil
	}
	f.add(spec)
	f.eventually("ready", func(s Status) bool { return s.Ready })
	f.Remove("a")
	if output, err := os.ReadFile(f.log); err != nil || !strings.Contains(string(output), "goodbye") {
		t.Errorf("log %q, %v: the process was not asked to stop", output, err)
	}
}

func TestStubbornProcessIsKilledWithItsGroup(t *testing.T) {
	f := newFixture(t)
	spec := shell("a", f.log, "trap '' TERM; sleep 600 & echo $!; wait; wait")
	spec.Grace = 50 * time.Millisecond
	f.add(spec)
	var grandchild int
	f.eventually("a grandchild", func(Status) bool {
		output, err := os.ReadFile(f.log)
		if err != nil {
			return false
		}
		_, err = fmt.Sscan(string(output), &grandchild)
		return err == nil
	})
	process, err := state.Identify(grandchild)
	if err != nil {
		t.Fatal(err)
	}
	f.Remove("a")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := state.WaitGone(ctx, process); err != nil {
		t.Error(err)
	}
}

func TestFirstReadinessFailsWhenTheProcessEnds(t *testing.T) {
	f := newFixture(t)
	spec := shell("a", f.log, "exit 3")
	spec.Ready = func(context.Context) error { return errors.New("never") }
	f.add(spec)
	err := f.WaitFirstReady(t.Context(), "a")
	var exited *ExitedError
	if !errors.As(err, &exited) {
		t.Fatalf("error %v, want an ExitedError", err)
	}
	if err := f.WaitFirstReady(t.Context(), "b"); err == nil {
		t.Error("waiting for an unknown process is no error")
	}
}

func TestReadinessFollowsTheProbe(t *testing.T) {
	f := newFixture(t)
	var mu sync.Mutex
	answer := errors.New("warming up")
	spec := shell("a", f.log, "sleep 600")
	spec.Ready = func(context.Context) error {
		mu.Lock()
		defer mu.Unlock()
		return answer
	}
	f.add(spec)
	f.eventually("told why", func(s Status) bool { return !s.Ready && s.Message == "not ready: warming up" })
	mu.Lock()
	answer = nil
	mu.Unlock()
	f.eventually("ready", func(s Status) bool { return s.Ready && s.Message == "" })
}

func TestStartIsTriedAgainUntilItsPreparationSucceeds(t *testing.T) {
	f := newFixture(t)
	f.backoff = Backoff{Initial: time.Hour, Max: time.Hour, Reset: time.Hour}
	var mu sync.Mutex
	prepared := false
	spec := shell("a", f.log, "sleep 600")
	command := spec.Command
	spec.Command = func(ctx context.Context) (Command, error) {
		mu.Lock()
		defer mu.Unlock()
		if !prepared {
			return Command{}, errors.New("secret missing")
		}
		return command(ctx)
	}
	f.add(spec)
	f.eventually("waiting", func(s Status) bool { return s.State == Waiting && s.Message == "secret missing" })
	mu.Lock()
	prepared = true
	mu.Unlock()
	f.Nudge("a")
	if status := f.eventually("ready", func(s Status) bool { return s.Ready }); status.Restarts != 0 {
		t.Errorf("%d restarts, want none: the process never ran before", status.Restarts)
	}
}

func TestUnknownComponentsAreNamed(t *testing.T) {
	f := newFixture(t)
	f.add(shell("a/0", f.log, "sleep 600"))
	want := `no such component "b"; there are: a/0`
	for name, do := range map[string]func(string) error{"start": f.Start, "stop": f.Stop} {
		if err := do("b"); err == nil || err.Error() != want {
			t.Errorf("%s: error %v, want %s", name, err, want)
		}
	}
	if err := f.Add(t.Context(), shell("a/0", f.log, "true")); err == nil {
		t.Error("a name was given twice")
	}
}

// TestChildrenDieWithTheirParent kills a supervising process the hard way.
func TestChildrenDieWithTheirParent(t *testing.T) {
	t.Parallel()
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), parentVariable+"="+t.TempDir())
	parent.Stderr = os.Stderr
	output, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscan(line, &pid); err != nil {
		t.Fatal(err)
	}
	child, err := state.Identify(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // it was killed
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := state.WaitGone(ctx, child); err != nil {
		t.Error(err)
	}
}
