// SPDX-License-Identifier: Apache-2.0

package egress

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const service = "10.96.0.10:443"

// serve runs a proxy on a socket and returns the path of the socket.
func serve(ctx context.Context, t *testing.T, resolve Resolver) string {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- New(resolve).Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return socket
}

// connect asks as the API server does. It returns the answer and the open connection.
func connect(t *testing.T, socket, method string) (*http.Response, net.Conn) {
	t.Helper()
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	target := service
	if method != http.MethodConnect {
		target = "/"
	}
	fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", method, target)
	reader := bufio.NewReader(conn)
	response, err := http.ReadResponse(reader, &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	if reader.Buffered() > 0 {
		t.Errorf("%d bytes behind the answer, before the client has spoken", reader.Buffered())
	}
	return response, conn
}

// backend answers every connection with its name and what it was sent.
func backend(t *testing.T, name string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }() // the client sees it
				sent, _ := io.ReadAll(conn)
				fmt.Fprintf(conn, "%s got %s", name, sent)
			}()
		}
	}()
	return listener.Addr().String()
}

func exchange(t *testing.T, conn net.Conn) string {
	t.Helper()
	if _, err := conn.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.UnixConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

func TestConnectionsTakeTurns(t *testing.T) {
	t.Parallel()
	targets := []string{backend(t, "a"), backend(t, "b")}
	var asked []string
	socket := serve(t.Context(), t, func(address string) ([]string, error) {
		asked = append(asked, address) // one connection at a time
		return targets, nil
	})
	counts := map[string]int{}
	for range 4 {
		response, conn := connect(t, socket, http.MethodConnect)
		if response.StatusCode != http.StatusOK {
			t.Fatalf("answer %s", response.Status)
		}
		counts[exchange(t, conn)]++
	}
	if diff := cmp.Diff(map[string]int{"a got hello": 2, "b got hello": 2}, counts); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{service, service, service, service}, asked); diff != "" {
		t.Errorf("addresses asked for (-want +got):\n%s", diff)
	}
}

func TestDeadBackendsAreSkipped(t *testing.T) {
	t.Parallel()
	dead, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	targets := []string{dead.Addr().String(), backend(t, "alive")}
	if err := dead.Close(); err != nil {
		t.Fatal(err)
	}
	socket := serve(t.Context(), t, func(string) ([]string, error) { return targets, nil })
	for range 3 {
		_, conn := connect(t, socket, http.MethodConnect)
		if got := exchange(t, conn); got != "alive got hello" {
			t.Errorf("answer %q", got)
		}
	}
}

func TestRefusalsSayWhyInTheStatusLine(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		method  string
		resolve Resolver
		want    string
	}{
		"no backend": {
			method:  http.MethodConnect,
			resolve: func(string) ([]string, error) { return nil, errors.New("no pod of service a/b\nis ready") },
			want:    "503 no pod of service a/b; is ready",
		},
		"another method": {
			method:  http.MethodGet,
			resolve: func(string) ([]string, error) { return nil, nil },
			want:    "405 only CONNECT is served",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			response, _ := connect(t, serve(t.Context(), t, tc.resolve), tc.method)
			if response.Status != tc.want {
				t.Errorf("status %q, want %q", response.Status, tc.want)
			}
		})
	}
}

func TestConnectionsEndWithTheProxy(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	target := backend(t, "a")
	_, conn := connect(t, serve(ctx, t, func(string) ([]string, error) { return []string{target}, nil }), http.MethodConnect)
	cancel()
	if rest, err := io.ReadAll(conn); len(rest) > 0 {
		t.Errorf("read %q, %v after the end", rest, err)
	}
}
