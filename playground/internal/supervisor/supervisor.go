// SPDX-License-Identifier: Apache-2.0

// Package supervisor keeps processes running: it starts them, watches their readiness, restarts them with a growing
// pause, and stops them in order. No process outlives the one that supervises it.
package supervisor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/berthgames/berth/playground/internal/state"
)

// Spec describes one supervised process.
type Spec struct {
	// Name is unique in a supervisor. "manager/0" is instance 0 of the group "manager".
	Name string
	// Command returns what to run. It is asked before every start, so that short-lived things (tokens, ports) can be
	// made anew; its error is shown as the reason of waiting and the start is tried again later.
	Command func(ctx context.Context) (Command, error)
	// Revision is shown in the status, to tell a replaced process from its predecessor.
	Revision string
	// Log is the file that gets the output of all starts.
	Log string
	// Ready returns nil when the process does its work. Nil means: ready as soon as it runs. It is never called at the
	// same time as Command, so both may share variables.
	Ready func(ctx context.Context) error
	// Grace is the time between SIGTERM and SIGKILL when the process is stopped. Zero sends SIGKILL at once.
	Grace time.Duration
}

// Command is a program with its arguments and surroundings.
type Command struct {
	Path string
	Args []string // without the program's name
	Env  []string // the whole environment as NAME=value; nothing is inherited
	Dir  string
	// Ports are shown in the status: what the port is for, and its number.
	Ports map[string]int
}

// State says what a process does.
type State string

// The states of a supervised process.
const (
	Running State = "running"
	Waiting State = "waiting" // ended or not startable; will be tried again
	Stopped State = "stopped" // on request
)

// Status is a snapshot of one process.
type Status struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	Ready bool   `json:"ready"`
	PID   int    `json:"pid,omitempty"`
	// Restarts counts starts after the first one.
	Restarts int `json:"restarts"`
	// Exited is true from an end that nobody asked for until the next start.
	Exited bool           `json:"exited,omitempty"`
	Ports  map[string]int `json:"ports,omitempty"`
	// Message says why the process is not ready, or how it ended last.
	Message string `json:"message,omitempty"`
	Log     string `json:"log"`
	// Revision is the revision of the specification.
	Revision string `json:"revision,omitempty"`
}

// Backoff is the pause before a restart. It doubles from Initial to Max and falls back to Initial once a process
// stayed up for Reset.
type Backoff struct{ Initial, Max, Reset time.Duration }

var errUnknown = errors.New("no such component")

// DefaultBackoff returns a kubelet's back-off, made shorter for people who wait.
func DefaultBackoff() Backoff {
	return Backoff{Initial: 500 * time.Millisecond, Max: 10 * time.Second, Reset: 30 * time.Second}
}

// Supervisor runs processes until it is closed. Safe for concurrent use.
type Supervisor struct {
	backoff  Backoff
	launcher *launcher
	// record is told about every start and end of a process, with all that run now.
	record func(map[string]state.Process) error

	mu       sync.Mutex
	children map[string]*child
	running  map[string]state.Process
	changed  chan struct{} // closed and replaced at every change of a status
}

// New returns a supervisor without processes. record is called, one call at a time, with all running processes by name
// whenever one starts or ends; its error stops the start.
func New(backoff Backoff, record func(map[string]state.Process) error) *Supervisor {
	return &Supervisor{
		backoff: backoff, launcher: newLauncher(), record: record,
		children: map[string]*child{}, running: map[string]state.Process{}, changed: make(chan struct{}),
	}
}

// Add starts to supervise a process. It does not wait for it. The process lives until Remove, not until the end of ctx.
func (s *Supervisor) Add(ctx context.Context, spec Spec) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.children[spec.Name]; taken {
		return fmt.Errorf("component %q exists already", spec.Name)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c := &child{
		spec: spec, parent: s, cancel: cancel, done: make(chan struct{}), wake: make(chan struct{}, 1), wanted: true,
		status: Status{Name: spec.Name, State: Waiting, Message: "starting", Log: spec.Log, Revision: spec.Revision},
	}
	s.children[spec.Name] = c
	go c.run(ctx)
	return nil
}

