// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

// override gives the containers of a new pod the images and resources that its GameServer asks for. Containers and init
// containers are found by name. Of the resources only the named ones change, whatever their name (fault W-10).
// Source: core-webhook-and-scaler.md, section 1.5, step 3.
//
// It returns the faults of the GameServer's spec, and a warning per name that is no container of the pod.
func override(pod *corev1.Pod, wanted []gamev1alpha1.GameServerContainer) ([]string, field.ErrorList) {
	byName := containersByName(pod)
	var warnings []string
	var errs field.ErrorList
	for i, want := range wanted {
		path := field.NewPath("spec", "containers").Index(i)
		if len(want.Resources.Claims) > 0 {
			errs = append(errs, field.Forbidden(path.Child("resources", "claims"),
				"claims belong into the pod template; a GameServer can only override limits and requests"))
		}
		container, found := byName[want.Name]
		if !found {
			warnings = append(warnings, fmt.Sprintf("%s: the pod has no container %q", path.Child("name"), want.Name))
			continue
		}
		if want.Image != "" {
			container.Image = want.Image
		}
		overlay(&container.Resources.Limits, want.Resources.Limits)
		overlay(&container.Resources.Requests, want.Resources.Requests)
	}
	return warnings, errs
}

func containersByName(pod *corev1.Pod) map[string]*corev1.Container {
	byName := map[string]*corev1.Container{}
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			byName[list[i].Name] = &list[i]
		}
	}
	return byName
}

func overlay(into *corev1.ResourceList, wanted corev1.ResourceList) {
	if len(wanted) == 0 {
		return
	}
	if *into == nil {
		*into = corev1.ResourceList{}
	}
	maps.Copy(*into, wanted)
}
