// SPDX-License-Identifier: Apache-2.0

// Package webhook serves the admission of pods and GameServerSets.
//
// It runs on every replica, leader or not: it reads, decides and answers, and writes nothing. Its packages are
//
//	pod            new pods: overrides and network
//	gameserverset  GameServerSets: decode, ask, answer
//	validation     the rules of GameServerSets, pure
//	certs          the serving certificate
package webhook

import (
	"context"
	"fmt"
	"net/http"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/berthgames/berth/network/framework"
	"github.com/berthgames/berth/webhook/certs"
	"github.com/berthgames/berth/webhook/gameserverset"
	"github.com/berthgames/berth/webhook/pod"
)

// Options are what the webhook server is made from.
type Options struct {
	// Host and Port are where it listens; an empty Host is all addresses.
	Host string
	Port int
	// Certs say where its certificate comes from.
	Certs certs.Options
	// Plugins are the network plugins of this process.
	Plugins *framework.Registry
	// Namespace, when not empty, is the only namespace the manager works in.
	Namespace string
}

// Setup adds the webhook server, its certificate and its readiness checks to the manager.
func Setup(ctx context.Context, mgr ctrl.Manager, o Options) error {
	certificates, err := certs.Setup(ctx, mgr, o.Certs)
	if err != nil {
		return fmt.Errorf("preparing certificates: %w", err)
	}
	podMetrics, err := pod.NewMetrics(metrics.Registry)
	if err != nil {
		return err
	}

	server := webhook.NewServer(webhook.Options{Host: o.Host, Port: o.Port, CertDir: o.Certs.Dir, CertName: certs.CertFile, KeyName: certs.KeyFile})
	server.Register(pod.Path, &admission.Webhook{Handler: pod.New(pod.Options{
		Live: mgr.GetAPIReader(), Scheme: mgr.GetScheme(), Plugins: o.Plugins, Namespace: o.Namespace, Metrics: podMetrics,
	})})
	server.Register(gameserverset.Path, &admission.Webhook{Handler: gameserverset.New(mgr.GetScheme(), o.Plugins)})
	if err := mgr.Add(&runner{server: server, present: certificates.Present()}); err != nil {
		return fmt.Errorf("adding the webhook server: %w", err)
	}

	for name, check := range map[string]func(*http.Request) error{
		"webhook":      server.StartedChecker(),
		"certificates": certificates.Trusted,
		"network":      func(*http.Request) error { return o.Plugins.Observed() },
	} {
		if err := mgr.AddReadyzCheck(name, check); err != nil {
			return fmt.Errorf("adding readiness check %s: %w", name, err)
		}
	}
	return nil
}

// runner starts the server when its certificate is there. The manager runs it after the caches have synced, because a
// plugin must not answer by half a picture of the cluster (faults W-4, F8).
type runner struct {
	server  webhook.Server
	present <-chan struct{}
}

// NeedLeaderElection has every replica serve.
func (r *runner) NeedLeaderElection() bool { return false }

// Start waits for the certificate and serves until ctx ends.
func (r *runner) Start(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-r.present:
	}
	if err := r.server.Start(ctx); err != nil {
		return fmt.Errorf("serving webhooks: %w", err)
	}
	return nil
}
