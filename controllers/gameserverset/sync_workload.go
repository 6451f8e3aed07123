// SPDX-License-Identifier: Apache-2.0

package gameserverset

import (
	"context"
	"errors"
	"fmt"
	"time"

	kruisev1beta1 "github.com/openkruise/kruise-api/apps/v1beta1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/internal/apply"
	"github.com/berthgames/berth/internal/idset"
)

// syncWorkload creates the workload, or scales and updates it.
func (r *Reconciler) syncWorkload(ctx context.Context, p *pass) error {
	if p.blocked != nil {
		p.found(*p.blocked)
		return nil
	}
	var err error
	if p.workload == nil {
		err = r.createWorkload(ctx, p)
	} else {
		err = r.updateWorkload(ctx, p)
	}
	return p.finish(gamev1alpha1.WorkloadReadyCondition, err)
}

// scaleInput reads the set, its workload and its servers for the plan. badAnnotation says that the annotation with the
// applied reserve ids cannot be read; the ids of the spec count as applied then (S-16). The error is for the user.
func scaleInput(p *pass) (in ScaleInput, badAnnotation bool, err error) {
	in = ScaleInput{Servers: p.servers, Backfill: backfills(p.set)}
	if p.set.Spec.Replicas != nil {
		in.Replicas = *p.set.Spec.Replicas
	}
	if in.Explicit, err = idset.FromList(p.set.Spec.ReserveGameServerIds); err != nil {
		return in, false, fmt.Errorf("spec.reserveGameServerIds: %w", err)
	}
	if in.ExplicitBefore, err = idset.Parse(p.set.Annotations[gamev1alpha1.GameServerSetReserveIdsKey]); err != nil {
		in.ExplicitBefore, badAnnotation = in.Explicit, true
	}
	if p.workload == nil {
		return in, badAnnotation, nil
	}
	if p.workload.Spec.Replicas != nil {
		in.WorkloadReplicas = *p.workload.Spec.Replicas
	}
	if in.WorkloadReserve, err = idset.FromList(p.workload.Spec.ReserveOrdinals); err != nil {
		return in, badAnnotation, fmt.Errorf("spec.reserveOrdinals of StatefulSet %s: %w", p.workload.Name, err)
	}
	return in, badAnnotation, nil
}

func backfills(set *gamev1alpha1.GameServerSet) bool {
	return set.Spec.ScaleStrategy.ScaleDownStrategyType == gamev1alpha1.ReserveIdsScaleDownStrategyType
}

// earlierPodsDelay is when pods of an earlier workload are looked at again. What happens to them wakes the set sooner.
const earlierPodsDelay = 5 * time.Second

// createWorkload makes the workload of a set that has none, around pods without a controller, which it will adopt.
func (r *Reconciler) createWorkload(ctx context.Context, p *pass) error {
	if left := probesWaitLeft(p.set, p.probes, p.now); !p.probesSettled && left > 0 {
		p.recheck(left)
		p.found(finding{condition: gamev1alpha1.WorkloadReadyCondition, reason: ReasonWaitingForProbes,
			message: fmt.Sprintf("StatefulSet %s is created when OpenKruise has seen the probes, or after %s", p.set.Name, probesPatience)})
		return nil
	}
	if ready, err := r.refreshForCreation(ctx, p); err != nil || !ready {
		return err
	}
	in, badAnnotation, err := scaleInput(p)
	if err != nil {
		return p.foundInvalidIDs(err)
	}
	// There is nothing to leave yet, so what was applied before does not matter.
	in.ExplicitBefore = in.Explicit
	plan, err := PlanScale(in)
	if err != nil {
		p.found(*noPlan(err))
		return nil
	}
	managed, err := managedSpec(p.set)
	if err != nil {
		return err
	}
	workload, err := newWorkload(p.set, managed, plan)
	if err != nil {
		return err
	}
	if err := r.client.Create(ctx, workload, client.FieldOwner(apply.FieldManager)); err != nil {
		return fmt.Errorf("creating StatefulSet %s: %w", workload.Name, err)
	}
	p.workload, p.workloadIsLive = workload, true
	r.report(p.set).workloadCreated(plan.Keep)
	p.foundFine()
	return r.recordReserve(ctx, p, plan, change{in: in, badAnnotation: badAnnotation})
}

