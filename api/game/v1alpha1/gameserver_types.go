// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// GameServer is the record of one game server: operations state, priorities, network, and what its pod is doing.
// It has the namespace and the name of its pod.
//
// Game servers write their own GameServer, also while the manager is down, so the rules are in the schema. They look
// only at values that the request changes: a value stored before the rule existed stands in the way of nothing.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=gs
// +kubebuilder:printcolumn:name="STATE",type="string",JSONPath=".status.currentState",description="Where the server is in its life"
// +kubebuilder:printcolumn:name="OPSSTATE",type="string",JSONPath=".spec.opsState",description="Operations state set by users, match makers or service qualities"
// +kubebuilder:printcolumn:name="DP",type="string",JSONPath=".status.deletionPriority",description="Deletion priority on the pod"
// +kubebuilder:printcolumn:name="UP",type="string",JSONPath=".status.updatePriority",description="Update priority on the pod"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp",description="Time since creation"
type GameServer struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what users, match makers and service qualities want of this server.
	// +optional
	// +kubebuilder:validation:XValidation:rule=`!has(self.opsState) || (oldSelf.hasValue() && has(oldSelf.value().opsState) && oldSelf.value().opsState == self.opsState) || self.opsState.matches("^(([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9])?$")`,optionalOldSelf=true,fieldPath=".opsState",message="must be a label value of at most 63 characters",messageExpression=`"'" + self.opsState + "' must be a label value: at most 63 letters, digits, '-', '_' or '.', with a letter or digit at both ends"`
	// +kubebuilder:validation:XValidation:rule=`!has(self.updatePriority) || (oldSelf.hasValue() && has(oldSelf.value().updatePriority) && oldSelf.value().updatePriority == self.updatePriority) || (type(self.updatePriority) == int ? self.updatePriority >= 0 && self.updatePriority <= 2147483647 : self.updatePriority.matches("^[0-9]{1,10}$") && int(self.updatePriority) <= 2147483647)`,optionalOldSelf=true,fieldPath=".updatePriority",message="must be an integer from 0 to 2147483647",messageExpression=`"'" + string(self.updatePriority) + "' must be an integer from 0 to 2147483647"`
	// +kubebuilder:validation:XValidation:rule=`!has(self.deletionPriority) || (oldSelf.hasValue() && has(oldSelf.value().deletionPriority) && oldSelf.value().deletionPriority == self.deletionPriority) || (type(self.deletionPriority) == int ? self.deletionPriority >= 0 && self.deletionPriority <= 2147483647 : self.deletionPriority.matches("^[0-9]{1,10}$") && int(self.deletionPriority) <= 2147483647)`,optionalOldSelf=true,fieldPath=".deletionPriority",message="must be an integer from 0 to 2147483647",messageExpression=`"'" + string(self.deletionPriority) + "' must be an integer from 0 to 2147483647"`
	Spec GameServerSpec `json:"spec,omitempty,omitzero"`

	// status is what the GameServer controller saw. As long as it has written none, the server is being created.
	// +optional
	// +kubebuilder:default={desiredState: Ready, currentState: Creating}
	Status GameServerStatus `json:"status,omitempty,omitzero"`
}

// GameServerList is a list of GameServers.
//
// +kubebuilder:object:root=true
type GameServerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []GameServer `json:"items"`
}

// GameServerSpec is what is wanted of one game server. All of it may change at any time.
type GameServerSpec struct {
	// opsState is the operations state: None, Maintaining, WaitToBeDeleted, Allocated, Kill, or any other word, which
	// counts like None. Case matters. It becomes a label of the pod, so at most 63 characters of a label value.
	// A GameServer is created with None.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	OpsState OpsState `json:"opsState,omitempty"`

	// updatePriority is an integer from 0 to 2147483647, or such an integer as text; servers with a higher one are
	// updated first. A GameServer is created with 0.
	// +optional
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=1024
	UpdatePriority *intstr.IntOrString `json:"updatePriority,omitempty"`

	// deletionPriority is an integer from 0 to 2147483647, or such an integer as text; among servers of the same opsState
	// those with a higher one are removed first. A GameServer is created with 0.
	// +optional
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=1024
	DeletionPriority *intstr.IntOrString `json:"deletionPriority,omitempty"`

	// networkDisabled true cuts the server off its access network without touching the pod, for plugins that can.
	// Absent counts as false; in a service quality action absent means "leave as it is". A GameServer is created with
	// false.
	// +optional
	NetworkDisabled *bool `json:"networkDisabled,omitempty"`

	// containers overrides the image or the resources of containers of this one server, by container name.
	// +optional
	// +listType=map
	// +listMapKey=name
	Containers []GameServerContainer `json:"containers,omitempty"`
}

// GameServerContainer overrides one container of a server's pod. Absent fields leave what the template says.
type GameServerContainer struct {
	// name of a container of the template.
	Name string `json:"name"`

	// image to run instead. Reaches the running pod at once.
	// +optional
	Image string `json:"image,omitempty"`

	// resources to ask for instead. Reaches only the next pod of this server.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitempty,omitzero"`
}

// OpsState is the operations state of a game server. Every label value is legal; the words below have a meaning.
type OpsState string

