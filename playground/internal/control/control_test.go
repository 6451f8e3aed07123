// SPDX-License-Identifier: Apache-2.0

package control

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berthgames/berth/playground/internal/state"
)

// fakeDaemon answers status and refuses everything else with what it was asked.
type fakeDaemon struct{ Daemon }

func (fakeDaemon) Status(context.Context) (Status, error) {
	return Status{Phase: state.Ready, DaemonPID: 7}, nil
}

func (fakeDaemon) Component(_ context.Context, r ComponentRequest) error {
	return errors.New(string(r.Verb) + " " + r.Component)
}

func TestClientReachesTheDaemonOfADeepFolder(t *testing.T) {
	t.Parallel()
	// Longer than the path of a socket may be.
	folder := filepath.Join(t.TempDir(), strings.Repeat("deep/", 30))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	dir, err := state.At(folder)
	if err != nil {
		t.Fatal(err)
	}
	client := NewClient(dir)
	if _, err := client.Status(t.Context()); err == nil {
		t.Error("a daemon that is not there answers")
	}
	serve(t, folder)

	got, err := client.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Status{Phase: state.Ready, DaemonPID: 7}, got); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	err = client.Component(t.Context(), ComponentRequest{Verb: Kill, Component: "etcd"})
	if err == nil || err.Error() != "kill etcd" {
		t.Errorf("error %v, want that of the daemon", err)
	}
}

// serve runs the handler on the socket, without the change of the working directory that the daemon needs.
func serve(t *testing.T, folder string) {
	t.Helper()
	root, err := os.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }() // only read
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: procPath(root), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: handler(fakeDaemon{})}
	go func() { _ = server.Serve(listener) }() // ends with Close
	t.Cleanup(func() { _ = server.Close() })
}