// refreshForCreation reads the set and its servers from the API server, past the cache: a new workload adopts what it
// finds, and deletes what was not planned. It reports whether the workload can be created; not while pods wait for an
// earlier workload to let go of them, or for their deletion with it.
func (r *Reconciler) refreshForCreation(ctx context.Context, p *pass) (bool, error) {
	if there, err := r.refreshSet(ctx, p); err != nil || !there {
		p.unfinished = true
		return false, err
	}
	servers, earlier, err := r.listServers(ctx, p)
	if err != nil {
		return false, fmt.Errorf("listing servers before StatefulSet %s is created: %w", p.set.Name, err)
	}
	p.servers, p.verified = servers, idset.Range(0, idset.MaxID)
	if earlier.Empty() {
		return true, nil
	}
	p.recheck(earlierPodsDelay)
	p.found(finding{condition: gamev1alpha1.WorkloadReadyCondition, reason: ReasonEarlierPods,
		message: bounded(fmt.Sprintf("pods %s still belong to an earlier StatefulSet %s; it is created anew when they are released or deleted",
			names(earlier), p.set.Name))})
	return false, nil
}

// change is what a workload needs.
type change struct {
	in            ScaleInput
	managed       kruisev1beta1.StatefulSetSpec
	badAnnotation bool
	killed        idset.Set
	scale, update bool
	// scaling: of the update only what steers scaling.
	scaling bool
}

func (c change) none() bool { return !c.scale && !c.update && !c.badAnnotation && c.killed.Empty() }

// neededChange compares a set with its workload. An *idset.ElementError is about ids that somebody wrote.
func neededChange(p *pass) (change, error) {
	in, badAnnotation, err := scaleInput(p)
	if err != nil {
		return change{}, err
	}
	c := change{in: in, badAnnotation: badAnnotation, scale: ScaleNeeded(in), killed: idset.Of(Killed(in)...)}
	if c.managed, err = managedSpec(p.set); err != nil {
		return change{}, err
	}
	hash, err := hashOf(c.managed)
	if err != nil {
		return change{}, err
	}
	c.update = p.workload.Annotations[gamev1alpha1.AstsHashKey] != hash
	return c, nil
}

// updateWorkload compares in the cache, which costs nothing at rest. What it finds to do it finds again on live objects
// before it writes, and their resource versions are preconditions of the writes.
func (r *Reconciler) updateWorkload(ctx context.Context, p *pass) error {
	c, err := neededChange(p)
	if err != nil {
		return p.foundInvalidIDs(err)
	}
	if c.none() {
		p.foundFine()
		return nil
	}
	if there, err := r.refresh(ctx, p); err != nil || !there {
		p.unfinished = true
		return err
	}
	if c, err = neededChange(p); err != nil {
		return p.foundInvalidIDs(err)
	}
	if err := r.kill(ctx, p, &c); err != nil {
		return err
	}
	plan := ScalePlan{Reserve: c.in.Explicit}
	if c.scale {
		if plan, err = r.planVerified(ctx, p, &c.in); err != nil {
			return err
		}
	}
	if p.noPlan != nil { // The servers that are there are updated all the same.
		c.scale, c.badAnnotation = false, false
		p.found(*p.noPlan)
	}
	refusedUpdate, err := r.writeWorkload(ctx, p, c, plan)
	if err != nil {
		return err
	}
	p.foundFine()
	if c.scale || c.badAnnotation {
		if err := r.recordReserve(ctx, p, plan, c); err != nil {
			return err
		}
	}
	return refusedUpdate
}

// kill lowers replicas by the servers in opsState Kill. Nothing else of the set is written, and only on top of the
// version that was read (S-8).
func (r *Reconciler) kill(ctx context.Context, p *pass, c *change) error {
	for {
		c.killed = idset.Of(Killed(c.in)...)
		more, err := r.verify(ctx, p, c.killed)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		c.in.Servers = p.servers
	}
	if c.killed.Empty() {
		return nil
	}
	from := c.in.Replicas
	to := from - int32(c.killed.Len()) // the killed are members, of which there are from
	after := p.set.DeepCopy()
	after.Spec.Replicas = &to
	if _, err := apply.Object(ctx, r.client, p.set, after, apply.WithOptimisticLock()); err != nil {
		return fmt.Errorf("lowering replicas for servers in opsState Kill: %w", err)
	}
	r.report(p.set).killed(from, to, c.killed)
	p.set, c.in.Replicas, c.scale = after, to, true
	return nil
}

// planVerified plans until every server that leaves was read live: opsState and priority may be newer than the cache, and
// an empty seat may be taken (S-2). It ends because each round reads ids that were not read before.
func (r *Reconciler) planVerified(ctx context.Context, p *pass, in *ScaleInput) (ScalePlan, error) {
	for {
		plan, err := PlanScale(*in)
		if err != nil {
			p.noPlan = noPlan(err)
			return ScalePlan{}, nil
		}
		more, err := r.verify(ctx, p, plan.Vacated.Union(idset.Of(plan.Removed...)))
		if err != nil {
			return ScalePlan{}, err
		}
		if !more {
			return plan, nil
		}
		in.Servers = p.servers
	}
}

