// SPDX-License-Identifier: Apache-2.0

// Package app puts the manager together: flags, configuration, caches, network plugins, controllers, webhook.
package app

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	clientconfig "sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/berthgames/berth/config"
	"github.com/berthgames/berth/controllers"
	"github.com/berthgames/berth/internal/apply"
	"github.com/berthgames/berth/network"
	"github.com/berthgames/berth/network/framework"
	"github.com/berthgames/berth/network/kubernetes/hostport"
	"github.com/berthgames/berth/webhook"
	"github.com/berthgames/berth/webhook/certs"
)

// leaseName is upstream's, so that replicas of both never lead at the same time while one takes over from the other.
const leaseName = "game-kruise-manager"

// The lease times. A standby looks once per retry period, stretched at random up to 2.2 times (client-go, leaderelection,
// JitterFactor), so it sees the last renewal of a killed leader up to 2.2 s late, and the end of the lease likewise:
// at most 10 + 2 * 2.2 = 14.4 s without leader (case G01 asks for 15). A leader that cannot reach the API server steps
// down after 8 s, before anybody else may lead.
const (
	leaseDuration = 10 * time.Second
	renewDeadline = 8 * time.Second
	retryPeriod   = 1 * time.Second
)

// shutdownGrace is how long work that runs may take to end after the process was asked to stop.
const shutdownGrace = 10 * time.Second

// Process is what the program gets from outside.
type Process struct {
	// Args are the arguments after the program's name.
	Args []string
	// Getenv reads the environment.
	Getenv func(string) string
	// Stdout gets the help text.
	Stdout io.Writer
}

// Run runs the manager until ctx ends. An error says why it could not start or had to stop.
func Run(ctx context.Context, p Process) error {
	options := NewOptions()
	if err := options.Parse(p.Args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			options.PrintHelp(p.Stdout)
			return nil
		}
		return fmt.Errorf("reading flags: %w", err)
	}
	log := options.logger()
	ctrl.SetLogger(log)
	klog.SetLogger(log)
	options.announce(log)

	wait, err := config.NetworkWaitFromEnv(p.Getenv)
	if err != nil {
		return err
	}
	provider, err := config.LoadFile(options.ProviderConfig)
	if err != nil {
		return err
	}
	mgr, err := newManager(options, p.Getenv)
	if err != nil {
		return err
	}
	plugins, err := newPlugins(ctx, mgr, provider)
	if err != nil {
		return err
	}
	log.Info("Network plugins are switched on", "plugins", plugins.Names())
	if err := controllers.Setup(ctx, mgr, controllers.Options{
		Plugins:              plugins,
		NetworkWait:          wait,
		GameServerWorkers:    options.GameServerWorkers,
		GameServerSetWorkers: options.GameServerSetWorkers,
	}); err != nil {
		return fmt.Errorf("setting up controllers: %w", err)
	}
	if err := webhook.Setup(ctx, mgr, webhook.Options{
		Host: options.webhookHost, Port: options.WebhookPort, Certs: options.certs(), Plugins: plugins, Namespace: options.Namespace,
	}); err != nil {
		return fmt.Errorf("setting up the webhook: %w", err)
	}
	if err := addChecks(mgr); err != nil {
		return err
	}
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("running: %w", err)
	}
	return nil
}

func (o *Options) certs() certs.Options {
	return certs.Options{
		Generate:         o.EnableCertGeneration,
		Dir:              o.WebhookCertsDir,
		ServiceName:      o.WebhookServiceName,
		ServiceNamespace: o.WebhookServiceNamespace,
		FieldOwner:       apply.FieldManager,
	}
}

func newManager(o *Options, getenv func(string) string) (ctrl.Manager, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	cluster, err := clusterConfig(o)
	if err != nil {
		return nil, err
	}
	leaseNamespace := getenv("POD_NAMESPACE")
	if leaseNamespace == "" {
		leaseNamespace = o.WebhookServiceNamespace
	}
	mgr, err := ctrl.NewManager(cluster, ctrl.Options{
		Scheme: scheme,
		Cache:  cacheOptions(o),
		// A pass that follows a write of ours has to see it, or it would write again.
		Client:                        client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: ptr.To(true)}},
		Metrics:                       metricsserver.Options{BindAddress: o.MetricsBindAddress},
		HealthProbeBindAddress:        o.HealthProbeBindAddress,
		PprofBindAddress:              o.PprofBindAddress,
		LeaderElection:                o.LeaderElect,
		LeaderElectionID:              leaseName,
		LeaderElectionNamespace:       leaseNamespace,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 ptr.To(leaseDuration),
		RenewDeadline:                 ptr.To(renewDeadline),
		RetryPeriod:                   ptr.To(retryPeriod),
		GracefulShutdownTimeout:       ptr.To(shutdownGrace),
	})
	if err != nil {
		return nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	return mgr, nil
}

func clusterConfig(o *Options) (*rest.Config, error) {
	find := clientconfig.GetConfig
	if o.Kubeconfig != "" {
		find = func() (*rest.Config, error) { return clientcmd.BuildConfigFromFlags("", o.Kubeconfig) }
	}
	cluster, err := find()
	if err != nil {
		return nil, fmt.Errorf("finding the cluster: %w", err)
	}
	cluster.UserAgent = apply.FieldManager
	cluster.QPS = -1 // no limit in the client
	if o.APIServerQPS > 0 {
		cluster.QPS = float32(o.APIServerQPS)
		cluster.Burst = o.APIServerBurst
		if cluster.Burst == 0 {
			cluster.Burst = 2 * o.APIServerQPS
		}
	}
	return cluster, nil
}

// newPlugins makes the network plugins and connects those that watch the cluster. It runs before the caches start.
func newPlugins(ctx context.Context, mgr ctrl.Manager, provider config.Config) (*framework.Registry, error) {
	deps := network.Deps{Reader: mgr.GetClient(), Clock: clock.RealClock{}}
	if ports := provider.Kubernetes.HostPort; provider.Kubernetes.Enable && ports != nil {
		deps.HostPort = &hostport.Options{Range: ports.Range, Blocked: ports.Blocked}
	}
	plugins, err := network.Plugins(deps)
	if err != nil {
		return nil, fmt.Errorf("making network plugins: %w", err)
	}
	if err := plugins.Observe(ctx, mgr.GetCache()); err != nil {
		return nil, err
	}
	return plugins, nil
}

// addChecks adds the health check and the part of readiness that belongs to nobody else. A standby is ready too.
func addChecks(mgr ctrl.Manager) error {
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("adding the health check: %w", err)
	}
	synced := func(req *http.Request) error {
		ctx, cancel := context.WithTimeout(req.Context(), time.Second)
		defer cancel()
		if !mgr.GetCache().WaitForCacheSync(ctx) {
			return errors.New("caches have not synced")
		}
		return nil
	}
	if err := mgr.AddReadyzCheck("caches", synced); err != nil {
		return fmt.Errorf("adding the readiness check of caches: %w", err)
	}
	return nil
}
