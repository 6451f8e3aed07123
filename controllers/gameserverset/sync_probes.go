// SPDX-License-Identifier: Apache-2.0

package gameserverset

import (
	"context"
	"fmt"

	kruisev1alpha1 "github.com/openkruise/kruise-api/apps/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/internal/apply"
)

// syncProbes brings the PodProbeMarker one step further. Only the first creation of the workload looks at the outcome.
func (r *Reconciler) syncProbes(ctx context.Context, p *pass) error {
	wanted, err := newProbes(p.set)
	if err != nil {
		return err
	}
	if p.probes != nil {
		if owner := ownershipOf(p.probes, p.set); owner != ours {
			p.foreignProbes(owner, wanted != nil)
			return nil
		}
	}
	step := nextProbeStep(wanted, p.probes)
	if err := r.stepProbes(ctx, p, step, wanted); err != nil {
		return p.finish(gamev1alpha1.ProbesReadyCondition, fmt.Errorf("bringing the PodProbeMarker up to date: %w", err))
	}
	p.probesSettled = step == probesDone
	outcome := finding{condition: gamev1alpha1.ProbesReadyCondition, fine: true, reason: ReasonAsWanted}
	switch {
	case wanted == nil:
		outcome.reason = ReasonNoProbes
	case step != probesDone:
		outcome.fine, outcome.reason = false, ReasonProbesNotSeen
		outcome.message = fmt.Sprintf("OpenKruise has not seen the latest PodProbeMarker %s yet", p.set.Name)
	}
	p.found(outcome)
	return nil
}

// foreignProbes notes that the name is taken (S-6), which matters only when there are probes to write. It becomes free by
// itself after an earlier set.
func (p *pass) foreignProbes(owner ownership, wanted bool) {
	p.probesSettled = !wanted
	outcome := finding{condition: gamev1alpha1.ProbesReadyCondition, fine: true, reason: ReasonNoProbes}
	switch {
	case wanted && owner == ofEarlierSet:
		outcome.fine, outcome.reason = false, ReasonEarlierSet
		outcome.message = fmt.Sprintf("PodProbeMarker %s of an earlier set of this name is still there", p.set.Name)
	case wanted:
		outcome.fine, outcome.reason, outcome.warn = false, ReasonNameConflict, true
		outcome.message = fmt.Sprintf("PodProbeMarker %s exists and is not controlled by this set; delete it, or give this set another name", p.set.Name)
	}
	p.found(outcome)
}

func (r *Reconciler) stepProbes(ctx context.Context, p *pass, step probeStep, wanted *kruisev1alpha1.PodProbeMarker) error {
	switch step {
	case probesCreate:
		if err := r.client.Create(ctx, wanted, client.FieldOwner(apply.FieldManager)); err != nil {
			return err
		}
		p.probes = wanted
		r.report(p.set).probesCreated()
	case probesUpdate:
		after := p.probes.DeepCopy()
		after.Spec.Probes = wanted.Spec.Probes
		after.Annotations = with(after.Annotations, gamev1alpha1.PpmHashKey, wanted.Annotations[gamev1alpha1.PpmHashKey])
		if _, err := apply.Object(ctx, r.client, p.probes, after, apply.WithOptimisticLock()); err != nil {
			return err
		}
		p.probes = after
		r.report(p.set).probesUpdated()
	case probesDelete:
		err := r.client.Delete(ctx, p.probes, client.Preconditions{UID: &p.probes.UID})
		return client.IgnoreNotFound(err)
	case probesDone, probesWait:
	}
	return nil
}
