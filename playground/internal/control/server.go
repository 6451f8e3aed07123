// SPDX-License-Identifier: Apache-2.0

package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

// Socket is the name of the daemon's socket in the state folder.
const Socket = "daemon.sock"

type none struct{}

type errorBody struct {
	Error string `json:"error"`
}

// Serve answers requests until ctx ends. The working directory must be the state folder: a relative path keeps within
// the limit of about 100 bytes that sockets have. Only the owner of the folder can reach it.
func Serve(ctx context.Context, d Daemon) error {
	if err := os.Remove(Socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("removing old socket: %w", err)
	}
	listener, err := net.Listen("unix", Socket)
	if err != nil {
		return fmt.Errorf("opening socket: %w", err)
	}
	server := &http.Server{Handler: handler(d), ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serving socket: %w", err)
	case <-ctx.Done():
	}
	// Give answers on their way a moment, such as the one to the request that brought the end.
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := server.Shutdown(drain); err != nil {
		return server.Close()
	}
	return nil
}

func handler(d Daemon) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /v1/status", handle(func(ctx context.Context, _ none) (Status, error) { return d.Status(ctx) }))
	mux.Handle("POST /v1/component", handle(func(ctx context.Context, r ComponentRequest) (none, error) {
		return none{}, d.Component(ctx, r)
	}))
	mux.Handle("POST /v1/ensure", handle(func(ctx context.Context, o Options) (none, error) { return none{}, d.Ensure(ctx, o) }))
	mux.Handle("POST /v1/workloads", handle(d.Workloads))
	mux.Handle("POST /v1/down", handle(func(ctx context.Context, r DownRequest) (none, error) { return none{}, d.Down(ctx, r) }))
	return mux
}

// handle turns a function into a handler that decodes the request and encodes the reply or the error.
func handle[Request, Reply any](do func(context.Context, Request) (Reply, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request Request
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil && !errors.Is(err, io.EOF) {
			reply(w, http.StatusBadRequest, errorBody{Error: "decoding request: " + err.Error()})
			return
		}
		answer, err := do(r.Context(), request)
		if err != nil {
			reply(w, http.StatusUnprocessableEntity, errorBody{Error: err.Error()})
			return
		}
		reply(w, http.StatusOK, answer)
	})
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client is gone; nobody is left to tell
}
