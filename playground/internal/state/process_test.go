// SPDX-License-Identifier: Apache-2.0

package state

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	t.Parallel()
	const tail = " 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20"
	cases := map[string]struct {
		stat              string
		wantStatus, start string
		wantErr           bool
	}{
		"an ordinary program":                        {stat: "12 (sleep) S" + tail, wantStatus: "S", start: "4711"},
		"a program with spaces and brackets in name": {stat: "12 (a) b (c) Z" + tail, wantStatus: "Z", start: "4711"},
		"no name":    {stat: "12 sleep S" + tail, wantErr: true},
		"cut short":  {stat: "12 (sleep) S 1 2 3", wantErr: true},
		"no content": {stat: "", wantErr: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, start, err := parseStat([]byte(tc.stat))
			if (err != nil) != tc.wantErr {
				t.Fatalf("error %v, want one: %t", err, tc.wantErr)
			}
			if status != tc.wantStatus || start != tc.start {
				t.Errorf("got %q and %q, want %q and %q", status, start, tc.wantStatus, tc.start)
			}
		})
	}
}

func TestProcessIsKilledOnlyUnderItsOwnIdentity(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	reaped := make(chan struct{})
	go func() {
		defer close(reaped)
		_ = cmd.Wait() // it is killed below
	}()
	process, err := Identify(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()

	recycled := Process{PID: process.PID, Start: "another boot/1"}
	if recycled.Alive() {
		t.Error("a process with the same number counts as the one that is gone")
	}
	if err := Kill(ctx, recycled); err != nil {
		t.Error(err)
	}
	if !process.Alive() {
		t.Fatal("a process was killed in the place of another one")
	}
	if err := Kill(ctx, process, Process{}); err != nil {
		t.Error(err)
	}
	if process.Alive() {
		t.Error("the process survived")
	}
	<-reaped
	if _, err := Identify(process.PID); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("error %v for a process that is gone, want %v", err, os.ErrProcessDone)
	}
}

func TestZombiesAreGone(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	// Nobody waits for the process yet, so it stays a zombie after its end.
	process, err := Identify(cmd.Process.Pid)
	if err == nil {
		err = WaitGone(ctx, process)
	}
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
