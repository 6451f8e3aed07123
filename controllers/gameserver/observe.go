// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

// observe reads everything about one game server from the cache, without copying: nothing of it may be changed.
func (r *Reconciler) observe(ctx context.Context, name types.NamespacedName) (seen, error) {
	s := seen{now: r.clock.Now()}
	var err error
	if s.pod, err = get(ctx, r.client, name, &corev1.Pod{}); err != nil {
		return seen{}, fmt.Errorf("reading pod %s: %w", name, err)
	}
	if s.pod != nil && s.pod.Labels[gamev1alpha1.GameServerOwnerGssKey] == "" {
		// Somebody else's pod; its name says nothing about the GameServer.
		return seen{}, nil
	}
	if s.gameServer, err = get(ctx, r.client, name, &gamev1alpha1.GameServer{}); err != nil {
		return seen{}, fmt.Errorf("reading GameServer %s: %w", name, err)
	}
	if s.pod == nil {
		return s, nil
	}
	setName := types.NamespacedName{Namespace: name.Namespace, Name: s.pod.Labels[gamev1alpha1.GameServerOwnerGssKey]}
	if s.set, err = get(ctx, r.client, setName, &gamev1alpha1.GameServerSet{}); err != nil {
		return seen{}, fmt.Errorf("reading GameServerSet %s: %w", setName, err)
	}
	if s.node, err = r.node(ctx, s.pod.Spec.NodeName); err != nil {
		return seen{}, fmt.Errorf("reading node %s: %w", s.pod.Spec.NodeName, err)
	}
	s.claims, err = r.claims(ctx, s.pod)
	return s, err
}

// node looks twice before it says that a node is gone: the first pods of a new node may be seen before it.
func (r *Reconciler) node(ctx context.Context, name string) (*corev1.Node, error) {
	if name == "" {
		return nil, nil
	}
	key := types.NamespacedName{Name: name}
	node, err := get(ctx, r.client, key, &corev1.Node{})
	if err != nil || node != nil {
		return node, err
	}
	return get(ctx, r.live, key, &corev1.Node{})
}

func (r *Reconciler) claims(ctx context.Context, pod *corev1.Pod) ([]claim, error) {
	var claims []claim
	for i := range pod.Spec.Volumes {
		name := claimName(pod, &pod.Spec.Volumes[i])
		if name == "" {
			continue
		}
		c, err := r.claim(ctx, types.NamespacedName{Namespace: pod.Namespace, Name: name})
		if err != nil {
			return nil, err
		}
		claims = append(claims, c)
	}
	return claims, nil
}

func (r *Reconciler) claim(ctx context.Context, name types.NamespacedName) (claim, error) {
	c := claim{name: name.Name}
	pvc, err := get(ctx, r.client, name, &corev1.PersistentVolumeClaim{})
	if err != nil {
		return c, fmt.Errorf("reading persistent volume claim %s: %w", name, err)
	}
	if pvc == nil {
		return c, nil
	}
	c.exists = true
	c.bound = pvc.Status.Phase == corev1.ClaimBound && pvc.Spec.VolumeName != ""
	if !c.bound {
		return c, nil
	}
	c.volume, err = get(ctx, r.client, types.NamespacedName{Name: pvc.Spec.VolumeName}, &corev1.PersistentVolume{})
	if err != nil {
		return c, fmt.Errorf("reading persistent volume %s: %w", pvc.Spec.VolumeName, err)
	}
	return c, nil
}

// claimName is the claim behind a volume, empty when there is none. The claim of an ephemeral volume is named by
// Kubernetes after pod and volume. Source: k8s.io/component-helpers/storage/ephemeral, VolumeClaimName.
func claimName(pod *corev1.Pod, volume *corev1.Volume) string {
	switch {
	case volume.PersistentVolumeClaim != nil:
		return volume.PersistentVolumeClaim.ClaimName
	case volume.Ephemeral != nil:
		return pod.Name + "-" + volume.Name
	default:
		return ""
	}
}

// get reads one object, nil when it does not exist. The object may be shared with the cache.
func get[T client.Object](ctx context.Context, c client.Reader, name types.NamespacedName, obj T) (T, error) {
	err := c.Get(ctx, name, obj, client.UnsafeDisableDeepCopy)
	if err != nil {
		var none T
		return none, client.IgnoreNotFound(err)
	}
	return obj, nil
}
