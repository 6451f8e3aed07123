// SPDX-License-Identifier: Apache-2.0

// Package gameserverset is the admission of GameServerSets. It decodes, asks package validation, and answers.
package gameserverset

import (
	"context"
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/webhook/validation"
)

// Path is where the API server sends GameServerSets. It is upstream's, so that configurations of both work.
const Path = "/validate-v1alpha1-gss"

// Handler answers CREATE and UPDATE requests of GameServerSets. Safe for concurrent use.
type Handler struct {
	decoder  admission.Decoder
	networks validation.Networks
}

var _ admission.Handler = (*Handler)(nil)

// New returns a Handler. scheme must know GameServerSets.
func New(scheme *runtime.Scheme, networks validation.Networks) *Handler {
	return &Handler{decoder: admission.NewDecoder(scheme), networks: networks}
}

// Handle answers one request.
func (h *Handler) Handle(_ context.Context, req admission.Request) admission.Response {
	if req.SubResource != "" {
		return admission.Allowed("")
	}
	switch req.Operation {
	case admissionv1.Create, admissionv1.Update:
	default:
		return admission.Allowed("")
	}

	var old *gamev1alpha1.GameServerSet
	if req.Operation == admissionv1.Update {
		old = &gamev1alpha1.GameServerSet{}
		if err := h.decoder.DecodeRaw(req.OldObject, old); err != nil {
			// It was stored before anybody looked. Nothing can be compared with it, and it must stay editable.
			return admission.Allowed("").WithWarnings(fmt.Sprintf("the stored object cannot be read, so the new one was not compared with it: %v", err))
		}
	}
	set := &gamev1alpha1.GameServerSet{}
	if err := h.decoder.DecodeRaw(req.Object, set); err != nil {
		// Stored, it would stop every reader of GameServerSets.
		return admission.Errored(http.StatusUnprocessableEntity, fmt.Errorf("reading GameServerSet %s/%s: %w", req.Namespace, req.Name, err))
	}
	if set.DeletionTimestamp != nil {
		return admission.Allowed("") // what is on its way out only loses finalizers
	}

	found := validation.GameServerSet(old, set, h.networks)
	warnings := append(validation.UnknownFields(req.OldObject.Raw, req.Object.Raw), found.Warnings...)
	if len(found.Errors) > 0 {
		status := apierrors.NewInvalid(gamev1alpha1.Kind("GameServerSet"), set.Name, found.Errors).Status()
		response := admission.Denied("").WithWarnings(warnings...)
		response.Result = &status
		return response
	}
	return admission.Allowed("").WithWarnings(warnings...)
}
