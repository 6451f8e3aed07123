// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestManagerIsReadyWithACertificateOfItsOwn(t *testing.T) {
	w := need(t)
	for _, path := range []string{"/healthz", "/readyz"} {
		if err := get(t.Context(), w.health, path); err != nil {
			t.Error(err)
		}
	}
	if err := w.secretFilled(t.Context()); err != nil {
		t.Error(err)
	}
}

// G02, W-6, F3: while the manager is down nobody else's pods wait for it, and nothing but the creation of game servers
// does.
func TestManagerDownStopsNobodyElse(t *testing.T) {
	w := need(t)
	namespace := w.namespace(t)
	before := pod(namespace, "arena-0", owned)
	if err := w.client.Create(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	if err := w.stopManager(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.startManager(); err != nil {
			t.Fatal(err)
		}
		after := pod(namespace, "arena-2", owned)
		if err := w.client.Create(t.Context(), after); err != nil {
			t.Errorf("after the restart a game server was refused: %v", err)
		}
	}()

	if err := w.client.Create(t.Context(), pod(namespace, "somebody")); err != nil {
		t.Errorf("a foreign pod was refused: %v", err)
	}
	err := w.client.Create(t.Context(), pod(namespace, "arena-1", owned))
	if err == nil || !strings.Contains(err.Error(), "mgameserverset.kb.io") {
		t.Errorf("a game server was not held back until its network can be given: %v", err)
	}
	changed := before.DeepCopy()
	changed.Labels["gs-sync/x"] = "y"
	if err := w.client.Patch(t.Context(), changed, client.MergeFrom(before)); err != nil {
		t.Errorf("an update of a game server was refused: %v", err)
	}
	if err := w.client.Delete(t.Context(), before, client.GracePeriodSeconds(0)); err != nil {
		t.Errorf("a deletion of a game server was refused: %v", err)
	}
	pods := &corev1.PodList{}
	if err := w.client.List(t.Context(), pods, client.InNamespace(namespace)); err != nil || len(pods.Items) != 1 {
		t.Errorf("%d pods are left: %v", len(pods.Items), err)
	}
}
