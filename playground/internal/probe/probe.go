// SPDX-License-Identifier: Apache-2.0

// Package probe asks processes over HTTP whether they are ready.
package probe

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
)

// HTTP returns a probe that wants a status from 200 to 399 from url, as a kubelet does. Certificates are not checked:
// the processes make up their own, and a health page is no secret.
func HTTP(url string) func(context.Context) error {
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // see above
		DisableKeepAlives: true,
	}}
	return func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return fmt.Errorf("building probe: %w", err)
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer func() { _ = response.Body.Close() }() // nothing is lost
		if response.StatusCode < http.StatusOK || response.StatusCode >= http.StatusBadRequest {
			body, _ := io.ReadAll(io.LimitReader(response.Body, 200)) // only to explain the status
			return fmt.Errorf("%s answered %s: %s", url, response.Status, body)
		}
		return nil
	}
}
