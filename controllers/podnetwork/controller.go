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
	"fmt"
	"runtime/debug"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/internal/apply"
	"github.com/berthgames/berth/network/framework"
)

// ControllerName names the controller in logs, metrics and events.
const ControllerName = "podnetwork"

// Options are the numbers of the controller.
type Options struct {
	// Workers is how many pods are worked on at the same time, at least 1.
	Workers int
}

// Reconciler drives network plugins. It writes one annotation of pods, and events on them; plugins write what is theirs.
type Reconciler struct {
	client   client.Client
	plugins  *framework.Registry
	events   events.EventRecorder
	restored *restored
	told     *told
	options  Options
}

var _ reconcile.Reconciler = (*Reconciler)(nil)

// New returns a Reconciler. c reads from a cache and should read its own writes.
func New(c client.Client, plugins *framework.Registry, recorder events.EventRecorder, opts Options) *Reconciler {
	return &Reconciler{client: c, plugins: plugins, events: recorder, restored: newRestored(), told: newTold(), options: opts}
}

// Reconcile asks the plugin of one pod and writes what it answers.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	pod := &corev1.Pod{}
	if err := r.client.Get(ctx, req.NamespacedName, pod); err != nil {
		r.told.forget(req.NamespacedName)
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	view, ok, err := framework.PodOf(pod)
	if !ok {
		return reconcile.Result{}, nil
	}
	var given answer
	if err != nil {
		given = answer{err: err}
	} else if given = r.ask(ctx, view); given.silent {
		return reconcile.Result{}, nil
	}
	p, err := decide(view, given)
	if err != nil {
		return reconcile.Result{}, err
	}
	if err := r.act(ctx, pod, p); err != nil {
		return reconcile.Result{}, err
	}
	if p.retry {
		return reconcile.Result{RequeueAfter: p.recheckAfter}, given.err
	}
	return reconcile.Result{RequeueAfter: p.recheckAfter}, nil
}

// answer is what came of asking a plugin.
type answer struct {
	result framework.Result
	err    error
	// silent means that there is nobody to ask who would have something to say.
	silent bool
}

func (r *Reconciler) ask(ctx context.Context, view *framework.Pod) answer {
	plugin, found := r.plugins.Get(view.Type)
	if !found {
		return answer{err: &unknownTypeError{name: view.Type, known: r.plugins.Names()}}
	}
	reconciler, able := plugin.(framework.Reconciler)
	if !able {
		return answer{silent: true}
	}
	if err := r.restored.ensure(ctx, plugin); err != nil {
		return answer{err: err}
	}
	result, err := contained(plugin.Name(), func() (framework.Result, error) { return reconciler.Reconcile(ctx, view) })
	return answer{result: result, err: err}
}

// contained turns a panic of a plugin into an error, so that it costs one pod a try and not the process.
func contained[T any](plugin string, call func() (T, error)) (result T, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &framework.PanicError{Plugin: plugin, Value: value, Stack: string(debug.Stack())}
		}
	}()
	return call()
}

// act writes the annotation first and tells of trouble after.
func (r *Reconciler) act(ctx context.Context, pod *corev1.Pod, p plan) error {
	if p.status != nil {
		after := pod.DeepCopy()
		after.Annotations[gamev1alpha1.GameServerNetworkStatus] = *p.status
		if _, err := apply.Object(ctx, r.client, pod, after); err != nil {
			return client.IgnoreNotFound(err)
		}
	}
	if r.told.isNew(client.ObjectKeyFromObject(pod), pod.UID, p.trouble) {
		r.events.Eventf(pod, nil, corev1.EventTypeWarning, p.trouble.reason, actionReconcile, "%s", p.trouble.note)
	}
	return nil
}

// SetupWithManager registers the controller with all kinds that plugins watch.
//
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups="",resources=nodes,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	if err := r.watch(mgr).Complete(r); err != nil {
		return fmt.Errorf("setting up controller %s: %w", ControllerName, err)
	}
	return nil
}
