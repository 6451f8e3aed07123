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

	// queryStopped is true when the kubelet has told that a deleted pod has ended: only finalizers may hold it then.
	queryStopped = `.metadata.deletionGracePeriodSeconds == 0`
	queryPhase   = `.status.phase`
)

// Templates call the functions of templateFuncs.
const (
	templateNode = `{{ NodePatch . }}`
	templatePod  = `{{ PodPatch . }}`
)

// settleMilliseconds is how long a pod must be left alone before the kubelet looks at it. Pods change several times in a
// row while they are scheduled; looking once saves writes that would be in conflict.
const settleMilliseconds = 20

// heartbeat is how often a kubelet without news reports the status of its node. The lease is renewed more often.
const heartbeatMilliseconds, heartbeatJitterMilliseconds = 300_000, 360_000

// rule is one stage: when an object matches, wait, then take the steps.
type rule struct {
	name  string
	when  []internalversion.MatchExpression
	delay *internalversion.StageDelay
	steps []internalversion.StageStep
}

// stages says when the simulated kubelet acts. What it writes is decided by NodeConditions and NextStatus.
//
// No two stages of a kind match the same object. KWOK starts the delay of a stage anew with every event of its object,
// therefore delays that must not stretch are points in time.
func stages() map[internalversion.StageResourceRef][]*internalversion.Stage {
	return map[internalversion.StageResourceRef][]*internalversion.Stage{
		ref("Node"): stagesOf(ref("Node"), nodeRules()),
		ref("Pod"):  stagesOf(ref("Pod"), podRules()),
	}
}

// ref names a core kind.
func ref(kind string) internalversion.StageResourceRef {
	return internalversion.StageResourceRef{APIGroup: "v1", Kind: kind}
}

func nodeRules() []rule {
	return []rule{{
		name:  "node-change",
		when:  all(in(queryNodeSettled, "false")),
		steps: steps(writeStatus(templateNode)),
	}, {
		name: "node-heartbeat",
		when: all(in(queryNodeSettled, "true")),
		delay: &internalversion.StageDelay{
			DurationMilliseconds:       ptr.To[int64](heartbeatMilliseconds),
			JitterDurationMilliseconds: ptr.To[int64](heartbeatJitterMilliseconds),
		},
		steps: steps(writeStatus(templateNode)),
	}}
}

func podRules() []rule {
	alive := in(queryPhase, "Pending", "Running")
	ending := in(queryStopped, "false")
	remove := internalversion.StageStep{Delete: true}
	return []rule{{
		name:  "pod-sync",
		when:  all(missing(queryDeleted), alive, missing(queryStartEnds)),
		delay: &internalversion.StageDelay{DurationMilliseconds: ptr.To[int64](settleMilliseconds)},
		steps: steps(writeStatus(templatePod)),
	}, {
		name:  "pod-start-ends",
		when:  all(missing(queryDeleted), alive, exists(queryStartEnds)),
		delay: until(queryStartEnds),
		steps: steps(writeStatus(templatePod)),
	}, {
		name:  "pod-delete",
		when:  all(exists(queryDeleted), ending, missing(queryFinalizers)),
		delay: until(queryStopDelay),
		steps: steps(remove),
	}, {
		// A pod that somebody holds by a finalizer ends all the same, but stays until the finalizer is gone.
		name:  "pod-stop",
		when:  all(exists(queryDeleted), ending, exists(queryFinalizers)),
		delay: until(queryStopDelay),
		steps: steps(writeStatus(templatePod), remove),
	}}
}

func stagesOf(ref internalversion.StageResourceRef, rules []rule) []*internalversion.Stage {
	out := make([]*internalversion.Stage, 0, len(rules))
	for _, r := range rules {
		out = append(out, &internalversion.Stage{
			ObjectMeta: metav1.ObjectMeta{Name: r.name},
			Spec: internalversion.StageSpec{
				ResourceRef: ref,
				Selector:    &internalversion.StageSelector{MatchExpressions: r.when},
				Delay:       r.delay,
				Steps:       r.steps,
			},
		})
	}
	return out
}

func all(expressions ...internalversion.MatchExpression) []internalversion.MatchExpression {
	return expressions
}

func steps(steps ...internalversion.StageStep) []internalversion.StageStep { return steps }

func writeStatus(template string) internalversion.StageStep {
	return internalversion.StageStep{Patch: &internalversion.StagePatch{
		Subresource: "status",
		Type:        ptr.To(internalversion.StagePatchTypeStrategicMergePatch),
		Template:    template,
	}}
}

func until(query string) *internalversion.StageDelay {
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
