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

// downTimeout is the time a daemon gets to stop everything before it is killed.
const downTimeout = time.Minute

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
	if record.Daemon.Alive() {
		if err := control.NewClient(dir).Down(ctx, control.DownRequest{Keep: keep}); err == nil {
			waiting, cancel := context.WithTimeout(ctx, downTimeout)
			defer cancel()
			err = state.WaitGone(waiting, record.Daemon)
			if err != nil && ctx.Err() != nil {
				return err
			}
		}
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
