// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
)

const (
	// fieldManager owns what this package writes on nodes.
	fieldManager = "berth-playground"

	// writers is the number of nodes that are written at a time.
	writers = 32
)

// Apply creates the nodes of one group or brings them up to date, and returns when all of them are Ready and pods can
// be placed on them. It may be called again with other options; nodes that a smaller Count leaves out stay.
// client should have no low rate limit: a node takes two or three requests.
func Apply(ctx context.Context, client kubernetes.Interface, o Options) error {
	plan, invalid := newPlan(o)
	if invalid != nil {
		return invalid
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for i := range o.Count {
		group.Go(func() error {
			if err := applyNode(ctx, client, plan.node(i)); err != nil {
				return fmt.Errorf("applying node %s: %w", plan.name(i), err)
			}
			return nil
		})
	}
	return group.Wait()
}

// applyNode writes spec and status of one node.
func applyNode(ctx context.Context, client kubernetes.Interface, want *corev1.Node) error {
	options := metav1.ApplyOptions{FieldManager: fieldManager, Force: true}
	config := applyConfiguration(want)
	if _, err := client.CoreV1().Nodes().Apply(ctx, config, options); err != nil {
		return err
	}
	// Server-side apply cannot express two addresses of the same type, which a node with both families has: the list
	// is keyed by type. Like a kubelet, replace the list as a whole.
	status, err := json.Marshal(map[string]any{"status": want.Status})
	if err != nil {
		return fmt.Errorf("encoding status: %w", err)
	}
	seen, err := client.CoreV1().Nodes().Patch(ctx, want.Name, types.MergePatchType, status,
		metav1.PatchOptions{FieldManager: fieldManager}, "status")
	if err != nil {
		return fmt.Errorf("patching status: %w", err)
	}
	// Admission gives every new node a not-ready taint in the name of its creator. The node lifecycle controller takes
	// it away some time later; applying the same spec again does it now.
	if slices.ContainsFunc(seen.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeNotReady }) {
		if _, err := client.CoreV1().Nodes().Apply(ctx, config, options); err != nil {
			return fmt.Errorf("removing the not-ready taint: %w", err)
		}
	}
	return nil
}

func applyConfiguration(node *corev1.Node) *corev1ac.NodeApplyConfiguration {
	spec := corev1ac.NodeSpec().WithPodCIDRs(node.Spec.PodCIDRs...).WithPodCIDR(node.Spec.PodCIDR).WithProviderID(node.Spec.ProviderID)
	for _, t := range node.Spec.Taints {
		spec.WithTaints(corev1ac.Taint().WithKey(t.Key).WithValue(t.Value).WithEffect(t.Effect))
	}
	return corev1ac.Node(node.Name).WithLabels(node.Labels).WithAnnotations(node.Annotations).WithSpec(spec)
}
