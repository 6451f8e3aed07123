// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthgames/berth/playground/internal/control"
	"github.com/berthgames/berth/playground/internal/daemon"
	"github.com/berthgames/berth/playground/internal/kruiseassets"
	"github.com/berthgames/berth/playground/internal/state"
)

func (a *app) up() *cobra.Command {
	var (
		options    control.Options
		foreground bool
	)
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start the playground; on a running one, add what it lacks",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := a.dir()
			if err != nil {
				return err
			}
			if err := complete(&options); err != nil {
				return err
			}
			if foreground {
				return runForeground(cmd.Context(), dir, options, cmd.OutOrStdout())
			}
			return up(cmd.Context(), dir, options, cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&foreground, "foreground", false, "Stay in the terminal; Ctrl-C takes everything down.")
	flags.BoolVar(&options.Audit, "audit", false, "Log all API requests, see: playground audit.")
	flags.BoolVar(&options.EtcdFsync, "etcd-fsync", false, "Have etcd write through to the disk; slower.")
	flags.BoolVar(&options.Kruise, "kruise", true, "Install OpenKruise and run its manager.")
	flags.StringVar(&options.KruiseManager, "kruise-manager", "", "Program of OpenKruise's manager (default: beside this program).")
	options.Nodes.Register(flags)
	return cmd
}

// daemon is the hidden command that up runs in the background.
func (a *app) daemon() *cobra.Command {
	return &cobra.Command{
		Use: "daemon", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := a.dir()
			if err != nil {
				return err
			}
			var options control.Options
			raw, err := os.ReadFile(dir.OptionsFile())
			if err != nil {
				return fmt.Errorf("reading options: %w", err)
			}
			if err := json.Unmarshal(raw, &options); err != nil {
				return fmt.Errorf("reading options: %w", err)
			}
			log, err := os.OpenFile(dir.ProgressLog(), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
			if err != nil {
				return fmt.Errorf("opening progress log: %w", err)
			}
			return daemon.Run(cmd.Context(), dir, options, log)
		},
	}
}

// complete fills in and checks what the flags leave open, before anything is started.
func complete(o *control.Options) error {
	if _, invalid := o.Nodes.Options(); len(invalid) > 0 {
		return invalid.ToAggregate()
	}
	if !o.Kruise {
		return nil
	}
	if o.KruiseManager == "" {
		self, err := os.Executable()
		if err != nil {
			return fmt.Errorf("finding own binary: %w", err)
		}
		o.KruiseManager = filepath.Join(filepath.Dir(self), kruiseassets.Binary)
	}
	path, err := exec.LookPath(o.KruiseManager)
	if err != nil {
		return fmt.Errorf("finding OpenKruise's manager (give it with --kruise-manager, or use --kruise=false): %w", err)
	}
	o.KruiseManager, err = filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("finding OpenKruise's manager: %w", err)
	}
	return nil
}

// up starts a daemon in the background and waits until it is ready, or completes a playground that runs.
func up(ctx context.Context, dir state.Dir, o control.Options, out io.Writer) error {
	if record, err := dir.Load(); err == nil && record.Daemon.Alive() {
		fmt.Fprintf(out, "The playground in %s is running already.\n", dir.Root())
		if record.Phase == state.Starting {
			return follow(ctx, dir, record.Daemon, out)
		}
		if err := control.NewClient(dir).Ensure(ctx, o); err != nil {
			return err
		}
		fmt.Fprintln(out, "It has all that was asked for.")
		return nil
	}
	if err := prepare(ctx, dir, out); err != nil {
		return err
	}
	raw, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("encoding options: %w", err)
	}
	if err := errors.Join(state.WriteFile(dir.OptionsFile(), raw), state.WriteFile(dir.ProgressLog(), nil)); err != nil {
		return err
	}
	process, err := spawn(dir)
	if err != nil {
		return err
	}
	if err := follow(ctx, dir, process, out); err != nil {
		if ctx.Err() != nil { // Ctrl-C while it starts
			return errors.Join(err, down(context.WithoutCancel(ctx), dir, false, out))
		}
		return err
	}
	return nil
}

func runForeground(ctx context.Context, dir state.Dir, o control.Options, out io.Writer) error {
	if record, err := dir.Load(); err == nil && record.Daemon.Alive() {
		return fmt.Errorf("the playground in %s is running already", dir.Root())
	}
	if err := prepare(ctx, dir, out); err != nil {
		return err
	}
	return daemon.Run(ctx, dir, o, out)
}

// prepare makes an empty state folder, after clearing away what a dead daemon left.
func prepare(ctx context.Context, dir state.Dir, out io.Writer) error {
	if dir.Exists() {
		fmt.Fprintf(out, "Clearing away an earlier playground in %s.\n", dir.Root())
		if err := clear(ctx, dir); err != nil {
			return err
		}
	}
	return dir.Create()
}

// spawn starts the daemon in a session of its own, so that it outlives the terminal.
func spawn(dir state.Dir) (state.Process, error) {
	self, err := os.Executable()
	if err != nil {
		return state.Process{}, fmt.Errorf("finding own binary: %w", err)
	}
	log, err := os.OpenFile(dir.Log("daemon"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return state.Process{}, fmt.Errorf("opening log of the daemon: %w", err)
	}
	defer func() { _ = log.Close() }() // the daemon has its own handle
	cmd := exec.Command(self, "daemon", "--state", dir.Root())
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return state.Process{}, fmt.Errorf("starting daemon: %w", err)
	}
	process, err := state.Identify(cmd.Process.Pid)
	if errors.Is(err, os.ErrProcessDone) {
		return state.Process{}, fmt.Errorf("the daemon ended at once; log: %s", dir.Log("daemon"))
	}
	return process, err
}

// follow prints the progress of a start until it is done or has failed.
func follow(ctx context.Context, dir state.Dir, process state.Process, out io.Writer) error {
	progress, err := os.Open(dir.ProgressLog())
	if err != nil {
		return fmt.Errorf("opening progress: %w", err)
	}
	defer func() { _ = progress.Close() }() // only read
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		alive := process.Alive() // before the record is read, so that a last word is not missed
		record, err := dir.Load()
		if errors.Is(err, fs.ErrNotExist) {
			return errors.New("the playground was taken down while it started")
		}
		if err != nil {
			return err
		}
		if _, err := io.Copy(out, progress); err != nil {
			return fmt.Errorf("printing progress: %w", err)
		}
		switch {
		case record.Daemon == process && record.Phase == state.Ready:
			return nil
		case !alive && record.Phase == state.Failed:
			return fmt.Errorf("the playground did not start: %s\nLogs are kept in %s", record.Message, dir.Join("logs"))
		case !alive:
			return fmt.Errorf("the daemon ended while it started; log: %s", dir.Log("daemon"))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
