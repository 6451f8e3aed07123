// SPDX-License-Identifier: Apache-2.0

// Package egress is the proxy through which the API server reaches Services. The addresses of Services lead nowhere on
// this machine; the proxy knows what is behind them.
package egress

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

const (
	// requestTimeout is the time a client has for its CONNECT request.
	requestTimeout = 10 * time.Second
	dialTimeout    = 5 * time.Second
)

// Resolver returns the addresses behind host:port, all equally good. No address is an error.
type Resolver func(address string) ([]string, error)

// Proxy answers CONNECT requests.
type Proxy struct {
	resolve Resolver
	turn    atomic.Uint64
}

// New returns a proxy that connects to what resolve returns, in turn.
func New(resolve Resolver) *Proxy { return &Proxy{resolve: resolve} }

// Serve answers connections until ctx ends, then closes the listener and all connections.
func (p *Proxy) Serve(ctx context.Context, listener net.Listener) error {
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() }) // Accept returns; there is nothing else to do about it
	defer stop()
	for {
		conn, err := listener.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("accepting connections: %w", err)
		}
		go p.handle(ctx, conn)
	}
}

func (p *Proxy) handle(ctx context.Context, client net.Conn) {
	defer func() { _ = client.Close() }() // the other side has what it gets
	_ = client.SetDeadline(time.Now().Add(requestTimeout))
	reader := bufio.NewReader(client)
	request, err := http.ReadRequest(reader)
	if err != nil {
		return // not a client of ours
	}
	if request.Method != http.MethodConnect {
		answer(client, http.StatusMethodNotAllowed, "only CONNECT is served")
		return
	}
	server, err := p.dial(ctx, request.Host)
	if err != nil {
		answer(client, http.StatusServiceUnavailable, err.Error())
		return
	}
	defer func() { _ = server.Close() }() // as above
	stop := context.AfterFunc(ctx, func() { _, _ = client.Close(), server.Close() })
	defer stop()
	answer(client, http.StatusOK, "Connection established")
	_ = client.SetDeadline(time.Time{})
	join(client, reader, server)
}

// dial connects to one of the addresses behind address. The next ones are tried when one refuses, because a process
// that has just died may count as ready for a moment.
func (p *Proxy) dial(ctx context.Context, address string) (net.Conn, error) {
	targets, err := p.resolve(address)
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{Timeout: dialTimeout}
	first := p.turn.Add(1)
	var errs []error
	for i := range targets {
		target := targets[(first+uint64(i))%uint64(len(targets))]
		conn, err := dialer.DialContext(ctx, "tcp", target)
		if err == nil {
			return conn, nil
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("connecting to %s: %w", address, errors.Join(errs...))
}

// answer writes a response without a body. The reason goes into the status line, because that is what the API server
// repeats in its own error.
func answer(client net.Conn, status int, reason string) {
	reason = strings.NewReplacer("\r", " ", "\n", "; ").Replace(reason)
	_, _ = fmt.Fprintf(client, "HTTP/1.1 %d %s\r\n\r\n", status, reason) // a client that is gone needs no answer
}

// join copies in both directions until one side ends. reader holds what the client has sent already.
func join(client net.Conn, reader io.Reader, server net.Conn) {
	done := make(chan struct{}, 2)
	pipe := func(to net.Conn, from io.Reader) {
		_, _ = io.Copy(to, from) // an end is an end, whatever the reason
		if half, ok := to.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
		done <- struct{}{}
	}
	go pipe(server, reader)
	go pipe(client, server)
	<-done
	<-done
}
