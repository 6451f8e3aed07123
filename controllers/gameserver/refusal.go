// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// recheckRefused is how soon changes of a pod that the API server refused are tried again: nobody tells when the policy
// that is against them, or the rest of the pod, has changed.
const recheckRefused = 30 * time.Second

// bringToPod carries out the plan for the pod. Users decide on images and gs-sync keys, so an image policy or a size limit
// may be against them; then the pod gets the rest of the plan. What is refused is a trouble to tell, not an error:
// otherwise one bad value would keep state and status as they are for ever, and nobody would hear why.
// It changes p to what came of it, and reports, as patchPod, that the pod is gone.
func (r *Reconciler) bringToPod(ctx context.Context, pod *corev1.Pod, p *plan) (gone bool, err error) {
	gone, refusal := r.patchPod(ctx, pod, p.pod)
	if !isRefused(refusal) {
		return gone, refusal
	}
	p.troubles = append(p.troubles, podRefusedEvent(refusal, p.pod.images))
	p.recheckAfter = sooner(p.recheckAfter, recheckRefused)

	rest := p.pod.withoutWishes()
	if !rest.empty() {
		gone, err = r.patchPod(ctx, pod, rest)
	}
	switch {
	case isRefused(err):
		p.podEvents, p.status = nil, p.statusUnpatched
		return false, nil
	case err != nil || gone:
		return gone, err
	}
	p.podEvents = changeEvents(pod, rest)
	return false, nil
}

// isRefused says whether the API server understood a request and will not do it, however often it is asked. What is
// missing, in conflict, not authenticated, late or too much at once is another matter: the same request may work later.
func isRefused(err error) bool {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		return false
	}
	switch code := answer.Status().Code; code {
	case http.StatusUnauthorized, http.StatusNotFound, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return false
	default:
		return code >= 400 && code < 500
	}
}

// podRefusedEvent is told anew for other images, not for other words of the same refusal.
func podRefusedEvent(err error, images map[string]string) event {
	return event{eventType: corev1.EventTypeWarning, reason: reasonPodRefused, action: actionSyncPod,
		note: fmt.Sprintf("%v; images and gs-sync keys of the pod stay as they are", err),
		key:  fmt.Sprintf("%s %s %v", reasonPodRefused, apierrors.ReasonForError(err), images)}
}
