// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"
	"sigs.k8s.io/kwok/pkg/utils/gotpl"
)

// rememberedPods is for how many pods the addresses are known before the API server has them.
const rememberedPods = 1 << 15

// templateFuncs are the functions that the templates of the stages call. Those that make patches get objects in the
// shape of decoded JSON and return strategic merge patches as text.
func templateFuncs(clock clock.PassiveClock) gotpl.FuncMap {
	// A write that fails is repeated with the same addresses, so that none is lost for the pool.
	addresses := lru.New(rememberedPods)
	return gotpl.FuncMap{
		"KnownPodIPs": func(uid string) []string {
			ips, _ := addresses.Get(uid)
			known, _ := ips.([]string)
			return known
		},
		"RememberPodIPs": func(uid string, ips []string) []string {
			addresses.Add(uid, ips)
			return ips
		},
		"PodPatch": func(object any, hostIPs, podIPs []string) (string, error) {
			pod := &corev1.Pod{}
			if err := convert(object, pod); err != nil {
				return "", err
			}
			status := NextStatus(Seen{Pod: pod, HostIPs: hostIPs, PodIPs: podIPs, Now: clock.Now()})
			return podPatch(pod, status)
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
