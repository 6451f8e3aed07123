// SPDX-License-Identifier: Apache-2.0

package gameserverset

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/internal/idset"
)

// Reasons of Normal events, each sent after the write it reports (S-17).
const (
	ReasonCreateProbes   = "CreatePpm"
	ReasonUpdateProbes   = "UpdatePpm"
	ReasonCreateWorkload = "CreateWorkload"
	ReasonUpdateWorkload = "UpdateWorkload"
	ReasonScale          = "Scale"
	ReasonKill           = "Kill"
	// ReasonReserveIDsRebuilt: the annotation reserve-ids could not be read and was written anew from the spec.
	ReasonReserveIDsRebuilt = "ReserveIdsRebuilt"
)

// Reasons of conditions that are False, sent as Warning events when they are news.
const (
	// ReasonNameConflict: an object of the name of the set belongs to somebody else.
	ReasonNameConflict = "NameConflict"
	// ReasonRefused: the API server or OpenKruise does not take the object.
	ReasonRefused = "Refused"
	// ReasonInvalidReserveIDs: spec.reserveGameServerIds was stored with an element that is no id.
	ReasonInvalidReserveIDs = "InvalidReserveIds"
	// ReasonNoPlan: there is no way to keep as many servers as wanted.
	ReasonNoPlan = "NoScalePlan"
	// ReasonStrayPods: pods with the label of the set are none of its servers. The condition is True.
	ReasonStrayPods = "StrayPods"
)

// Other reasons of conditions.
const (
	ReasonAsWanted         = "AsWanted"
	ReasonNoProbes         = "NoServiceQualities"
	ReasonProbesNotSeen    = "WaitingForOpenKruise"
	ReasonWaitingForProbes = "WaitingForProbes"
	ReasonEarlierSet       = "EarlierSetIsBeingDeleted"
	ReasonWorkloadEnding   = "WorkloadIsBeingDeleted"
	// ReasonEarlierPods: pods still belong to an earlier workload.
	ReasonEarlierPods = "PodsOfEarlierWorkload"
)

// maxNote keeps the text of events, and of what goes into one, under the 1024 bytes that the API server takes.
const maxNote = 900

// reporter sends the events of one set.
type reporter struct {
	recorder events.EventRecorder
	set      *gamev1alpha1.GameServerSet
}

func (r reporter) normal(reason, action, note string, args ...any) {
	r.recorder.Eventf(r.set, nil, corev1.EventTypeNormal, reason, action, note, args...)
}

func (r reporter) warn(f finding) {
	r.recorder.Eventf(r.set, nil, corev1.EventTypeWarning, f.reason, "Reconcile", "%s", bounded(f.message))
}

func (r reporter) probesCreated() {
	r.normal(ReasonCreateProbes, "CreateProbes", "created PodProbeMarker %s", r.set.Name)
}

func (r reporter) probesUpdated() {
	r.normal(ReasonUpdateProbes, "UpdateProbes", "updated PodProbeMarker %s", r.set.Name)
}

func (r reporter) workloadCreated(keep idset.Set) {
	r.normal(ReasonCreateWorkload, "CreateWorkload", "created StatefulSet %s with servers %s", r.set.Name, names(keep))
}

func (r reporter) workloadUpdated() {
	r.normal(ReasonUpdateWorkload, "UpdateWorkload", "updated StatefulSet %s", r.set.Name)
}

// scaled tells which ids came and which left, as far as they fit.
func (r reporter) scaled(from, to int32, before, after idset.Set) {
	r.normal(ReasonScale, "Scale", "scale from %d to %d; servers added: %s; removed: %s",
		from, to, names(after.Minus(before)), names(before.Minus(after)))
}

func (r reporter) killed(from, to int32, ids idset.Set) {
	r.normal(ReasonKill, "Kill", "replicas lowered from %d to %d for servers in opsState Kill: %s", from, to, names(ids))
}

func (r reporter) reserveIDsRebuilt(was string) {
	r.normal(ReasonReserveIDsRebuilt, "RebuildAnnotation", "annotation %s was %q, which is no list of ids; it was written anew from spec.reserveGameServerIds",
		gamev1alpha1.GameServerSetReserveIdsKey, bounded(was))
}

func names(ids idset.Set) string {
	if ids.Empty() {
		return "none"
	}
	const maxIDs = maxNote / 3
	text := ids.String()
	if len(text) > maxIDs {
		return text[:maxIDs] + "..."
	}
	return text
}

// bounded cuts a text to at most maxNote bytes.
func bounded(text string) string {
	if len(text) <= maxNote {
		return text
	}
	return strings.ToValidUTF8(text[:maxNote-3], "") + "..."
}
