// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"os/exec"
	"runtime"
	"syscall"
)

// launcher starts all children from one operating system thread that lives as long as this process.
//
// Linux sends a child its parent-death signal when the *thread* that started it ends, and Go ends threads as it
// likes. With one lasting thread the signal means what we need: whatever kills the daemon, kills its children.
type launcher struct{ requests chan launch }

type launch struct {
	cmd  *exec.Cmd
	done chan<- error
}

func newLauncher() *launcher {
	l := &launcher{requests: make(chan launch)}
	go func() {
		runtime.LockOSThread() // never unlocked: the thread must not serve other goroutines, nor end
		for r := range l.requests {
			r.done <- r.cmd.Start()
		}
	}()
	return l
}

// start starts cmd in a process group of its own, so that Ctrl-C in a terminal reaches only the daemon, which stops
// the children in the right order.
func (l *launcher) start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	done := make(chan error, 1)
	l.requests <- launch{cmd: cmd, done: done}
	return <-done
}
