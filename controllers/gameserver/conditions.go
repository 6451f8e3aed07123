// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

// health is what was found on everything a server stands on.
type health struct {
	// moving says that the pod is being created or updated, and findings that pass belong to that.
	moving             bool
	pod, node, volumes []finding
	// scheduled is false for a pod without a node, which then has no say.
	scheduled bool
}

func healthOf(s seen) health {
	h := health{pod: podFindings(s.pod), volumes: volumeFindings(s.pod.Namespace, s.claims), scheduled: s.pod.Spec.NodeName != ""}
	state := stateOf(s.pod)
	h.moving = state == gamev1alpha1.Creating || state == gamev1alpha1.Updating
	if h.scheduled {
		h.node = nodeFindings(s.pod.Spec.NodeName, s.node)
	}
	return h
}

// troubled says whether people should hear of it at once. A claim that is not bound yet is usual for a new pod.
func (h health) troubled() bool { return troubled(h.pod) || troubled(h.node) }

// conditions are those of the GameServer's status, in the order in which they always stand. One that says the same as
// the stored one keeps its times. The events tell of those that are False now and said something else before; a pod that
// is not ready because it is being created or updated is no news, its state says so.
// Source: core-controllers.md, "Conditions on the GS".
func (h health) conditions(stored []gamev1alpha1.GameServerCondition, now metav1.Time) ([]gamev1alpha1.GameServerCondition, []event) {
	wanted := []gamev1alpha1.GameServerCondition{condition(gamev1alpha1.PodNormal, h.pod)}
	if h.scheduled {
		wanted = append(wanted, condition(gamev1alpha1.NodeNormal, h.node))
	}
	wanted = append(wanted, condition(gamev1alpha1.PersistentVolumeNormal, h.volumes))

	var events []event
	for i := range wanted {
		c := &wanted[i]
		if old := storedCondition(stored, c.Type); old != nil && sameCondition(*old, *c) {
			*c = *old
			continue
		}
		c.LastProbeTime, c.LastTransitionTime = now, now
		expected := c.Type == gamev1alpha1.PodNormal && h.moving && !troubled(h.pod)
		if c.Status == corev1.ConditionFalse && !expected {
			events = append(events, conditionEvent(*c))
		}
	}
	return wanted, events
}

func condition(conditionType gamev1alpha1.GameServerConditionType, found []finding) gamev1alpha1.GameServerCondition {
	c := gamev1alpha1.GameServerCondition{Type: conditionType, Status: corev1.ConditionTrue}
	c.Reason, c.Message = joinFindings(found)
	if len(found) > 0 {
		c.Status = corev1.ConditionFalse
	}
	return c
}

func storedCondition(stored []gamev1alpha1.GameServerCondition, conditionType gamev1alpha1.GameServerConditionType) *gamev1alpha1.GameServerCondition {
	for i := range stored {
		if stored[i].Type == conditionType {
			return &stored[i]
		}
	}
	return nil
}

func sameCondition(a, b gamev1alpha1.GameServerCondition) bool {
	return a.Type == b.Type && a.Status == b.Status && a.Reason == b.Reason && a.Message == b.Message
}
