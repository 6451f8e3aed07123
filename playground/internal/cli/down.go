// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthgames/berth/playground/internal/control"
	"github.com/berthgames/berth/playground/internal/state"
)

const (
	// answerTimeout is the time a daemon gets to answer before it counts as hung.
	answerTimeout = 10 * time.Second
	// downTimeout is the time a daemon gets to stop everything before it is killed.
	downTimeout = time.Minute
)

func (a *app) down() *cobra.Command {
	var keep bool
	cmd := &cobra.Command{
		Use:   "down",
		Short: "Stop the playground and remove its folder",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := a.dir()
			if err != nil {
				return err
			}
			return down(cmd.Context(), dir, keep, cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "Keep the folder, for reading logs; the next up clears it.")
	return cmd
}

// down returns when no process of the playground is left. It may be called for a playground that is down.
func down(ctx context.Context, dir state.Dir, keep bool, out io.Writer) error {
	record, err := dir.Load()
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(out, "There is no playground in %s.\n", dir.Root())
		return nil
	}
	if err != nil {
		return err
	}
	if err := askDown(ctx, dir, record.Daemon, keep); err != nil {
		fmt.Fprintf(out, "The daemon does not stop by itself (%v), so it is killed.\n", err)
	}
	if keep {
		err = killAll(ctx, dir)
	} else {
		err = clear(ctx, dir)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "The playground in %s is down.\n", dir.Root())
	return nil
}

// askDown has the daemon stop everything, and waits. A daemon that is dead already has nothing to do.
func askDown(ctx context.Context, dir state.Dir, daemon state.Process, keep bool) error {
	if !daemon.Alive() {
		return nil
	}
	asking, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	if err := control.NewClient(dir).Down(asking, control.DownRequest{Keep: keep}); err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, downTimeout)
	defer cancel()
	return state.WaitGone(waiting, daemon)
}

// clear ends whatever is left of a playground and removes its folder.
func clear(ctx context.Context, dir state.Dir) error {
	if err := killAll(ctx, dir); err != nil {
		return err
	}
	return dir.Remove()
}

// killAll kills all processes that the record names: the daemon first, so that it starts no others, then, from a
// record that does not change any more, its children.
func killAll(ctx context.Context, dir state.Dir) error {
	ctx, cancel := context.WithTimeout(ctx, downTimeout)
	defer cancel()
	record, err := dir.Load()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := state.Kill(ctx, record.Daemon); err != nil {
		return err
	}
	if record, err = dir.Load(); err != nil {
		return err
	}
	return state.Kill(ctx, slices.Collect(maps.Values(record.Children))...)
}
