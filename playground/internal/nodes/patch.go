// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/kwok/pkg/utils/gotpl"
)

// addressesOf returns the addresses of a pod's node and of the pod.
type addressesOf func(*corev1.Pod) (hostIPs, podIPs []string, err error)

// templateFuncs are the functions that the templates of the stages call. They get objects in the shape of decoded JSON
// and return strategic merge patches as text.
func templateFuncs(clock clock.PassiveClock, addresses addressesOf) gotpl.FuncMap {
	return gotpl.FuncMap{
		"PodPatch": func(object any) (string, error) {
			seen := Seen{Pod: &corev1.Pod{}, Now: clock.Now()}
			if err := convert(object, seen.Pod); err != nil {
				return "", err
			}
			if seen.Pod.Status.PodIP == "" {
				var err error
				if seen.HostIPs, seen.PodIPs, err = addresses(seen.Pod); err != nil {
					return "", err
				}
			}
			return podPatch(seen.Pod, NextStatus(seen))
		},
		"NodePatch": func(object any) (string, error) {
			node := &corev1.Node{}
			if err := convert(object, node); err != nil {
				return "", err
			}
			return encode(map[string]any{"status": map[string]any{"conditions": NodeConditions(node, clock.Now())}})
		},
	}
}

// podPatch writes status over that of pod. Conditions that it does not hold stay as they are. The patch fails when the pod
// has changed, or is another one, since status was decided; the event of that change makes the kubelet look again.
func podPatch(pod *corev1.Pod, status corev1.PodStatus) (string, error) {
	var fields map[string]any
	if err := convert(status, &fields); err != nil {
		return "", err
	}
	// Patched conditions are merged field by field, so an empty reason or message has to be said to go away.
	conditions := make([]map[string]any, 0, len(status.Conditions))
	for _, c := range status.Conditions {
		conditions = append(conditions, map[string]any{
			"type": c.Type, "status": c.Status, "lastTransitionTime": c.LastTransitionTime,
			"reason": emptyToNil(c.Reason), "message": emptyToNil(c.Message),
		})
	}
	fields["conditions"] = conditions
	seen := map[string]any{"uid": pod.UID, "resourceVersion": pod.ResourceVersion}
	return encode(map[string]any{"metadata": seen, "status": fields})
}

func emptyToNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// convert turns one shape of an object into another by way of JSON.
func convert(from, to any) error {
	text, err := json.Marshal(from)
	if err != nil {
		return fmt.Errorf("encoding %T: %w", from, err)
	}
	if err := json.Unmarshal(text, to); err != nil {
		return fmt.Errorf("decoding %T: %w", to, err)
	}
	return nil
}

func encode(patch any) (string, error) {
	text, err := json.Marshal(patch)
	if err != nil {
		return "", fmt.Errorf("encoding patch: %w", err)
	}
	return string(text), nil
}
