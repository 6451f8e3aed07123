// SPDX-License-Identifier: Apache-2.0

package gameserverset

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/internal/apply"
)

// conflictDelay is when a pass is repeated that met an object newer than the one it had read. The cache has it by then.
const conflictDelay = 200 * time.Millisecond

// finish notes the outcome of a step. Somebody else's write in between is no error: the pass is repeated. A refusal
// becomes the reason of the condition, and an error all the same, so that it is tried again with back-off.
func (p *pass) finish(condition string, err error) error {
	switch {
	case err == nil:
		return nil
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		p.unfinished = true
		p.recheck(conflictDelay)
		return nil
	}
	if why, refused := refusal(err); refused {
		p.found(finding{condition: condition, reason: ReasonRefused, message: why, warn: true})
		return err
	}
	p.unfinished = true
	return err
}

// refusal returns why the API server, or a webhook of OpenKruise, does not take an object. It is false for what may
// pass when it is tried again.
func refusal(err error) (why string, refused bool) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return "", false
	}
	switch code := status.Status().Code; code {
	case http.StatusNotFound, http.StatusConflict, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return "", false
	default:
		return bounded(status.Status().Message), code >= 400 && code < 500
	}
}

// writeStatus writes the status when it changed, and then warns of what is news.
func (r *Reconciler) writeStatus(ctx context.Context, p *pass) error {
	before, now := p.set.DeepCopy(), r.clock.Now()
	after := p.set.DeepCopy()
	after.Status = newStatus(p.set, p.workload, p.pods)
	if p.unfinished {
		after.Status.ObservedGeneration = before.Status.ObservedGeneration
	}
	warnings := setFindings(&after.Status, p.findings, now)
	wrote, err := apply.Status(ctx, r.client, before, after)
	if apierrors.IsNotFound(err) {
		return nil // The set is gone.
	}
	if err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	if wrote {
		for _, warning := range warnings {
			r.report(p.set).warn(warning)
		}
	}
	return nil
}

func (r *Reconciler) report(set *gamev1alpha1.GameServerSet) reporter {
	return reporter{recorder: r.events, set: set}
}
