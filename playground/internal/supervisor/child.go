// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/berthgames/berth/playground/internal/state"
)

// The pauses between two readiness probes: short while somebody may be waiting, longer afterwards.
const (
	probeStarting = 50 * time.Millisecond
	probeRunning  = 500 * time.Millisecond
	probeTimeout  = 2 * time.Second
)

// child is one supervised process.
//
//	          start                    not wanted
//	Waiting --------> Running ------------------------> Stopped
//	   ^                 |                                 |
//	   |   ended         |                        wanted   |
//	   +-----------------+<--------------------------------+
type child struct {
	spec   Spec
	parent *Supervisor
	cancel context.CancelFunc
	done   chan struct{} // closed when run has ended
	wake   chan struct{} // holds one token when wanted has changed or a pause shall end

	// Guarded by the supervisor's lock.
	status Status
	wanted bool
	starts int
	cmd    *exec.Cmd // nil unless the process runs
}

func (c *child) nudge() {
	select {
	case c.wake <- struct{}{}:
	default: // a token is there already
	}
}

func (c *child) isWanted() bool {
	c.parent.mu.Lock()
	defer c.parent.mu.Unlock()
	return c.wanted
}

// run keeps the process as it is wanted until ctx ends.
func (c *child) run(ctx context.Context) {
	defer close(c.done)
	pause := c.parent.backoff.Initial
	for ctx.Err() == nil {
		if !c.isWanted() {
			c.parent.update(c, func(s *Status) { s.State, s.Ready, s.PID, s.Exited, s.Message = Stopped, false, 0, false, "" })
			pause = c.parent.backoff.Initial
			c.sleep(ctx, -1)
			continue
		}
		begin := time.Now()
		err := c.once(ctx)
		if ctx.Err() != nil || !c.isWanted() {
			continue
		}
		if time.Since(begin) >= c.parent.backoff.Reset {
			pause = c.parent.backoff.Initial
		}
		c.parent.update(c, func(s *Status) {
			s.State, s.Ready, s.PID, s.Exited, s.Message = Waiting, false, 0, true, err.Error()
		})
		c.sleep(ctx, pause)
		pause = min(2*pause, c.parent.backoff.Max)
	}
}

// sleep waits for d, a nudge or the end of ctx. A negative d means for ever.
func (c *child) sleep(ctx context.Context, d time.Duration) {
	var elapsed <-chan time.Time
	if d >= 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		elapsed = timer.C
	}
	select {
	case <-ctx.Done():
	case <-c.wake:
	case <-elapsed:
	}
}

// exit is how a process ended; a nil error is status 0.
type exit struct{ err error }

// once runs the process one time. It returns how the process ended, or why it could not start; never nil.
func (c *child) once(ctx context.Context) error {
	command, err := c.spec.Command(ctx)
	if err != nil {
		return err
	}
	log, err := os.OpenFile(c.spec.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("opening log: %w", err)
	}
	defer func() { _ = log.Close() }() // the process has its own handle
	cmd := exec.Command(command.Path, command.Args...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = command.Env, command.Dir, log, log
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would inherit the environment of the daemon
	}
	if err := c.parent.launcher.start(cmd); err != nil {
		return fmt.Errorf("starting %s: %w", command.Path, err)
	}
	exited := make(chan exit, 1)
	if err := c.began(cmd, command); err != nil {
		_ = cmd.Process.Kill() // it is not recorded, so it must not live
		_ = cmd.Wait()
		return err
	}
	go func() { exited <- exit{cmd.Wait()} }()

	probeCtx, stopProbing := context.WithCancel(ctx)
	probed := make(chan struct{})
	go func() { defer close(probed); c.probe(probeCtx) }()
	err = c.watch(ctx, cmd.Process, exited)
	stopProbing()
	<-probed
	return errors.Join(err, c.endedNow())
}

// began notes that the process runs.
func (c *child) began(cmd *exec.Cmd, command Command) error {
	identity, err := state.Identify(cmd.Process.Pid)
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	if err := c.parent.started(c.spec.Name, identity); err != nil {
		return fmt.Errorf("recording process: %w", err)
	}
	c.parent.update(c, func(s *Status) {
		if c.starts > 0 {
			s.Restarts++
		}
		c.starts++
		c.cmd = cmd
		s.State, s.PID, s.Ports, s.Exited = Running, cmd.Process.Pid, command.Ports, false
		s.Ready, s.Message = c.spec.Ready == nil, "not ready yet"
		if s.Ready {
			s.Message = ""
		}
	})
	return nil
}

func (c *child) endedNow() error {
	c.parent.update(c, func(s *Status) {
		c.cmd = nil
		s.Ready, s.PID = false, 0
	})
	return c.parent.ended(c.spec.Name)
}

// watch waits for the end of the process, and brings it about when the process is not wanted any more.
func (c *child) watch(ctx context.Context, process *os.Process, exited <-chan exit) error {
	for {
		select {
		case e := <-exited:
			if e.err == nil {
				return errors.New("exit status 0")
			}
			return e.err
		case <-ctx.Done():
			return c.terminate(process, exited)
		case <-c.wake:
			if !c.isWanted() {
				return c.terminate(process, exited)
			}
		}
	}
}

func (c *child) terminate(process *os.Process, exited <-chan exit) error {
	if c.spec.Grace > 0 {
		if err := process.Signal(syscall.SIGTERM); err == nil {
			timer := time.NewTimer(c.spec.Grace)
			defer timer.Stop()
			select {
			case <-exited:
				return errors.New("stopped")
			case <-timer.C:
			}
		}
	}
	// The whole group: the process may have started others. The number cannot mean anybody else yet: it was in use a
	// moment ago, and Linux hands out all others first.
	if err := syscall.Kill(-process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("killing %s: %w", c.spec.Name, err)
	}
	<-exited
	return errors.New("stopped")
}

// probe keeps the readiness up to date until ctx ends.
func (c *child) probe(ctx context.Context) {
	if c.spec.Ready == nil {
		return
	}
	pause := probeStarting
	for {
		probeCtx, cancel := context.WithTimeout(ctx, probeTimeout)
		err := c.spec.Ready(probeCtx)
		cancel()
		if ctx.Err() != nil {
			return
		}
		c.parent.update(c, func(s *Status) {
			s.Ready, s.Message = err == nil, ""
			if err != nil {
				s.Message = "not ready: " + err.Error()
			}
		})
		if err == nil {
			pause = probeRunning
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}
