// SPDX-License-Identifier: Apache-2.0

package gameserverset

import (
	"time"

	kruisev1beta1 "github.com/openkruise/kruise-api/apps/v1beta1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

// newStatus is the status of a set with its workload, nil when there is none of its own. Every field is set, so that a
// number that falls to zero is written too (S-13). Source: core-api.md 2.8.
func newStatus(set *gamev1alpha1.GameServerSet, workload *kruisev1beta1.StatefulSet, pods counts) gamev1alpha1.GameServerSetStatus {
	status := gamev1alpha1.GameServerSetStatus{
		ObservedGeneration:      set.Generation,
		CurrentReplicas:         pods.pods,
		MaintainingReplicas:     &pods.maintaining,
		WaitToBeDeletedReplicas: &pods.waitToBeDeleted,
		PreDeleteReplicas:       &pods.preDelete,
		Conditions:              set.Status.DeepCopy().Conditions,
	}
	if set.Spec.Replicas != nil {
		status.Replicas = *set.Spec.Replicas
	}
	if workload != nil {
		status.ReadyReplicas = workload.Status.ReadyReplicas
		status.AvailableReplicas = workload.Status.AvailableReplicas
		status.UpdatedReplicas = workload.Status.UpdatedReplicas
		status.UpdatedReadyReplicas = workload.Status.UpdatedReadyReplicas
		status.LabelSelector = workload.Status.LabelSelector
	}
	return status
}

// finding is what one pass found out about one of the conditions of the set.
type finding struct {
	condition string
	// fine: the condition is True.
	fine bool
	// reason is a CamelCase word; message is a sentence for people, with the next step where there is one.
	reason, message string
	// warn: the message is told as a Warning event too, once per change.
	warn bool
}

// setFindings brings the conditions of the status up to date and returns the findings to warn of.
func setFindings(status *gamev1alpha1.GameServerSetStatus, findings []finding, now time.Time) (warnings []finding) {
	for _, f := range findings {
		before := meta.FindStatusCondition(status.Conditions, f.condition)
		if f.warn && (before == nil || before.Reason != f.reason || before.Message != f.message) {
			warnings = append(warnings, f)
		}
		condition := metav1.Condition{
			Type: f.condition, Status: metav1.ConditionFalse, Reason: f.reason, Message: f.message,
			LastTransitionTime: metav1.NewTime(now.Truncate(time.Second)),
		}
		if f.fine {
			condition.Status = metav1.ConditionTrue
		}
		meta.SetStatusCondition(&status.Conditions, condition)
	}
	return warnings
}