// The reserved operations states. Order of removal when a set shrinks: WaitToBeDeleted, None and user words,
// Allocated, Maintaining.
const (
	// None is the state of a new server.
	None OpsState = "None"
	// Maintaining protects a server: it is the last to be removed.
	Maintaining OpsState = "Maintaining"
	// WaitToDelete makes a server the first to be removed. Its value is "WaitToBeDeleted".
	WaitToDelete OpsState = "WaitToBeDeleted"
	// Allocated says that players are on the server.
	Allocated OpsState = "Allocated"
	// Kill has the server removed at once, and the set lowered by one.
	Kill OpsState = "Kill"
)

// GameServerState is where a game server is in its life.
type GameServerState string

// The states of a game server.
const (
	// Unknown: the pod is in a phase that says nothing.
	Unknown GameServerState = "Unknown"
	// Creating: the pod is not running yet.
	Creating GameServerState = "Creating"
	// Ready: the pod runs and is ready.
	Ready GameServerState = "Ready"
	// NotReady: the pod runs and is not ready.
	NotReady GameServerState = "NotReady"
	// Crash: a container of the pod ends again and again.
	Crash GameServerState = "Crash"
	// Updating: an in-place update changes the pod.
	Updating GameServerState = "Updating"
	// Deleting: the pod is on its way out.
	Deleting GameServerState = "Deleting"
	// PreDelete: the pod should go and a lifecycle hook holds it.
	PreDelete GameServerState = "PreDelete"
	// PreUpdate: the pod should be updated and a lifecycle hook holds it.
	PreUpdate GameServerState = "PreUpdate"
)

// GameServerStatus is what the GameServer controller saw of one server.
type GameServerStatus struct {
	// desiredState is always Ready.
	// +optional
	DesiredState GameServerState `json:"desiredState,omitempty"`

	// currentState is one of Unknown, Creating, Ready, NotReady, Crash, Updating, Deleting, PreDelete, PreUpdate.
	// +optional
	CurrentState GameServerState `json:"currentState,omitempty"`

	// networkStatus tells how the server can be reached; absent without a network type.
	// +optional
	NetworkStatus NetworkStatus `json:"networkStatus,omitempty,omitzero"`

	// podStatus is the whole status of the pod.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	PodStatus corev1.PodStatus `json:"podStatus,omitempty,omitzero"`

	// serviceQualitiesConditions holds the last result and the last action of each service quality of the set.
	// +optional
	// +listType=map
	// +listMapKey=name
	ServiceQualitiesCondition []ServiceQualityCondition `json:"serviceQualitiesConditions,omitempty"`

	// updatePriority that is on the pod now, an integer or an integer as text.
	// +optional
	UpdatePriority *intstr.IntOrString `json:"updatePriority,omitempty"`

	// deletionPriority that is on the pod now, an integer or an integer as text.
	// +optional
	DeletionPriority *intstr.IntOrString `json:"deletionPriority,omitempty"`

	// lastTransitionTime is when this status last changed.
	// +optional
	// +nullable
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty,omitzero"`

	// conditions say whether the pod, its node and its volumes are sound. Types: PodNormal, NodeNormal,
	// PersistentVolumeNormal.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []GameServerCondition `json:"conditions,omitempty"`
}

// ServiceQualityCondition is the last result and the last action of one service quality on one server.
type ServiceQualityCondition struct {
	// name of the service quality.
	Name string `json:"name"`

	// status of the probe: "True", "False" or "Unknown".
	// +optional
	Status string `json:"status,omitempty"`

	// result is the output of the probe.
	// +optional
	Result string `json:"result,omitempty"`

	// lastProbeTime is when the probe last ran.
	// +optional
	// +nullable
	LastProbeTime metav1.Time `json:"lastProbeTime,omitempty,omitzero"`

	// lastTransitionTime is when the status last changed.
	// +optional
	// +nullable
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty,omitzero"`

	// lastActionTransitionTime is when an action last ran.
	// +optional
	// +nullable
	LastActionTransitionTime metav1.Time `json:"lastActionTransitionTime,omitempty,omitzero"`
}

// GameServerConditionType names what a condition of a GameServer is about.
type GameServerConditionType string

// The conditions of a GameServer.
const (
	// NodeNormal is true when the node of the pod is ready and without pressure.
	NodeNormal GameServerConditionType = "NodeNormal"
	// PersistentVolumeNormal is true when all claims of the pod are bound to sound volumes.
	PersistentVolumeNormal GameServerConditionType = "PersistentVolumeNormal"
	// PodNormal is true when the pod runs as it should.
	PodNormal GameServerConditionType = "PodNormal"
)

// GameServerCondition says whether one thing a game server stands on is sound.
type GameServerCondition struct {
	// type of the condition.
	Type GameServerConditionType `json:"type"`

	// status is True, False or Unknown.
	Status corev1.ConditionStatus `json:"status"`

	// lastProbeTime is when the condition was last checked.
	// +optional
	// +nullable
	LastProbeTime metav1.Time `json:"lastProbeTime,omitempty,omitzero"`

	// lastTransitionTime is when the status last changed.
	// +optional
	// +nullable
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty,omitzero"`

	// reason is one word for the last change.
	// +optional
	Reason string `json:"reason,omitempty"`

	// message is a sentence for people.
	// +optional
	Message string `json:"message,omitempty"`
}
