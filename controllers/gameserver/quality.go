// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

// qualityOutcome is what the service qualities of one server come to in one pass.
type qualityOutcome struct {
	// records has one entry per quality, in the order of the set.
	records []gamev1alpha1.ServiceQualityCondition
	// events tell of values of actions that could not be used.
	events []event
	// acted says that at least one action ran.
	acted bool
}

// runQualities judges the probe results on the pod against the stored records, and lets the actions that are due change gs,
// in the order of the set, so that a later one wins over an earlier one. gs is nothing that is shared.
//
//	no result on the pod              -> a record with the name only
//	no earlier record                 -> judge
//	status or result has changed      -> judge, unless permanent and an action ran before
//	otherwise                         -> nothing runs, what users wrote stands
//
// Source: core-controllers.md, "Service quality".
func runQualities(qualities []gamev1alpha1.ServiceQuality, pod *corev1.Pod, gs *gamev1alpha1.GameServer, now metav1.Time) qualityOutcome {
	var out qualityOutcome
	for i := range qualities {
		quality := &qualities[i]
		stored := storedRecord(gs.Status.ServiceQualitiesCondition, quality.Name)
		probe := podCondition(pod, corev1.PodConditionType(gamev1alpha1.ServiceQualityConditionPrefix+quality.Name))
		if probe == nil {
			out.records = append(out.records, gamev1alpha1.ServiceQualityCondition{Name: quality.Name})
			continue
		}
		record := gamev1alpha1.ServiceQualityCondition{
			Name: quality.Name, Status: string(probe.Status), Result: strip(probe.Message), LastProbeTime: probe.LastProbeTime,
			LastActionTransitionTime: stored.LastActionTransitionTime,
		}
		if due(quality, stored, record) {
			ran := false
			for j := range quality.ServiceQualityAction {
				if action := &quality.ServiceQualityAction[j]; matches(action, record) {
					out.events = append(out.events, applyAction(gs, action, record)...)
					ran = true
				}
			}
			switch {
			case ran:
				record.LastActionTransitionTime = now
				out.acted = true
			case stored.Status != record.Status:
				record.LastActionTransitionTime = metav1.Time{}
			}
		}
		record.LastTransitionTime = later(record.LastActionTransitionTime, record.LastProbeTime)
		out.records = append(out.records, record)
	}
	return out
}

// due says whether actions are looked at. A record without a status is one of a server that had no result yet.
func due(quality *gamev1alpha1.ServiceQuality, stored, record gamev1alpha1.ServiceQualityCondition) bool {
	if stored.Status == "" {
		return true
	}
	changed := stored.Status != record.Status || stored.Result != record.Result
	return changed && (stored.LastActionTransitionTime.IsZero() || !quality.Permanent)
}

// matches compares an action with a result. A status that is no boolean, such as Unknown, matches no action. The result of
// the action is stripped like that of the probe (fault G-11).
func matches(action *gamev1alpha1.ServiceQualityAction, record gamev1alpha1.ServiceQualityCondition) bool {
	state, err := strconv.ParseBool(record.Status)
	if err != nil || state != action.State {
		return false
	}
	result := strip(action.Result)
	return result == "" || result == record.Result
}

// strip removes what the probe agents of OpenKruise use as separators.
func strip(text string) string {
	return strings.NewReplacer("|", "", "\n", "", "\r", "").Replace(text)
}

// storedRecord is empty when there is none.
func storedRecord(records []gamev1alpha1.ServiceQualityCondition, name string) gamev1alpha1.ServiceQualityCondition {
	for _, record := range records {
		if record.Name == name {
			return record
		}
	}
	return gamev1alpha1.ServiceQualityCondition{}
}

func later(a, b metav1.Time) metav1.Time {
	if a.Before(&b) {
		return b
	}
	return a
}
