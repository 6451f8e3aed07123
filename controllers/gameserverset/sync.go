// SPDX-License-Identifier: Apache-2.0

package gameserverset

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/internal/apply"
)

// conflictDelay is when a pass is repeated that met an object newer than the one it had read. The cache has it by then.
const conflictDelay = 200 * time.Millisecond

// A refused write is tried again after as much time as the refusal has lasted, within these bounds.
const (
	minRefusedDelay = 5 * time.Second
	maxRefusedDelay = 5 * time.Minute
)

// finish notes the outcome of a step. Somebody else's write in between is no error: the pass is repeated. A refusal
// becomes the reason of the condition, where people look for it, and is tried again later. Everything else is an error.
func (p *pass) finish(condition string, err error) error {
	if err == nil {
		return nil
	}
	if why, refused := refusal(err); refused {
		p.found(finding{condition: condition, reason: ReasonRefused, message: why, warn: true})
		p.recheck(refusedDelay(meta.FindStatusCondition(p.set.Status.Conditions, condition), p.now))
		return nil
	}
	p.unfinished = true
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		p.recheck(conflictDelay)
		return nil
	}
	return err
}

// refusedDelay is the back-off after a refusal; before is the condition as it was, which may be nil.
func refusedDelay(before *metav1.Condition, now time.Time) time.Duration {
	if before == nil || before.Status != metav1.ConditionFalse {
		return minRefusedDelay
	}
	return min(max(now.Sub(before.LastTransitionTime.Time), minRefusedDelay), maxRefusedDelay)
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
	before, after := p.set.DeepCopy(), p.set.DeepCopy()
	after.Status = newStatus(p.set, p.workload, p.pods)
	if p.unfinished {
		after.Status.ObservedGeneration = before.Status.ObservedGeneration
	}
	warnings := setFindings(&after.Status, p.findings, p.now)
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
