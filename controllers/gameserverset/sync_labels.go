// SPDX-License-Identifier: Apache-2.0

package gameserverset

import (
	"context"
	"fmt"

	kruisev1beta1 "github.com/openkruise/kruise-api/apps/v1beta1"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/internal/apply"
	"github.com/berthgames/berth/internal/idset"
)

// parallelWrites is how many GameServers of one set are labelled at the same time.
const parallelWrites = 10

// label is a GameServer whose label gs-deleting must become value.
type label struct {
	gs    *gamev1alpha1.GameServer
	value string
}

// deletingLabels returns the labels to repair: a member is not deleted; a GameServer of the set, not of a pod, whose id
// left by scaling is (reclaim policy Delete). The members are those of the workload, so nothing is marked before the
// workload was really scaled (S-19).
func deletingLabels(set *gamev1alpha1.GameServerSet, members idset.Set, gameServers map[string]*gamev1alpha1.GameServer) []label {
	var labels []label
	for name, gs := range gameServers {
		id, ok := idOf(set.Name, name)
		if !ok {
			continue
		}
		marked := gs.Labels[gamev1alpha1.GameServerDeletingKey] == "true"
		switch member := members.Contains(id); {
		case member && marked:
			labels = append(labels, label{gs, "false"})
		case !member && !marked && metav1.IsControlledBy(gs, set):
			labels = append(labels, label{gs, "true"})
		}
	}
	return labels
}

// syncLabels repairs the labels gs-deleting. A GameServer that carries it dies with its pod, so that a workload out of
// the cache is not believed.
func (r *Reconciler) syncLabels(ctx context.Context, p *pass) error {
	if p.workload == nil {
		return nil
	}
	labels := p.deletingLabels()
	if len(labels) == 0 {
		return nil
	}
	if there, err := r.refreshWorkload(ctx, p); err != nil || !there {
		return err
	}
	var group errgroup.Group
	group.SetLimit(parallelWrites)
	for _, label := range p.deletingLabels() {
		group.Go(func() error {
			after := label.gs.DeepCopy()
			after.Labels = with(after.Labels, gamev1alpha1.GameServerDeletingKey, label.value)
			_, err := apply.Object(ctx, r.client, label.gs, after)
			return client.IgnoreNotFound(err)
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("labelling GameServers that leave or stay: %w", err)
	}
	return nil
}

func (p *pass) deletingLabels() []label {
	reserve, err := idset.FromList(p.workload.Spec.ReserveOrdinals)
	if err != nil {
		return nil // Told as InvalidReserveIds.
	}
	return deletingLabels(p.set, membersOf(p.workload, reserve), p.gameServers)
}

func membersOf(workload *kruisev1beta1.StatefulSet, reserve idset.Set) idset.Set {
	if workload.Spec.Replicas == nil {
		return idset.Set{}
	}
	return reserve.FirstOutside(int64(*workload.Spec.Replicas))
}