// Remove stops the named processes, waits for their end and forgets them. Unknown names are passed over.
func (s *Supervisor) Remove(names ...string) {
	s.mu.Lock()
	var gone []*child
	for _, name := range names {
		if c, ok := s.children[name]; ok {
			gone = append(gone, c)
		}
	}
	s.mu.Unlock()
	for _, c := range gone {
		c.cancel()
	}
	for _, c := range gone {
		<-c.done
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range gone {
		delete(s.children, c.spec.Name)
	}
	s.notifyLocked()
}

// Status returns all processes, sorted by name.
func (s *Supervisor) Status() []Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Status, 0, len(s.children))
	for _, name := range slices.Sorted(maps.Keys(s.children)) {
		all = append(all, s.children[name].status)
	}
	return all
}

// Start lets stopped processes run again. name is a process or a group of them.
func (s *Supervisor) Start(name string) error { return s.want(name, true) }

// Stop ends processes and keeps them down until Start.
func (s *Supervisor) Stop(name string) error { return s.want(name, false) }

func (s *Supervisor) want(name string, wanted bool) error {
	return s.each(name, func(c *child) error {
		c.wanted = wanted
		c.nudge()
		return nil
	})
}

// Nudge ends the pause before a restart of the named process, if it is in one.
func (s *Supervisor) Nudge(name string) {
	_ = s.each(name, func(c *child) error { c.nudge(); return nil }) // an unknown name has nothing to wait for
}

// Signal sends a signal to processes. Ending by it counts as a crash: they are restarted.
func (s *Supervisor) Signal(name string, sig syscall.Signal) error {
	return s.each(name, func(c *child) error {
		if c.cmd == nil {
			return fmt.Errorf("component %q does not run: %s", c.spec.Name, c.status.Message)
		}
		if err := c.cmd.Process.Signal(sig); err != nil {
			return fmt.Errorf("sending %s to %s: %w", sig, c.spec.Name, err)
		}
		return nil
	})
}

// each calls do for the process called name, or for all of the group called name, with the lock held.
func (s *Supervisor) each(name string, do func(*child) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	found := false
	for _, key := range slices.Sorted(maps.Keys(s.children)) {
		if key == name || strings.HasPrefix(key, name+"/") {
			found = true
			errs = append(errs, do(s.children[key]))
		}
	}
	if !found {
		return fmt.Errorf("%w %q; there are: %s", errUnknown, name,
			strings.Join(slices.Sorted(maps.Keys(s.children)), ", "))
	}
	return errors.Join(errs...)
}

// ExitedError tells that a process ended while somebody waited for its first readiness.
type ExitedError struct{ Status Status }

func (e *ExitedError) Error() string {
	return fmt.Sprintf("%s ended: %s (log: %s)", e.Status.Name, e.Status.Message, e.Status.Log)
}

// WaitReady blocks until the named process is ready, over as many restarts as it takes.
func (s *Supervisor) WaitReady(ctx context.Context, name string) error {
	return s.wait(ctx, name, func(Status) error { return nil })
}

// WaitFirstReady blocks until the named process is ready. One that ended or could not start is an *ExitedError.
func (s *Supervisor) WaitFirstReady(ctx context.Context, name string) error {
	return s.wait(ctx, name, func(status Status) error {
		if status.Restarts > 0 || status.Exited {
			return &ExitedError{Status: status}
		}
		return nil
	})
}

func (s *Supervisor) wait(ctx context.Context, name string, check func(Status) error) error {
	for {
		s.mu.Lock()
		c, changed := s.children[name], s.changed
		if c == nil {
			s.mu.Unlock()
			return fmt.Errorf("%w %q", errUnknown, name)
		}
		status := c.status
		s.mu.Unlock()
		if status.Ready {
			return nil
		}
		if err := check(status); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w (%s; log: %s)", name, context.Cause(ctx), status.Message, status.Log)
		case <-changed:
		}
	}
}

// update changes the status of a child and tells everybody who waits.
func (s *Supervisor) update(c *child, change func(*Status)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&c.status)
	s.notifyLocked()
}

func (s *Supervisor) notifyLocked() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// started and ended keep the record of running processes.
func (s *Supervisor) started(name string, p state.Process) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[name] = p
	return s.record(maps.Clone(s.running))
}

func (s *Supervisor) ended(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, name)
	return s.record(maps.Clone(s.running))
}
