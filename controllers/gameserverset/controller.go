// SPDX-License-Identifier: Apache-2.0

// Package gameserverset drives one Advanced StatefulSet of OpenKruise per GameServerSet, and one PodProbeMarker when the
// set has service qualities. It decides which ids exist and keeps the status of the set. It never makes pods.
//
// One pass observes in the cache, plans with pure functions, acts, writes the status once, and warns:
//
//	observe -> probes -> workload (create | kill, scale, update) -> labels gs-deleting -> status -> warnings
//
// A pass that finds nothing to do writes nothing and reads only the cache. Before a pass writes the workload it reads
// the set and the workload from the API server and decides again; before servers leave it reads those servers too.
package gameserverset

import (
	"context"
	"errors"
	"fmt"
	"time"

	kruisev1alpha1 "github.com/openkruise/kruise-api/apps/v1alpha1"
	kruisev1beta1 "github.com/openkruise/kruise-api/apps/v1beta1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

// Name of the controller, in logs and metrics.
const Name = "gameserverset"

// A pass that failed is repeated after firstRetry, then after twice as long, and so on up to lastRetry: when the API
// server or OpenKruise is back after a long outage, no set must wait for minutes.
const (
	firstRetry = 5 * time.Millisecond
	lastRetry  = 30 * time.Second
)

// Options are what a Reconciler needs.
type Options struct {
	// Client reads from a cache that has the indexes of package index. It should show a pass what the pass before wrote
	// (client.CacheOptions.EnableReadYourWritesConsistency), or warnings may be told twice.
	Client client.Client
	// Live reads from the API server.
	Live   client.Reader
	Clock  clock.PassiveClock
	Events events.EventRecorder
}

// Reconciler drives the workload, the probes and the status of GameServerSets. It writes those, the label gs-deleting of
// GameServers and, of the set itself, spec.replicas for servers in opsState Kill, spec.reserveGameServerIds with the
// strategy ReserveIds, and the annotation reserve-ids. It is stateless, and safe for concurrent use on different sets.
type Reconciler struct {
	client client.Client
	live   client.Reader
	clock  clock.PassiveClock
	events events.EventRecorder
}

var _ reconcile.Reconciler = (*Reconciler)(nil)

// New returns a Reconciler that is ready to use.
func New(o Options) *Reconciler {
	return &Reconciler{client: o.Client, live: o.Live, clock: o.Clock, events: o.Events}
}

// SetupWithManager registers the controller. workers is how many sets are reconciled at the same time.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, workers int) error {
	sets := watcher{setOf: sameName, changed: setChanged}
	workloads := watcher{setOf: sameName, changed: workloadChanged}
	probes := watcher{setOf: sameName, changed: probesChanged}
	pods := watcher{setOf: byOwnerLabel, changed: podChanged, cameOrWent: countsDelay}
	gameServers := watcher{setOf: byOwnerLabel, changed: gameServerChanged, cameOrWent: countsDelay}
	err := ctrl.NewControllerManagedBy(mgr).
		Named(Name).
		Watches(&gamev1alpha1.GameServerSet{}, sets.handler()).
		Watches(&kruisev1beta1.StatefulSet{}, workloads.handler()).
		Watches(&kruisev1alpha1.PodProbeMarker{}, probes.handler()).
		Watches(&corev1.Pod{}, pods.handler()).
		Watches(&gamev1alpha1.GameServer{}, gameServers.handler()).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers, RateLimiter: newRetries()}).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up controller %s: %w", Name, err)
	}
	return nil
}

func newRetries() workqueue.TypedRateLimiter[reconcile.Request] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry)
}

// Reconcile brings one set as far as it can in one pass.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	set, err := getOrNil(ctx, r.client, request.NamespacedName, &gamev1alpha1.GameServerSet{})
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("reading the set: %w", err)
	}
	if set == nil || set.DeletionTimestamp != nil {
		return reconcile.Result{}, nil // The garbage collector removes what the set owns.
	}
	p, err := r.observe(ctx, set)
	if err != nil {
		return reconcile.Result{}, err
	}
	// Each step stands for itself: trouble with the probes delays no scaling, and no trouble delays the status (S-5).
	err = errors.Join(
		r.syncProbes(ctx, p),
		r.syncWorkload(ctx, p),
		r.syncLabels(ctx, p),
	)
	if err = errors.Join(err, r.writeStatus(ctx, p)); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: p.recheckAfter}, nil
}
