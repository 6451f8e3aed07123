// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/berthgames/berth/test/expect"
	"github.com/berthgames/berth/webhook/certs"
)

// served is the certificate that the webhook server shows.
func served(ctx context.Context, address string) ([]byte, error) {
	// What it shows is compared, not trusted.
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	secured, ok := conn.(*tls.Conn)
	if !ok {
		return nil, errors.Join(errors.New("no TLS connection"), conn.Close())
	}
	return secured.ConnectionState().PeerCertificates[0].Raw, conn.Close()
}

// W-12, W-13: a lost Secret is made anew, authority and all, and every part follows without a restart.
func TestCertificateIsRenewedWithoutARestart(t *testing.T) {
	w := need(t)
	before, err := served(t.Context(), w.webhook)
	if err != nil {
		t.Fatal(err)
	}
	process := w.manager.command.Process.Pid
	secret := &corev1.Secret{}
	if err := w.client.Get(t.Context(), client.ObjectKey{Namespace: systemNamespace, Name: certs.SecretName}, secret); err != nil {
		t.Fatal(err)
	}
	secret.Data = nil
	if err := w.client.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	err = expect.Eventually(t.Context(), patience, "another certificate", func(ctx context.Context) error {
		now, err := served(ctx, w.webhook)
		if err != nil {
			return err
		}
		if bytes.Equal(before, now) {
			return errors.New("the server still shows the old one")
		}
		return get(ctx, w.health, "/readyz")
	})
	if err != nil {
		t.Fatal(err)
	}
	namespace := w.namespace(t)
	err = expect.Eventually(t.Context(), patience, "the API server to trust it", func(ctx context.Context) error {
		return w.client.Create(ctx, pod(namespace, "arena-0", owned), client.DryRunAll)
	})
	if err != nil {
		t.Error(err)
	}
	if now := w.manager.command.Process.Pid; now != process {
		t.Errorf("the manager was restarted: process %d became %d", process, now)
	}
}
