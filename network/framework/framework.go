// SPDX-License-Identifier: Apache-2.0

// Package framework is the contract between Berth and its network plugins.
//
// A plugin is a small value, constructed with what it needs. It always says its name and checks its parameters; what
// else it can do it says by implementing Admitter, Observer, Reconciler, Watcher or Restorer. The webhook calls Validate
// and Admit on every replica; the controller in controllers/podnetwork calls Restore, Watches and Reconcile on the leader.
//
//	GameServerSet ── Validate ──▶ refused or stored          (webhook, pure)
//	pod CREATE ───── Admit ─────▶ pod as it will be stored   (webhook, in memory only)
//	pod, owned objects, nodes ── Reconcile ──▶ NetworkStatus (podnetwork, level-triggered)
package framework

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

// Plugin is one network type.
type Plugin interface {
	// Name is the value users put into spec.network.networkType. Constant and unique.
	Name() string
	// Alias is the family name shared by plugins of different clouds that do the same, or empty. It takes no part in look-up.
	Alias() string
	// Validate checks the parameters, and the pod template as far as they speak of it. Pure.
	Validate(req ValidateRequest) Findings
}

// Admitter is a plugin that shapes the pod before it is stored.
type Admitter interface {
	// Admit changes req.Pod in memory: ports, annotations, readiness gates, environment variables. It writes nothing to the
	// API and answers a dry run as it would answer the real request. An error refuses the pod; its creator will try again.
	Admit(ctx context.Context, req AdmitRequest) error
}

// Reconciler is a plugin with something to do, or to report, for a pod that exists.
type Reconciler interface {
	// Reconcile brings the objects the plugin owns for one pod up to date and says how the pod is reached. Idempotent; called
	// at any time, also when the network of the pod is disabled.
	//
	// An error is announced as an Event of reason EventReason(err), and Reconcile is called again later. What was reported stays,
	// except that a ParameterError makes it NotReady.
	Reconcile(ctx context.Context, pod *Pod) (Result, error)
}

// Watcher is a plugin whose answer depends on objects other than the pod itself.
type Watcher interface {
	// Watches lists the kinds whose events wake pods of this plugin.
	Watches() []Watch
}

// Restorer is a plugin that remembers something which has to be rebuilt from the cluster.
type Restorer interface {
	// Restore runs after the caches have synced and before the first Reconcile. It may run again after an error.
	Restore(ctx context.Context) error
}

// Observer is a plugin whose Admit decides by a picture of the cluster that it keeps from events, on every replica.
type Observer interface {
	// Observe registers the plugin's event handlers. Called once, before the caches start.
	Observe(ctx context.Context, informers cache.Informers) error
	// Observed reports whether everything that existed when the caches started has been seen. Until then Admit answers with a
	// RetryError.
	Observed() bool
}

// ValidateRequest is what Validate is asked about.
type ValidateRequest struct {
	// Params are the parameters in the user's order.
	Params []gamev1alpha1.NetworkConfParams
	// ParamsPath is the field path of Params, for error messages.
	ParamsPath *field.Path
	// Template is the pod spec the parameters speak of, nil when it is not known.
	Template *corev1.PodSpec
}

// Findings are the answer of Validate: Errors refuse the object, Warnings are shown to the user.
type Findings struct {
	Errors   field.ErrorList
	Warnings []string
}

// AdmitRequest is one pod CREATE.
type AdmitRequest struct {
	// Pod is the pod as sent; it has no UID, node or address yet. Admit may change it.
	Pod *corev1.Pod
	// Params are the parameters from the pod's annotation.
	Params []gamev1alpha1.NetworkConfParams
	// RequestUID identifies the admission request.
	RequestUID types.UID
	// DryRun is true when nothing will be stored.
	DryRun bool
}

// Pod is a stored pod together with what its annotations and labels say of its network.
type Pod struct {
	*corev1.Pod
	// Type is the name of the network plugin. Never empty.
	Type string
	// Params are the parameters from the pod's annotation.
	Params []gamev1alpha1.NetworkConfParams
	// Disabled is true when the operator cut the pod off (label game.kruise.io/network-disabled).
	Disabled bool
	// Status is what the pod's annotation says now, nil when nothing was reported yet.
	Status *gamev1alpha1.NetworkStatus
}

// Result is the answer of Reconcile.
type Result struct {
	// Status is written to the pod's annotation game.kruise.io/network-status. Its NetworkType, DesiredNetworkState and times
	// belong to the GameServer controller and stay empty. Without a CurrentNetworkState there is nothing to report yet and the
	// annotation stays as it is: a pod without a node costs no write.
	Status gamev1alpha1.NetworkStatus
	// Waiting says in one sentence what keeps the network from being as wanted. It is announced as an Event, unless the status
	// is Waiting or missing: then the plugin is at work. Empty when nothing is missing.
	Waiting string
	// RecheckAfter asks to be called again without an event. Zero when events tell everything.
	RecheckAfter time.Duration
}

// Watch is one kind whose events wake pods.
type Watch struct {
	// Object is an empty object of the watched kind.
	Object client.Object
	// Pods maps an event's object to the pods it concerns. Nil means: the pod that owns the object.
	Pods func(ctx context.Context, obj client.Object) []types.NamespacedName
	// Relevant filters updates; nil lets all pass.
	Relevant func(before, after client.Object) bool
}
