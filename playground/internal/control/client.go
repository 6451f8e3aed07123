// SPDX-License-Identifier: Apache-2.0

package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/berthgames/berth/playground/internal/state"
)

// Client sends requests to the daemon of one playground.
type Client struct{ http *http.Client }

// NewClient returns a client for the daemon of the state folder. It does not connect yet.
func NewClient(dir state.Dir) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		// The path of a socket is limited to about 100 bytes; by way of the open folder it always is short enough.
		folder, err := os.Open(dir.Root())
		if err != nil {
			return nil, err
		}
		defer func() { _ = folder.Close() }() // only read
		var d net.Dialer
		return d.DialContext(ctx, "unix", procPath(folder))
	}
	return &Client{http: &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}
}

// procPath returns a short path of the socket in an open folder.
func procPath(folder *os.File) string {
	return fmt.Sprintf("/proc/self/fd/%d/%s", folder.Fd(), Socket)
}

// Status returns what the playground is doing.
func (c *Client) Status(ctx context.Context) (Status, error) {
	var s Status
	return s, c.do(ctx, "status", none{}, &s)
}

// Component acts on a component.
func (c *Client) Component(ctx context.Context, r ComponentRequest) error {
	return c.do(ctx, "component", r, &none{})
}

// Ensure adds what a running playground lacks of the options.
func (c *Client) Ensure(ctx context.Context, o Options) error {
	return c.do(ctx, "ensure", o, &none{})
}

// Workloads has Deployments run as local processes.
func (c *Client) Workloads(ctx context.Context, r WorkloadRequest) (WorkloadReply, error) {
	var w WorkloadReply
	return w, c.do(ctx, "workloads", r, &w)
}

// Down begins the end of the playground.
func (c *Client) Down(ctx context.Context, r DownRequest) error {
	return c.do(ctx, "down", r, &none{})
}

func (c *Client) do(ctx context.Context, path string, request, reply any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("encoding request: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://playground/v1/"+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("building request: %w", err)
	}
	response, err := c.http.Do(r)
	if err != nil {
		return fmt.Errorf("asking the daemon: %w", err)
	}
	defer func() { _ = response.Body.Close() }() // it has been read
	if response.StatusCode != http.StatusOK {
		var failure errorBody
		if err := json.NewDecoder(response.Body).Decode(&failure); err != nil {
			return fmt.Errorf("the daemon answered %s", response.Status)
		}
		return errors.New(failure.Error)
	}
	if err := json.NewDecoder(response.Body).Decode(reply); err != nil {
		return fmt.Errorf("decoding reply: %w", err)
	}
	return nil
}
