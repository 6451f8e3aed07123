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

// Apply creates the nodes of one group or brings them up to date. When it returns, pods can be placed on the new nodes
// at once; from then on their condition Ready is the business of [RunKubelets]. Apply may be called again with other
// options; nodes that a smaller Count leaves out stay. client should have no rate limit: a node takes up to three
// requests. The error is a *field.Error when the address ranges of o are too small.
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
	seen, err := client.CoreV1().Nodes().Apply(ctx, config, options)
	if err != nil {
		return err
	}
	if len(seen.Status.Conditions) == 0 {
		want.Status.Conditions = NodeConditions(seen, seen.CreationTimestamp.Time)
	}
	if err := patchStatus(ctx, client, want); err != nil {
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

// patchStatus replaces what want's status says. Server-side apply cannot express two addresses of one type, which a
// node with both families has, for its list of addresses is keyed by type; therefore, like a kubelet, this replaces
// the list as a whole.
func patchStatus(ctx context.Context, client kubernetes.Interface, want *corev1.Node) error {
	status := map[string]any{
		"addresses":   want.Status.Addresses,
		"allocatable": want.Status.Allocatable,
		"capacity":    want.Status.Capacity,
		"nodeInfo":    want.Status.NodeInfo,
	}
	if len(want.Status.Conditions) > 0 {
		status["conditions"] = want.Status.Conditions
	}
	patch, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return fmt.Errorf("encoding patch: %w", err)
	}
	_, err = client.CoreV1().Nodes().Patch(ctx, want.Name, types.MergePatchType, patch,
		metav1.PatchOptions{FieldManager: fieldManager}, "status")
	return err
}

func applyConfiguration(node *corev1.Node) *corev1ac.NodeApplyConfiguration {
	spec := corev1ac.NodeSpec().WithProviderID(node.Spec.ProviderID)
	if node.Spec.PodCIDR != "" {
		spec.WithPodCIDR(node.Spec.PodCIDR).WithPodCIDRs(node.Spec.PodCIDRs...)
	}
	for _, t := range node.Spec.Taints {
		spec.WithTaints(corev1ac.Taint().WithKey(t.Key).WithValue(t.Value).WithEffect(t.Effect))
	}
	return corev1ac.Node(node.Name).WithLabels(node.Labels).WithAnnotations(node.Annotations).WithSpec(spec)
}
