// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"crypto/x509"
	"fmt"
	"net/http"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Trusted is a readiness check: the certificate in the folder must verify against the caBundle of every entry of both
// webhook configurations. Before that, the API server could not call this replica.
func (c *Certificates) Trusted(req *http.Request) error {
	pair, err := c.serving()
	if err != nil {
		return fmt.Errorf("reading the serving certificate: %w", err)
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return fmt.Errorf("reading the serving certificate: %w", err)
	}
	intermediates := x509.NewCertPool()
	for _, der := range pair.Certificate[1:] {
		if cert, err := x509.ParseCertificate(der); err == nil {
			intermediates.AddCert(cert)
		}
	}

	mutating := &admissionregistrationv1.MutatingWebhookConfiguration{}
	if err := c.reader.Get(req.Context(), client.ObjectKey{Name: MutatingConfiguration}, mutating); err != nil {
		return fmt.Errorf("reading the mutating webhook configuration: %w", err)
	}
	validating := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := c.reader.Get(req.Context(), client.ObjectKey{Name: ValidatingConfiguration}, validating); err != nil {
		return fmt.Errorf("reading the validating webhook configuration: %w", err)
	}
	bundles := map[string][]byte{}
	for _, hook := range mutating.Webhooks {
		bundles[hook.Name] = hook.ClientConfig.CABundle
	}
	for _, hook := range validating.Webhooks {
		bundles[hook.Name] = hook.ClientConfig.CABundle
	}
	for name, bundle := range bundles {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(bundle)
		if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, Intermediates: intermediates}); err != nil {
			return fmt.Errorf("the caBundle of webhook %s does not match the serving certificate: %w", name, err)
		}
	}
	return nil
}
