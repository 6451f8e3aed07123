// SPDX-License-Identifier: Apache-2.0

package state

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// Process names one process for ever: its number together with the moment it started, because numbers are used again.
type Process struct {
	PID int `json:"pid"`
	// Start is the machine's boot id and the start time in clock ticks since that boot (field 22 of proc(5) stat).
	Start string `json:"start"`
}

// Identify returns the running process with the number pid. A process that does not exist or is a zombie is
// os.ErrProcessDone.
func Identify(pid int) (Process, error) {
	if pid <= 0 {
		return Process{}, os.ErrProcessDone
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return Process{}, fmt.Errorf("reading boot id: %w", err)
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return Process{}, os.ErrProcessDone
	}
	if err != nil {
		return Process{}, fmt.Errorf("reading process %d: %w", pid, err)
	}
	status, start, err := parseStat(stat)
	if err != nil {
		return Process{}, fmt.Errorf("reading process %d: %w", pid, err)
	}
	if status == "Z" || status == "X" {
		return Process{}, os.ErrProcessDone
	}
	return Process{PID: pid, Start: strings.TrimSpace(string(boot)) + "/" + start}, nil
}

// parseStat takes the state and the start time out of the content of /proc/<pid>/stat. The second field, the program's
// name in parentheses, may hold spaces and parentheses itself, so counting begins behind the last one.
func parseStat(stat []byte) (status, start string, err error) {
	end := bytes.LastIndexByte(stat, ')')
	if end < 0 {
		return "", "", fmt.Errorf("no program name in %q", stat)
	}
	fields := strings.Fields(string(stat[end+1:]))
	const startField = 22 - 3 // fields are numbered from 1, and the first behind the name is number 3
	if len(fields) <= startField {
		return "", "", fmt.Errorf("only %d fields behind the program name in %q", len(fields), stat)
	}
	return fields[0], fields[startField], nil
}

// Alive tells whether exactly this process still runs.
func (p Process) Alive() bool {
	now, err := Identify(p.PID)
	return err == nil && now == p
}

// Signal sends sig to the process, and never to another one that got its number. A process that is gone is no error.
func (p Process) Signal(sig syscall.Signal) error {
	if p.PID <= 0 {
		return nil
	}
	// On Linux the handle is a pidfd: from here on it means this process or none.
	handle, err := os.FindProcess(p.PID)
	if err != nil {
		return fmt.Errorf("opening process %d: %w", p.PID, err)
	}
	defer func() { _ = handle.Release() }() // only frees the handle
	if !p.Alive() {
		return nil
	}
	if err := handle.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("sending %s to process %d: %w", sig, p.PID, err)
	}
	return nil
}

// WaitGone blocks until none of the processes runs.
func WaitGone(ctx context.Context, processes ...Process) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for _, p := range processes {
		for p.Alive() {
			select {
			case <-ctx.Done():
				return fmt.Errorf("waiting for process %d to end: %w", p.PID, ctx.Err())
			case <-tick.C:
			}
		}
	}
	return nil
}

// Kill ends the processes at once and waits until they are gone.
func Kill(ctx context.Context, processes ...Process) error {
	var errs []error
	for _, p := range processes {
		errs = append(errs, p.Signal(syscall.SIGKILL))
	}
	return errors.Join(append(errs, WaitGone(ctx, processes...))...)
}
