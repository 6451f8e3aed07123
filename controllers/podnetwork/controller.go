// SPDX-License-Identifier: Apache-2.0

// Package podnetwork drives the network plugin of each pod: it asks the plugin how the pod is reached whenever something
// changes that the answer may depend on, and writes the answer as the pod's annotation game.kruise.io/network-status.
//
//	pod, node, objects of the plugin ──ask──▶ answer ──decide──▶ annotation, event, when to look again
//
// It runs on the leader only. Nothing is released here because somebody asked for a deletion: a plugin sees the pod until
// it is gone. A pod whose annotation already says what the plugin answers is not written.
package podnetwork

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/berthgames/berth/network/framework"
)

// ControllerName names the controller in logs, metrics and events.
const ControllerName = "podnetwork"

const (
	// A pass that failed is repeated after firstRetry, then after twice as long, and so on up to lastRetry: an outage of a
	// cloud that has ended must not keep servers without network for longer.
	firstRetry = 200 * time.Millisecond
	lastRetry  = time.Minute
	// A plugin that waits for something is asked again after firstWait, and so on up to lastWait.
	firstWait = time.Second
	lastWait  = 30 * time.Second
	// mostPerPass is when a plugin that does not answer is given up for this pass, so that it gives its worker back.
	mostPerPass = time.Minute
)

// Options are the numbers of the controller.
type Options struct {
	// Workers is how many pods are worked on at the same time, at least 1.
	Workers int
}

// Reconciler drives network plugins. It writes one annotation of pods, and events on them; plugins write what is theirs.
type Reconciler struct {
	client  client.Client
	plugins *framework.Registry
	events  events.EventRecorder
	restore *restore
	memory  *memory
	waits   workqueue.TypedRateLimiter[reconcile.Request]
	options Options
}

var _ reconcile.Reconciler = (*Reconciler)(nil)

// New returns a Reconciler. c reads from a cache and should read its own writes.
func New(c client.Client, plugins *framework.Registry, recorder events.EventRecorder, opts Options) *Reconciler {
	return &Reconciler{
		client: c, plugins: plugins, events: recorder, options: opts,
		restore: newRestore(plugins.All()),
		memory:  newMemory(),
		waits:   workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstWait, lastWait),
	}
}

// SetupWithManager registers the controller with all kinds that plugins watch. Indexes that plugins read by have to be
// registered by the caller.
//
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups="",resources=nodes,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	kinds, err := watchedKinds(r.plugins.All(), mgr.GetScheme())
	if err != nil {
		return fmt.Errorf("setting up controller %s: %w", ControllerName, err)
	}
	b := ctrl.NewControllerManagedBy(mgr).
		Named(ControllerName).
		For(&corev1.Pod{}, builder.WithPredicates(podMatters(r.memory.isOwn))).
		WatchesRawSource(r.restore).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: r.options.Workers,
			ReconciliationTimeout:   mostPerPass,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry),
		})
	for _, kind := range kinds {
		b = b.Watches(kind.object, kind.handler())
	}
	if err := b.Complete(r); err != nil {
		return fmt.Errorf("setting up controller %s: %w", ControllerName, err)
	}
	return nil
}

// Reconcile asks the plugin of one pod and writes what it answers.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	view, err := r.observe(ctx, req)
	if view == nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	given := answer{err: err}
	if err == nil {
		given = r.ask(ctx, view)
	}
	if given.silent {
		return reconcile.Result{}, nil
	}
	if given.err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return reconcile.Result{}, given.err // the process stops; that is no fault of the plugin
	}
	p, err := decide(view, given)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("deciding on the network of pod %s: %w", req.NamespacedName, err)
	}
	if err := r.act(ctx, view.Pod, p, given.err); err != nil {
		return reconcile.Result{}, err
	}
	switch p.next {
	case afterFault:
		return reconcile.Result{}, fmt.Errorf("asking network plugin %s: %w", view.Type, given.err)
	case afterWait:
		return reconcile.Result{RequeueAfter: r.waits.When(req)}, nil
	case afterRecheck:
		r.waits.Forget(req)
	}
	return reconcile.Result{RequeueAfter: p.recheckAfter}, nil
}

// observe reads a pod. The view is nil when there is no pod with a network; beside a view, the error says what is wrong
// with its annotations.
func (r *Reconciler) observe(ctx context.Context, req reconcile.Request) (*framework.Pod, error) {
	pod := &corev1.Pod{}
	err := r.client.Get(ctx, req.NamespacedName, pod)
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("reading pod %s: %w", req.NamespacedName, err)
	}
	if err == nil {
		if view, hasNetwork, err := framework.PodOf(pod); hasNetwork {
			return view, err
		}
	}
	r.memory.forget(req.NamespacedName)
	r.waits.Forget(req)
	return nil, err
}