// writeWorkload scales and updates the workload in one write. When OpenKruise refuses that, the update must not keep the
// set from scaling; a hook or a claim policy that came together with the new size holds for the servers that leave.
// refusedUpdate is why only the scaling was written.
func (r *Reconciler) writeWorkload(ctx context.Context, p *pass, c change, plan ScalePlan) (refusedUpdate, err error) {
	err = r.patchWorkload(ctx, p, c, plan)
	if _, refused := refusal(err); !refused || !c.scale || !c.update {
		return nil, err
	}
	c.update, c.scaling = false, true
	return err, r.patchWorkload(ctx, p, c, plan)
}

func (r *Reconciler) patchWorkload(ctx context.Context, p *pass, c change, plan ScalePlan) error {
	before, after := p.workload, p.workload.DeepCopy()
	if c.scale {
		setScale(&after.Spec, plan)
	}
	if c.scaling {
		setScaling(&after.Spec, c.managed)
	}
	if c.update {
		if err := setManaged(after, c.managed); err != nil {
			return err
		}
	}
	wrote, err := apply.Object(ctx, r.client, before, after, apply.WithOptimisticLock())
	if err != nil {
		return fmt.Errorf("updating StatefulSet %s: %w", before.Name, err)
	}
	p.workload = after
	if !wrote {
		return nil
	}
	if members := c.in.members(); c.scale && !plan.Keep.Equal(members) {
		log.FromContext(ctx).V(2).Info("Scaled the workload", "workload", klog.KObj(after), "from", c.in.WorkloadReplicas,
			"to", c.in.Replicas, "keep", plan.Keep.String(), "reserve", plan.Reserve.String())
		r.report(p.set).scaled(c.in.WorkloadReplicas, c.in.Replicas, members, plan.Keep)
	}
	if c.update {
		r.report(p.set).workloadUpdated()
	}
	return nil
}

// recordReserve writes which explicit ids the workload has now and, with ReserveIds, adds the removed ids to them.
func (r *Reconciler) recordReserve(ctx context.Context, p *pass, plan ScalePlan, c change) error {
	after, explicit := p.set.DeepCopy(), c.in.Explicit
	var options []apply.Option
	if c.in.Backfill && !plan.Reserve.Equal(explicit) {
		explicit = plan.Reserve
		after.Spec.ReserveGameServerIds = explicit.List()
		// The list is written as a whole; an edit of the user in between must not be lost.
		options = append(options, apply.WithOptimisticLock())
	}
	was := p.set.Annotations[gamev1alpha1.GameServerSetReserveIdsKey]
	if applied, err := idset.Parse(was); err != nil || !applied.Equal(explicit) {
		after.Annotations = with(after.Annotations, gamev1alpha1.GameServerSetReserveIdsKey, explicit.String())
	}
	if _, err := apply.Object(ctx, r.client, p.set, after, options...); err != nil {
		return fmt.Errorf("recording reserve ids: %w", err)
	}
	p.set = after
	if c.badAnnotation {
		r.report(p.set).reserveIDsRebuilt(was)
	}
	return nil
}

// foundInvalidIDs notes that there is a stored id list that cannot be read; the workload is left alone then.
func (p *pass) foundInvalidIDs(err error) error {
	var bad *idset.ElementError
	if !errors.As(err, &bad) {
		return err
	}
	p.found(finding{condition: gamev1alpha1.ScaleConsistentCondition, reason: ReasonInvalidReserveIDs, warn: true,
		message: err.Error() + "; the set is neither scaled nor updated before this is corrected"})
	return nil
}

func noPlan(err error) *finding {
	return &finding{condition: gamev1alpha1.ScaleConsistentCondition, reason: ReasonNoPlan, warn: true, message: err.Error()}
}

// foundFine notes that the workload is as wanted, as far as nothing else was found.
func (p *pass) foundFine() {
	p.found(finding{condition: gamev1alpha1.WorkloadReadyCondition, fine: true, reason: ReasonAsWanted})
	if p.noPlan != nil {
		return
	}
	consistent := finding{condition: gamev1alpha1.ScaleConsistentCondition, fine: true, reason: ReasonAsWanted}
	if len(p.strays) > 0 {
		consistent.reason, consistent.warn = ReasonStrayPods, true
		consistent.message = bounded(fmt.Sprintf("pods with the label of this set that are none of its servers are ignored: %v", p.strays))
	}
	p.found(consistent)
}
