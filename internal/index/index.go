// SPDX-License-Identifier: Apache-2.0

// Package index holds the field indexes of the manager's cache. The wiring in controllers registers them once, before
// the cache starts; everybody else only uses the names, because a cache refuses the same index twice.
package index

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

// PodNodeName finds the pods of one node: client.MatchingFields{index.PodNodeName: node}. Pods without a node are not
// in it. The API server knows the same field selector, so the name works for uncached reads too.
const PodNodeName = "spec.nodeName"

// OwnerGss finds the pods, or the GameServers, of one GameServerSet by their owner label:
// client.InNamespace(ns), client.MatchingFields{index.OwnerGss: set}. Only the cache knows it.
const OwnerGss = "owner-gss"

// Register adds all indexes to the cache behind indexer. Call it once per manager.
func Register(ctx context.Context, indexer client.FieldIndexer) error {
	if err := indexer.IndexField(ctx, &corev1.Pod{}, PodNodeName, podNodeName); err != nil {
		return fmt.Errorf("adding index %s of pods: %w", PodNodeName, err)
	}
	for _, kind := range []client.Object{&corev1.Pod{}, &gamev1alpha1.GameServer{}} {
		if err := indexer.IndexField(ctx, kind, OwnerGss, ownerGss); err != nil {
			return fmt.Errorf("adding index %s of %T: %w", OwnerGss, kind, err)
		}
	}
	return nil
}

func ownerGss(obj client.Object) []string {
	set := obj.GetLabels()[gamev1alpha1.GameServerOwnerGssKey]
	if set == "" {
		return nil
	}
	return []string{set}
}

func podNodeName(obj client.Object) []string {
	pod, ok := obj.(*corev1.Pod)
	if !ok || pod.Spec.NodeName == "" {
		return nil
	}
	return []string{pod.Spec.NodeName}
}
