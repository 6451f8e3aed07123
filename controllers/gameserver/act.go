// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/internal/apply"
)

// act carries a plan out. When the world turns out to be another one than the plan was made for, it stops without an
// error: the event of what has changed starts the next pass. It changes the plan where the API server refuses a part of it.
func (r *Reconciler) act(ctx context.Context, s seen, p *plan) error {
	switch p.fate {
	case leave:
		return nil
	case remove, replace:
		sure, err := r.confirm(ctx, s, p.fate)
		if err != nil || !sure {
			return err
		}
		if err := r.deleteGameServer(ctx, s.gameServer); err != nil || p.fate == remove {
			return err
		}
	default:
	}
	gs, err := r.writeGameServer(ctx, s, *p)
	if err != nil || gs == nil {
		return err
	}
	send(r.events, gs, p.gameServerEvents)

	if s.pod != nil && !p.pod.empty() {
		if gone, err := r.bringToPod(ctx, s.pod, p); err != nil || gone {
			return err
		}
		send(r.events, gs, p.podEvents)
	}
	if p.status != nil {
		if err := r.writeStatus(ctx, gs, *p.status); err != nil {
			return err
		}
		send(r.events, gs, p.statusEvents)
	}
	send(r.events, gs, r.lasting.unsaid(client.ObjectKeyFromObject(gs), p.troubles))
	return nil
}

// confirm repeats, with a live read, the observation that a GameServer is to be deleted for: the pod is gone, or is
// another one than its GameServer belongs to. The cache may be behind on either.
func (r *Reconciler) confirm(ctx context.Context, s seen, f fate) (bool, error) {
	name := client.ObjectKeyFromObject(s.gameServer)
	pod, err := get(ctx, r.live, name, &corev1.Pod{})
	if err != nil {
		return false, fmt.Errorf("reading pod %s: %w", name, err)
	}
	if f == remove {
		return pod == nil, nil
	}
	return pod != nil && pod.UID == s.pod.UID, nil
}

// deleteGameServer deletes exactly what was seen: not an object that was created or changed since.
func (r *Reconciler) deleteGameServer(ctx context.Context, gs *gamev1alpha1.GameServer) error {
	err := r.client.Delete(ctx, &gamev1alpha1.GameServer{ObjectMeta: metav1.ObjectMeta{Namespace: gs.Namespace, Name: gs.Name}},
		client.Preconditions{UID: ptr.To(gs.UID), ResourceVersion: ptr.To(gs.ResourceVersion)})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("deleting GameServer %s: %w", client.ObjectKeyFromObject(gs), err)
	}
	return nil
}

// writeGameServer creates the GameServer or changes its metadata and spec. It returns the stored object, nil when there
// is another one now.
func (r *Reconciler) writeGameServer(ctx context.Context, s seen, p plan) (*gamev1alpha1.GameServer, error) {
	after := p.gameServer
	if p.fate == create || p.fate == replace {
		err := r.client.Create(ctx, after, client.FieldOwner(apply.FieldManager))
		if apierrors.IsAlreadyExists(err) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("creating GameServer %s: %w", client.ObjectKeyFromObject(after), err)
		}
		return after, nil
	}
	before := withoutStatus(s.gameServer)
	wanted := withoutStatus(after)
	if _, err := apply.Object(ctx, r.client, before, wanted); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	// The plan's status was made against the one that was seen, whatever the answer brought.
	wanted.Status = s.gameServer.Status
	return wanted, nil
}

// patchPod reports that the pod is gone, or another one has its name by now.
func (r *Reconciler) patchPod(ctx context.Context, pod *corev1.Pod, changes podChanges) (gone bool, err error) {
	patch, err := changes.patch(pod.UID)
	if err != nil {
		return false, err
	}
	target := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}}
	err = r.client.Patch(ctx, target, client.RawPatch(types.StrategicMergePatchType, patch), client.FieldOwner(apply.FieldManager))
	switch {
	case err == nil:
		return false, nil
	case apierrors.IsNotFound(err), apply.IsOtherObject(err):
		return true, nil
	default:
		return false, fmt.Errorf("patching pod %s: %w", client.ObjectKeyFromObject(pod), err)
	}
}

func (r *Reconciler) writeStatus(ctx context.Context, gs *gamev1alpha1.GameServer, status gamev1alpha1.GameServerStatus) error {
	before := &gamev1alpha1.GameServer{ObjectMeta: metav1.ObjectMeta{Namespace: gs.Namespace, Name: gs.Name}, Status: gs.Status}
	after := &gamev1alpha1.GameServer{ObjectMeta: before.ObjectMeta, Status: status}
	_, err := apply.Status(ctx, r.client, before, after)
	return client.IgnoreNotFound(err)
}

// withoutStatus is a shallow copy for a comparison of the rest.
func withoutStatus(gs *gamev1alpha1.GameServer) *gamev1alpha1.GameServer {
	plain := *gs
	plain.Status = gamev1alpha1.GameServerStatus{}
	return &plain
}
