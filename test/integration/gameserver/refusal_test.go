// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

// Annotations that are too large together must not keep the state of a server as it is.
func TestRefusedPodChangesLeaveTheStatusAlive(t *testing.T) {
	w := newWorld(t)
	pod := w.ready(0, func(pod *corev1.Pod) {
		pod.Annotations = map[string]string{"large": strings.Repeat("x", 100<<10)}
	})
	w.edit(0, func(gs *gamev1alpha1.GameServer) {
		gs.Annotations[gamev1alpha1.GameServerSyncPrefix+"large"] = strings.Repeat("y", 200<<10)
		gs.Spec.OpsState = gamev1alpha1.Maintaining
	})
	w.eventuallyPod(0, "opsState beside the refused key", func(pod *corev1.Pod) string {
		return cmp.Diff(string(gamev1alpha1.Maintaining), pod.Labels[gamev1alpha1.GameServerOpsStateKey])
	})
	w.report(pod, func(status *corev1.PodStatus) { status.Phase = corev1.PodFailed })
	w.eventually("Crash", func(ctx context.Context) error { return wantState(ctx, pod, gamev1alpha1.Crash) })
	w.eventually("the refusal is told", func(ctx context.Context) error {
		events, err := w.events(ctx, "PodChangesRefused")
		if err == nil && (len(events) != 1 || !strings.Contains(events[0].Note, "metadata.annotations")) {
			err = errors.New("not one event that names the annotations")
		}
		return err
	})
}
