// SPDX-License-Identifier: Apache-2.0

// Package pod is the admission of new game-server pods.
//
// It only reads, decides and answers: the same request gets the same patch but for the time in it, nothing is written to
// the API server, and a dry run is like the real request. Updates and deletions of pods pass untouched, also when an older webhook
// configuration still sends them here (faults W-5, W-6).
//
//	pod CREATE ── overrides and labels of its GameServer ── network plugin's Admit ── patch of only what changed
package pod

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/internal/gamepod"
	"github.com/berthgames/berth/network/framework"
)

// Path is where the API server sends pods. It is upstream's, so that configurations of both work.
const Path = "/mutate-v1-pod"

// AnswerLimit is how long an answer may take. It leaves room within the API server's limit of 10 s for a refusal that
// says why. Source: network-framework.md, section 7.1.
const AnswerLimit = 8 * time.Second

// Options are what a Handler is made from.
type Options struct {
	// Live reads GameServers from the API server. A cache may not have the GameServer yet that outlived the last pod
	// of this name (fault W-11).
	Live client.Reader
	// Scheme knows pods.
	Scheme *runtime.Scheme
	// Plugins are the network plugins of this process.
	Plugins *framework.Registry
	// Namespace, when not empty, is the only namespace the manager works in; pods elsewhere pass with a warning.
	Namespace string
	// Limit is how long an answer may take; zero means AnswerLimit.
	Limit time.Duration
	// Metrics count what plugins answered. May be nil.
	Metrics *Metrics
	// Clock tells when a server got its operations state; nil means the real one.
	Clock clock.PassiveClock
}

// Handler answers CREATE requests of pods. Safe for concurrent use.
type Handler struct {
	options Options
	decoder admission.Decoder
}

var _ admission.Handler = (*Handler)(nil)

// New returns a Handler.
func New(options Options) *Handler {
	if options.Limit == 0 {
		options.Limit = AnswerLimit
	}
	if options.Clock == nil {
		options.Clock = clock.RealClock{}
	}
	return &Handler{options: options, decoder: admission.NewDecoder(options.Scheme)}
}

// Handle answers one request.
func (h *Handler) Handle(ctx context.Context, req admission.Request) admission.Response {
	if req.Operation != admissionv1.Create || req.SubResource != "" {
		return admission.Allowed("")
	}
	pod := &corev1.Pod{}
	if err := h.decoder.Decode(req, pod); err != nil {
		return admission.Errored(http.StatusBadRequest, fmt.Errorf("decoding the pod: %w", err))
	}
	// The stored pod gets the request's namespace; the object of the request may leave it out.
	pod.Namespace = req.Namespace
	if set := pod.Labels[gamev1alpha1.GameServerOwnerGssKey]; set == "" {
		return admission.Allowed("")
	}
	if warning := h.notOurs(pod); warning != "" {
		return admission.Allowed("").WithWarnings(warning)
	}

	ctx, cancel := context.WithTimeout(ctx, h.options.Limit)
	defer cancel()
	shaped, warnings, err := h.shape(ctx, pod, req)
	if err != nil {
		return refuse(pod, err).WithWarnings(warnings...)
	}
	patch, err := diff(req.Object.Raw, pod, shaped)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	return admission.Patched("", patch...).WithWarnings(warnings...)
}

// notOurs says why a pod with our label is left alone.
func (h *Handler) notOurs(pod *corev1.Pod) string {
	switch {
	case h.options.Namespace != "" && pod.Namespace != h.options.Namespace:
		return fmt.Sprintf("Berth's manager works in namespace %q only; the pod is left as it is", h.options.Namespace)
	case pod.Name == "":
		return fmt.Sprintf("a pod with label %s needs a name of its own, not generateName; it is left as it is", gamev1alpha1.GameServerOwnerGssKey)
	}
	return ""
}

// shape returns the pod as it should be stored. It leaves the given one alone.
func (h *Handler) shape(ctx context.Context, pod *corev1.Pod, req admission.Request) (*corev1.Pod, []string, error) {
	shaped := pod.DeepCopy()
	warnings, err := h.applyGameServer(ctx, shaped)
	if err != nil {
		return nil, warnings, err
	}
	view, hasNetwork, err := framework.PodOf(shaped)
	if err != nil {
		return nil, warnings, err
	}
	// A report that a template or a restored pod brings along is about another pod.
	delete(shaped.Annotations, gamev1alpha1.GameServerNetworkStatus)
	if !hasNetwork {
		return shaped, warnings, nil
	}
	plugin, known := h.options.Plugins.Get(view.Type)
	if !known {
		// A provider that is switched off must not stop game servers; podnetwork reports the pod as not ready (fault W-3).
		return shaped, append(warnings, fmt.Sprintf("there is no network plugin %q, so the pod gets no network; known are %q",
			view.Type, h.options.Plugins.Names())), nil
	}
	admitter, ok := plugin.(framework.Admitter)
	if !ok {
		return shaped, warnings, nil
	}
	admitted, err := h.admit(ctx, plugin.Name(), admitter, framework.AdmitRequest{
		Pod: shaped, Params: view.Params, RequestUID: req.UID, DryRun: req.DryRun != nil && *req.DryRun,
	})
	return admitted, warnings, err
}

// applyGameServer brings overrides, operations state and priorities of the GameServer that outlived the last pod of this
// name to the pod, or those of a new GameServer, so that the server finds them through the downward API at its start.
func (h *Handler) applyGameServer(ctx context.Context, pod *corev1.Pod) ([]string, error) {
	found := &gamev1alpha1.GameServer{}
	err := h.options.Live.Get(ctx, types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, found)
	if apierrors.IsNotFound(err) {
		found = nil
	} else if err != nil {
		return nil, framework.Retryf("reading its GameServer: %w", err)
	}
	server := gamepod.ForNewPod(found)
	gamepod.Stamp(pod, server, h.options.Clock.Now())
	if server == nil {
		return nil, nil
	}
	warnings, errs := override(pod, server.Spec.Containers)
	if len(errs) > 0 {
		return warnings, fmt.Errorf("its GameServer: %w", &framework.ParameterError{Errs: errs})
	}
	return warnings, nil
}

// admit lets a plugin shape the pod. The plugin works on a copy: when it is too late, or panics, nobody else sees what it
// still does to that copy (faults W-2, W-15).
func (h *Handler) admit(ctx context.Context, name string, admitter framework.Admitter, req framework.AdmitRequest) (*corev1.Pod, error) {
	req.Pod = req.Pod.DeepCopy()
	done := make(chan error, 1)
	go func() { done <- callAdmit(ctx, name, admitter, req) }()

	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = framework.Retryf("network plugin %s did not answer within %s: %w", name, h.options.Limit, err)
	}
	h.options.Metrics.admitted(name, err)
	if err != nil {
		return nil, err
	}
	return req.Pod, nil
}
