// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	appsv1alpha1 "github.com/openkruise/kruise/apis/apps/v1alpha1"
	appsv1beta1 "github.com/openkruise/kruise/apis/apps/v1beta1"
	policyv1alpha1 "github.com/openkruise/kruise/apis/policy/v1alpha1"
	extclient "github.com/openkruise/kruise/pkg/client"
	"github.com/openkruise/kruise/pkg/control/pubcontrol"
	"github.com/openkruise/kruise/pkg/controller"
	"github.com/openkruise/kruise/pkg/features"
	"github.com/openkruise/kruise/pkg/util"
	utilclient "github.com/openkruise/kruise/pkg/util/client"
	"github.com/openkruise/kruise/pkg/util/controllerfinder"
	"github.com/openkruise/kruise/pkg/util/fieldindex"
	"github.com/openkruise/kruise/pkg/webhook"
	webhookutil "github.com/openkruise/kruise/pkg/webhook/util"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/kubernetes/pkg/capabilities"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	ctrlwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"
)

// run blocks until ctx ends or something that the manager needs has failed.
func run(ctx context.Context, opts options) error {
	features.SetDefaultFeatureGates()
	util.SetControllerCacheSyncTimeout(opts.cacheSyncLimit)
	// Pod templates are validated by Kubernetes' own code, which refuses privileged containers unless told otherwise.
	capabilities.Initialize(capabilities.Capabilities{AllowPrivileged: true})

	cfg, err := clientConfig(opts)
	if err != nil {
		return err
	}
	// Many packages of OpenKruise take their client from this registry, so it comes before everything else.
	if err := extclient.NewRegistry(cfg); err != nil {
		return fmt.Errorf("building clients: %w", err)
	}
	mgr, err := newManager(cfg, opts)
	if err != nil {
		return err
	}
	if err := prepare(ctx, mgr); err != nil {
		return err
	}
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("running manager: %w", err)
	}
	return nil
}

func clientConfig(opts options) (*rest.Config, error) {
	cfg, err := clientcmd.BuildConfigFromFlags("", opts.kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("loading kubeconfig: %w", err)
	}
	cfg.UserAgent = "kruise-manager"
	cfg.QPS = opts.qps
	cfg.Burst = opts.burst
	return cfg, nil
}

func newManager(cfg *rest.Config, opts options) (manager.Manager, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme:                        scheme,
		Metrics:                       metricsserver.Options{BindAddress: opts.metricsAddr},
		HealthProbeBindAddress:        opts.healthAddr,
		LeaderElection:                opts.leaderElect,
		LeaderElectionID:              "kruise-manager",
		LeaderElectionNamespace:       webhookutil.GetNamespace(),
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &opts.leaseDuration,
		RenewDeadline:                 &opts.renewDeadline,
		RetryPeriod:                   &opts.retryPeriod,
		NewCache:                      utilclient.NewCache,
		WebhookServer: ctrlwebhook.NewServer(ctrlwebhook.Options{
			Host:    loopback,
			Port:    webhookutil.GetPort(),
			CertDir: webhookutil.GetCertDir(),
		}),
	})
	if err != nil {
		return nil, fmt.Errorf("building manager: %w", err)
	}
	return mgr, nil
}

// newScheme returns the kinds that the manager's client knows. The workload kinds also go into client-go's scheme,
// which the event recorder and the controller finder of OpenKruise consult.
func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, appsv1alpha1.AddToScheme, appsv1beta1.AddToScheme, policyv1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("building scheme: %w", err)
		}
	}
	for _, add := range []func(*runtime.Scheme) error{appsv1alpha1.AddToScheme, appsv1beta1.AddToScheme} {
		if err := add(clientgoscheme.Scheme); err != nil {
			return nil, fmt.Errorf("extending client-go's scheme: %w", err)
		}
	}
	// The webhooks decode the options objects of requests through this scheme.
	scheme.AddUnversionedTypes(metav1.SchemeGroupVersion,
		&metav1.CreateOptions{}, &metav1.UpdateOptions{}, &metav1.DeleteOptions{})
	return scheme, nil
}

// prepare does what has to happen before the manager starts, in the order OpenKruise needs: shared finders, cache
// indexes, webhook handlers, then certificates and webhook configurations in the cluster. The controllers follow
// once the manager runs and its webhooks answer, for the objects they write pass through these webhooks.
func prepare(ctx context.Context, mgr manager.Manager) error {
	if err := controllerfinder.InitControllerFinder(mgr); err != nil {
		return fmt.Errorf("preparing controller finder: %w", err)
	}
	pubcontrol.InitPubControl(mgr.GetClient(), controllerfinder.Finder, mgr.GetEventRecorderFor("pub-controller"))
	if err := fieldindex.RegisterFieldIndexes(mgr.GetCache()); err != nil {
		return fmt.Errorf("registering cache indexes: %w", err)
	}
	if err := webhook.SetupWithManager(mgr); err != nil {
		return fmt.Errorf("registering webhooks: %w", err)
	}
	if err := webhook.Initialize(ctx, mgr.GetConfig()); err != nil {
		return fmt.Errorf("publishing webhook configurations: %w", err)
	}
	if err := mgr.AddReadyzCheck("webhook", webhook.Checker); err != nil {
		return fmt.Errorf("adding readiness check: %w", err)
	}
	if err := mgr.Add(controllers{mgr}); err != nil {
		return fmt.Errorf("adding controllers: %w", err)
	}
	return nil
}

// controllers adds all controllers to the running manager as soon as the webhooks answer.
type controllers struct{ mgr manager.Manager }

var _ manager.LeaderElectionRunnable = controllers{}

// NeedLeaderElection is false because adding a controller does not start it: the manager does, when it leads.
func (c controllers) NeedLeaderElection() bool { return false }

// Start implements manager.Runnable. It returns without error when ctx ends first.
func (c controllers) Start(ctx context.Context) error {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for webhook.Checker(nil) != nil {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
	if err := controller.SetupWithManager(c.mgr); err != nil {
		return fmt.Errorf("adding controllers: %w", err)
	}
	return nil
}
