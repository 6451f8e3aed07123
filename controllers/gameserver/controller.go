// SPDX-License-Identifier: Apache-2.0

// Package gameserver keeps one GameServer per pod of a GameServerSet: what users want of a server goes to the labels,
// annotations and images of its pod, what the pod, its node, its volumes, its probes and its network plugin say goes to
// the GameServer.
//
// One pass observes, decides (decide, a pure function over what was seen), acts, and tells of it:
//
//	pod, GameServer, set, node, claims ──decide──▶ fate, GameServer, pod changes, status ──act──▶ at most one write each
//
// The GameServer is written first, so that the action of a service quality is never recorded without having been taken;
// the pod second; the status, which records what is on the pod, last. Events follow the write they tell of. A pass that
// finds nothing to change writes nothing.
package gameserver

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

// ControllerName names the controller in logs, metrics and events.
const ControllerName = "gameserver"

// DefaultStartGrace is how long a server may start without a report, as long as nothing is wrong with it.
const DefaultStartGrace = time.Minute

// A pass that failed is repeated after firstRetry, then after twice as long, and so on up to lastRetry: an outage that has
// ended must not keep servers as they were for longer.
const (
	firstRetry = 5 * time.Millisecond
	lastRetry  = 30 * time.Second
)

// Options are the numbers of the controller.
type Options struct {
	// Workers is how many GameServers are reconciled at the same time, at least 1. Flag --gameserver-workers.
	Workers int
	// NetworkWait is how long the network of a server may take before a Warning event says that it is late; 0 is late at
	// once. Environment variable NETWORK_TOTAL_WAIT_TIME.
	NetworkWait time.Duration
	// StartGrace is how long the first report of a starting server may wait for it to be up. 0 reports every step.
	StartGrace time.Duration
}

// Reconciler keeps GameServers. It writes GameServers, their status, labels, annotations and images of their pods, and
// events on GameServers; nothing else.
type Reconciler struct {
	client  client.Client
	live    client.Reader
	clock   clock.PassiveClock
	events  events.EventRecorder
	lasting *lasting
	options Options
}

var _ reconcile.Reconciler = (*Reconciler)(nil)

// New returns a Reconciler. c reads from a cache with the indexes of package index; it should read its own writes, or a
// pass may repeat a write of the one before it. live reads from the API server, for the last look before a deletion.
func New(c client.Client, live client.Reader, clk clock.PassiveClock, recorder events.EventRecorder, opts Options) *Reconciler {
	return &Reconciler{client: c, live: live, clock: clk, events: recorder, lasting: newLasting(), options: opts}
}

// SetupWithManager registers the controller. The indexes of package index have to be registered by the caller.
//
// +kubebuilder:rbac:groups=game.kruise.io,resources=gameservers,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=game.kruise.io,resources=gameservers/status,verbs=patch
// +kubebuilder:rbac:groups=game.kruise.io,resources=gameserversets,verbs=get;list;watch
// +kubebuilder:rbac:groups=game.kruise.io,resources=gameserversets/finalizers,verbs=update
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups="",resources=pods/finalizers,verbs=update
// +kubebuilder:rbac:groups="",resources=nodes;persistentvolumeclaims;persistentvolumes,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	err := ctrl.NewControllerManagedBy(mgr).
		Named(ControllerName).
		For(&gamev1alpha1.GameServer{}, builder.WithPredicates(gameServerEvents())).
		Watches(&corev1.Pod{}, &handler.EnqueueRequestForObject{}, builder.WithPredicates(ownedPods())).
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(r.podsOnNode), builder.WithPredicates(nodeHealth())).
		Watches(&gamev1alpha1.GameServerSet{}, handler.EnqueueRequestsFromMapFunc(r.podsOfSet), builder.WithPredicates(setMatters())).
		WithOptions(r.controllerOptions()).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up controller %s: %w", ControllerName, err)
	}
	return nil
}

func (r *Reconciler) controllerOptions() controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: r.options.Workers,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry),
	}
}

// Reconcile brings one GameServer and its pod together.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	s, err := r.observe(ctx, req.NamespacedName)
	if err != nil {
		return reconcile.Result{}, err
	}
	if s.gameServer == nil {
		r.lasting.forget(req.NamespacedName)
	}
	p, err := decide(s, timing{networkWait: r.options.NetworkWait, startGrace: r.options.StartGrace})
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("deciding on GameServer %s: %w", req.NamespacedName, err)
	}
	if err := r.act(ctx, s, &p); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: p.recheckAfter}, nil
}
