// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	appspub "github.com/openkruise/kruise-api/apps/pub"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/internal/gamepod"
)

// podChanges is what has to change on the pod: only the keys and containers that differ.
type podChanges struct {
	gamepod.Changes
	// images are the new images by container name.
	images map[string]string
	// invalid names the fields of the GameServer that could not be used; the others are (faults G-17, A-4).
	invalid field.ErrorList
}

// syncToPod compares a pod with what its GameServer and its state want of it. set may be nil.
// Source: core-controllers.md, "GS → pod".
func syncToPod(pod *corev1.Pod, gs *gamev1alpha1.GameServer, set *gamev1alpha1.GameServerSet, now time.Time) podChanges {
	wish := gamepod.Of(gs)
	c := podChanges{Changes: wish.Changes(pod, now), invalid: wish.Invalid}
	c.state(pod, now)
	c.updatingContainers(pod, gs, set)
	c.containerImages(pod, gs)
	return c
}

// state takes its time along from the second state on.
func (c *podChanges) state(pod *corev1.Pod, now time.Time) {
	old, state := pod.Labels[gamev1alpha1.GameServerStateKey], string(stateOf(pod))
	if old == state {
		return
	}
	c.Labels[gamev1alpha1.GameServerStateKey] = &state
	if old != "" {
		at := now.Format(time.RFC3339)
		c.Annotations[gamev1alpha1.GameServerStateLastChangedTime] = &at
	}
}

// updatingContainers names, while an in-place update is being prepared, the containers whose image it will change. During
// the update the names stay, because the pod has the new images by then.
func (c *podChanges) updatingContainers(pod *corev1.Pod, gs *gamev1alpha1.GameServer, set *gamev1alpha1.GameServerSet) {
	const key = gamev1alpha1.GameServerUpdatingContainersKey
	old, present := pod.Annotations[key]
	state := stateOf(pod)
	if state == gamev1alpha1.Updating || state == gamev1alpha1.PreUpdate && set == nil {
		return
	}
	var names string
	if state == gamev1alpha1.PreUpdate {
		names = strings.Join(outdatedContainers(pod, gs, set), ",")
	}
	switch {
	case names == "" && present:
		c.Annotations[key] = nil
	case names != old:
		c.Annotations[key] = &names
	}
}

// outdatedContainers compares images of the pod's spec with the target, which is the template with the overrides of this
// one server. Images of the pod's status are no measure: the runtime writes them in its own words (fault G-13).
func outdatedContainers(pod *corev1.Pod, gs *gamev1alpha1.GameServer, set *gamev1alpha1.GameServerSet) []string {
	target := map[string]string{}
	for _, container := range set.Spec.GameServerTemplate.Spec.Containers {
		target[container.Name] = container.Image
	}
	for _, override := range gs.Spec.Containers {
		if override.Image != "" {
			target[override.Name] = override.Image
		}
	}
	var names []string
	for _, container := range pod.Spec.Containers {
		if image, ok := target[container.Name]; ok && image != container.Image {
			names = append(names, container.Name)
		}
	}
	return names
}

// containerImages brings the image overrides to the running pod. OpenKruise sets the images of the template during an
// in-place update and waits to see them run, so the override comes back only after it: once per revision (fault G-14).
// Init containers have run already; the webhook gives them their image when the pod is created (fault G-19).
func (c *podChanges) containerImages(pod *corev1.Pod, gs *gamev1alpha1.GameServer) {
	present := map[string]string{}
	for _, container := range pod.Spec.Containers {
		present[container.Name] = container.Image
	}
	for i, override := range gs.Spec.Containers {
		path := field.NewPath("spec", "containers").Index(i)
		image, running := present[override.Name]
		switch {
		case !running && !hasInitContainer(pod, override.Name):
			c.invalid = append(c.invalid, field.NotFound(path.Child("name"), override.Name))
		case !running || override.Image == "" || override.Image == image || !takesImages(pod):
		case strings.TrimSpace(override.Image) != override.Image:
			c.invalid = append(c.invalid, field.Invalid(path.Child("image"), override.Image, "must not begin or end with space"))
		default:
			if c.images == nil {
				c.images = map[string]string{}
			}
			c.images[override.Name] = override.Image
		}
	}
}

func takesImages(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
		return false
	}
	lifecycle := lifecycleOf(pod)
	return lifecycle != appspub.LifecycleStatePreparingUpdate && lifecycle != appspub.LifecycleStateUpdating
}

func hasInitContainer(pod *corev1.Pod, name string) bool {
	for _, container := range pod.Spec.InitContainers {
		if container.Name == name {
			return true
		}
	}
	return false
}

// empty says that the pod is as it should be.
func (c podChanges) empty() bool {
	return len(c.Labels)+len(c.Annotations)+len(c.images) == 0
}

// withoutWishes leaves out the values that users choose freely: images and gs-sync keys.
func (c podChanges) withoutWishes() podChanges {
	return podChanges{Changes: c.WithoutSynced()}
}

// onlyState says that nothing but what follows from the state of the pod is to be written.
func (c podChanges) onlyState() bool {
	for key := range c.Labels {
		if key != gamev1alpha1.GameServerStateKey {
			return false
		}
	}
	for key := range c.Annotations {
		if key != gamev1alpha1.GameServerStateLastChangedTime && key != gamev1alpha1.GameServerUpdatingContainersKey {
			return false
		}
	}
	return len(c.images) == 0
}

// label is the value that a label of the pod has after the changes.
func (c podChanges) label(pod *corev1.Pod, key string) string {
	if value, ok := c.Labels[key]; ok {
		if value == nil {
			return ""
		}
		return *value
	}
	return pod.Labels[key]
}

// patch is a strategic merge patch, so that an image is changed by the name of its container and nothing is said about
// the rest of the list. The UID makes the API server refuse it for another pod of the same name.
func (c podChanges) patch(uid types.UID) ([]byte, error) {
	type container struct {
		Name  string `json:"name"`
		Image string `json:"image"`
	}
	type spec struct {
		Containers []container `json:"containers"`
	}
	body := struct {
		Metadata struct {
			UID         types.UID          `json:"uid"`
			Labels      map[string]*string `json:"labels,omitempty"`
			Annotations map[string]*string `json:"annotations,omitempty"`
		} `json:"metadata"`
		Spec *spec `json:"spec,omitempty"`
	}{}
	body.Metadata.UID, body.Metadata.Labels, body.Metadata.Annotations = uid, c.Labels, c.Annotations
	if len(c.images) > 0 {
		body.Spec = &spec{}
		for _, name := range slices.Sorted(maps.Keys(c.images)) {
			body.Spec.Containers = append(body.Spec.Containers, container{Name: name, Image: c.images[name]})
		}
	}
	data, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encoding the changes of the pod: %w", err)
	}
	return data, nil
}
