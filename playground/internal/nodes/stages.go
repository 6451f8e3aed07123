// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/kwok/pkg/apis/internalversion"
)

// Queries in the language of jq over a whole object.
const (
	// queryNodeSettled is true when condition Ready of a node is what its annotation asks for.
	queryNodeSettled = `any(.status.conditions[]?; .type == "Ready" and .status == "True")` +
		` == (.metadata.annotations["` + AnnotationNotReady + `"] != "true")`

	// queryStartEnds is the time at which a start that is under way ends; nothing when none is.
	queryStartEnds = `.status.conditions[]? | select(.type == "ContainersReady") | .message // ""` +
		` | capture("` + startEnds + `(?<at>[^ ]+)$") | .at`

	// queryStopDelay is a duration, the time at which the grace period ends, or nothing.
	queryStopDelay = `.metadata as $m | $m.annotations["` + AnnotationStopDelay + `"]` +
		` | if . == "grace" then $m.deletionTimestamp else . end`

	queryDeleted    = `.metadata.deletionTimestamp`
	queryFinalizers = `.metadata.finalizers[]?`
	queryPhase      = `.status.phase`
)

// Templates call the functions of templateFuncs. Addresses are taken from KWOK's pools only once per pod.
const (
	templateNode = `{{ NodePatch . }}`
	templatePod  = `
{{- if .status.podIP }}{{ PodPatch . nil nil }}
{{- else }}{{ PodPatch . (NodeIPsWith .spec.nodeName)
	(PodIPsWith .spec.nodeName (or .spec.hostNetwork false) .metadata.uid .metadata.name .metadata.namespace) }}
{{- end }}`
)

// heartbeat is how often a kubelet without news reports the status of its node. The lease is renewed more often.
const heartbeatMilliseconds, heartbeatJitterMilliseconds = 300_000, 360_000

// stages says when the simulated kubelet acts. What it writes is decided by NodeConditions and NextStatus.
//
// No two stages of a kind match the same object. KWOK starts the delay of a stage anew with every event of its object,
// therefore delays that must not stretch are points in time.
func stages() map[internalversion.StageResourceRef][]*internalversion.Stage {
	node := internalversion.StageResourceRef{APIGroup: "v1", Kind: "Node"}
	pod := internalversion.StageResourceRef{APIGroup: "v1", Kind: "Pod"}
	alive := in(queryPhase, "Pending", "Running")
	return map[internalversion.StageResourceRef][]*internalversion.Stage{
		node: {
			stage("node-change", node, nil, writeStatus(templateNode), in(queryNodeSettled, "false")),
			stage("node-heartbeat", node, &internalversion.StageDelay{
				DurationMilliseconds:       ptr.To[int64](heartbeatMilliseconds),
				JitterDurationMilliseconds: ptr.To[int64](heartbeatJitterMilliseconds),
			}, writeStatus(templateNode), in(queryNodeSettled, "true")),
		},
		pod: {
			stage("pod-sync", pod, nil, writeStatus(templatePod), missing(queryDeleted), alive, missing(queryStartEnds)),
			stage("pod-start-ends", pod, delay(queryStartEnds), writeStatus(templatePod),
				missing(queryDeleted), alive, exists(queryStartEnds)),
			// A pod that somebody holds by a finalizer stops, but stays until the finalizer is gone.
			stage("pod-stop", pod, delay(queryStopDelay), writeStatus(templatePod),
				exists(queryDeleted), alive, exists(queryFinalizers)),
			stage("pod-delete", pod, delay(queryStopDelay), internalversion.StageStep{Delete: true},
				exists(queryDeleted), missing(queryFinalizers)),
		},
	}
}

func stage(name string, ref internalversion.StageResourceRef, delay *internalversion.StageDelay,
	step internalversion.StageStep, when ...internalversion.MatchExpression,
) *internalversion.Stage {
	return &internalversion.Stage{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: internalversion.StageSpec{
			ResourceRef: ref,
			Selector:    &internalversion.StageSelector{MatchExpressions: when},
			Delay:       delay,
			Steps:       []internalversion.StageStep{step},
		},
	}
}

func writeStatus(template string) internalversion.StageStep {
	return internalversion.StageStep{Patch: &internalversion.StagePatch{
		Subresource: "status",
		Type:        ptr.To(internalversion.StagePatchTypeStrategicMergePatch),
		Template:    template,
	}}
}

func delay(query string) *internalversion.StageDelay {
	return &internalversion.StageDelay{
		DurationFrom: &internalversion.ExpressionFrom{JQ: &internalversion.ExpressionJQ{Expression: query}},
	}
}

func in(query string, values ...string) internalversion.MatchExpression {
	return match(query, internalversion.SelectorOpIn, values...)
}

func exists(query string) internalversion.MatchExpression {
	return match(query, internalversion.SelectorOpExists)
}

func missing(query string) internalversion.MatchExpression {
	return match(query, internalversion.SelectorOpDoesNotExist)
}

func match(query string, operator internalversion.SelectorOperator, values ...string) internalversion.MatchExpression {
	return internalversion.MatchExpression{JQ: &internalversion.SelectorJQ{Key: query, Operator: operator, Values: values}}
}
