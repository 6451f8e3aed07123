// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/internal/gamepod"
	"github.com/berthgames/berth/internal/qualitytemplate"
)

// applyAction sets on gs the fields that the action sets, and only those (fault G-9). Texts are rendered over the output
// of the probe first. A value that cannot be stored, or not become a label of the pod, leaves its field as it is and is
// told in an event; the other fields are set (fault G-10).
func applyAction(gs *gamev1alpha1.GameServer, action *gamev1alpha1.ServiceQualityAction, record gamev1alpha1.ServiceQualityCondition) []event {
	a := actionRun{gs: gs, quality: record.Name, result: record.Result}
	a.opsState(action.OpsState)
	a.priority(reasonInvalidUpdatePriority, "updatePriority", action.UpdatePriority, &gs.Spec.UpdatePriority)
	a.priority(reasonInvalidDeletionPriority, "deletionPriority", action.DeletionPriority, &gs.Spec.DeletionPriority)
	if action.NetworkDisabled != nil {
		gs.Spec.NetworkDisabled = ptr.To(*action.NetworkDisabled)
	}
	for _, container := range action.Containers {
		setContainer(gs, container)
	}
	a.labels(action.Labels)
	a.annotations(action.Annotations)
	return a.events
}

// actionRun is one run of one action.
type actionRun struct {
	gs      *gamev1alpha1.GameServer
	quality string
	result  string
	events  []event
}

func (a *actionRun) opsState(wanted gamev1alpha1.OpsState) {
	if wanted == "" {
		return
	}
	text := qualitytemplate.Render(string(wanted), a.result)
	if faults := validation.IsValidLabelValue(text); text == "" || len(faults) > 0 {
		a.refuse(reasonInvalidAction, field.NewPath("opsState"), text, append(faults, "must not be empty")[0])
		return
	}
	a.gs.Spec.OpsState = gamev1alpha1.OpsState(text)
}

func (a *actionRun) priority(reason, name string, wanted *intstr.IntOrString, target **intstr.IntOrString) {
	if wanted == nil {
		return
	}
	text := qualitytemplate.Render(wanted.String(), a.result)
	n, err := gamepod.ParsePriority(text)
	if err != nil {
		a.refuse(reason, field.NewPath(name), text, err.Error())
		return
	}
	*target = ptr.To(intstr.FromInt32(n))
}

func (a *actionRun) labels(wanted map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		text := qualitytemplate.Render(wanted[key], a.result)
		faults := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(text)...)
		if len(faults) > 0 {
			a.refuse(reasonInvalidAction, field.NewPath("labels").Key(key), text, faults[0])
			continue
		}
		a.gs.Labels = merge(a.gs.Labels, map[string]string{key: text}, nil)
	}
}

func (a *actionRun) annotations(wanted map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(wanted)) {
		text := qualitytemplate.Render(wanted[key], a.result)
		if faults := validation.IsQualifiedName(strings.ToLower(key)); len(faults) > 0 {
			a.refuse(reasonInvalidAction, field.NewPath("annotations").Key(key), text, faults[0])
			continue
		}
		a.gs.Annotations = merge(a.gs.Annotations, map[string]string{key: text}, nil)
	}
}

func (a *actionRun) refuse(reason string, path *field.Path, value, fault string) {
	a.events = append(a.events, invalidActionEvent(reason, a.quality, field.Invalid(path, value, fault)))
}

// setContainer merges one override into those of the GameServer, by name. Absent fields leave what is there.
func setContainer(gs *gamev1alpha1.GameServer, wanted gamev1alpha1.GameServerContainer) {
	i := slices.IndexFunc(gs.Spec.Containers, func(have gamev1alpha1.GameServerContainer) bool { return have.Name == wanted.Name })
	if i < 0 {
		gs.Spec.Containers = append(gs.Spec.Containers, *wanted.DeepCopy())
		return
	}
	if wanted.Image != "" {
		gs.Spec.Containers[i].Image = wanted.Image
	}
	resources := wanted.Resources.DeepCopy()
	if len(resources.Limits) > 0 {
		gs.Spec.Containers[i].Resources.Limits = resources.Limits
	}
	if len(resources.Requests) > 0 {
		gs.Spec.Containers[i].Resources.Requests = resources.Requests
	}
	if len(resources.Claims) > 0 {
		gs.Spec.Containers[i].Resources.Claims = resources.Claims
	}
}
