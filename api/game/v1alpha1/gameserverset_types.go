// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	appspub "github.com/openkruise/kruise-api/apps/pub"
	kruisev1beta1 "github.com/openkruise/kruise-api/apps/v1beta1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// GameServerSet describes a group of game servers: how many, from which pod template, how they are updated, scaled,
// watched and reached.
//
// The schema refuses what can be judged without knowing plugins or decoding the pod template; the admission webhook
// does the rest. A value that was stored before its rule existed stays until the request touches it.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.labelSelector
// +kubebuilder:resource:shortName=gss
// +kubebuilder:printcolumn:name="DESIRED",type="integer",JSONPath=".spec.replicas",description="Wanted number of game servers"
// +kubebuilder:printcolumn:name="CURRENT",type="integer",JSONPath=".status.currentReplicas",description="Number of pods"
// +kubebuilder:printcolumn:name="UPDATED",type="integer",JSONPath=".status.updatedReplicas",description="Number of pods of the newest version"
// +kubebuilder:printcolumn:name="READY",type="integer",JSONPath=".status.readyReplicas",description="Number of ready pods"
// +kubebuilder:printcolumn:name="Maintaining",type="integer",JSONPath=".status.maintainingReplicas",description="Number of servers in opsState Maintaining"
// +kubebuilder:printcolumn:name="WaitToBeDeleted",type="integer",JSONPath=".status.waitToBeDeletedReplicas",description="Number of servers in opsState WaitToBeDeleted"
// +kubebuilder:printcolumn:name="PreDelete",type="integer",JSONPath=".status.preDeleteReplicas",description="Number of servers that a preDelete hook holds"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp",description="Time since creation"
// +kubebuilder:validation:XValidation:rule=`oldSelf.hasValue() || size(self.metadata.name) <= 52`,optionalOldSelf=true,message="metadata.name must be at most 52 characters, because the label of a revision is <name>-<hash> and that may have 63"
// +kubebuilder:validation:XValidation:rule=`(size(self.?spec.?serviceName.orValue("")) == 0 ? self.metadata.name : self.spec.serviceName) == (size(oldSelf.?spec.?serviceName.orValue("")) == 0 ? oldSelf.metadata.name : oldSelf.spec.serviceName)`,fieldPath=".spec.serviceName",reason=FieldValueForbidden,message="may not change; empty means the name of the GameServerSet",messageExpression=`"may not change from '" + oldSelf.spec.serviceName + "' to '" + self.spec.serviceName + "'; empty means the name of the GameServerSet"`
type GameServerSet struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what is wanted.
	Spec GameServerSetSpec `json:"spec"`

	// status is what the GameServerSet controller saw.
	// +optional
	Status GameServerSetStatus `json:"status,omitempty,omitzero"`
}

// GameServerSetList is a list of GameServerSets.
//
// +kubebuilder:object:root=true
type GameServerSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []GameServerSet `json:"items"`
}

// GameServerSetSpec is what is wanted of a group of game servers.
type GameServerSetSpec struct {
	// replicas is the wanted number of game servers, 0 or more. May change at any time.
	// +kubebuilder:validation:Minimum=0
	Replicas *int32 `json:"replicas"`

	// gameServerTemplate is the pod of a game server, its volume claims, and when its GameServer goes away.
	// May change at any time; running servers follow as updateStrategy says.
	// +optional
	GameServerTemplate GameServerTemplate `json:"gameServerTemplate,omitempty,omitzero"`

	// serviceName is the headless service in the DNS name of the pods, <pod>.<service>.<namespace>.svc. Nobody creates
	// this service for you. Absent means the name of the set. Cannot change.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	ServiceName string `json:"serviceName,omitempty"`

	// reserveGameServerIds are ids that no server may have. An element is an integer from 0 to 2147483647 or a text "a-b" for all ids
	// from a to b, with 0 <= a <= b. No id may appear twice, also not by overlap. May change at any time.
	// +optional
	// +listType=set
	ReserveGameServerIds []intstr.IntOrString `json:"reserveGameServerIds,omitempty"`

	// serviceQualities are probes of the game itself, and what to do with a server by their result.
	// May change at any time.
	// +optional
	// +listType=map
	// +listMapKey=name
	ServiceQualities []ServiceQuality `json:"serviceQualities,omitempty"`

	// updateStrategy says how running servers follow a change of the template. May change at any time.
	// +optional
	UpdateStrategy UpdateStrategy `json:"updateStrategy,omitempty,omitzero"`

	// scaleStrategy says how the set grows and shrinks. May change at any time.
	// +optional
	ScaleStrategy ScaleStrategy `json:"scaleStrategy,omitempty,omitzero"`

	// network says how players reach the servers. Absent means that Berth does not care for their network.
	// May be added or removed; the type may not change.
	// +optional
	Network *Network `json:"network,omitempty"`

	// lifecycle holds servers that should be updated or deleted until their labels or finalizers let them go, as
	// OpenKruise defines it. May change at any time.
	// +optional
	Lifecycle *appspub.Lifecycle `json:"lifecycle,omitempty"`

	// persistentVolumeClaimRetentionPolicy says whether the volume claims of servers are kept when the set is deleted
	// (whenDeleted) and when it shrinks (whenScaled), each Retain or Delete. Absent means Retain. May change at any time.
	// +optional
	// +kubebuilder:validation:XValidation:rule=`self.?whenDeleted.orValue("") in ["", "Retain", "Delete", oldSelf.?whenDeleted.orValue("")]`,optionalOldSelf=true,fieldPath=".whenDeleted",message="must be Retain or Delete",messageExpression=`"'" + self.whenDeleted + "' must be Retain or Delete"`
	// +kubebuilder:validation:XValidation:rule=`self.?whenScaled.orValue("") in ["", "Retain", "Delete", oldSelf.?whenScaled.orValue("")]`,optionalOldSelf=true,fieldPath=".whenScaled",message="must be Retain or Delete",messageExpression=`"'" + self.whenScaled + "' must be Retain or Delete"`
	PersistentVolumeClaimRetentionPolicy *kruisev1beta1.StatefulSetPersistentVolumeClaimRetentionPolicy `json:"persistentVolumeClaimRetentionPolicy,omitempty"`
}

// GameServerTemplate is the pod of a game server. Metadata and spec are open in the schema: the API server stores them
// as they are, and the admission webhook checks them.
//
// +kubebuilder:pruning:PreserveUnknownFields
type GameServerTemplate struct {
	// metadata.labels and metadata.annotations go to the pods and are copied to each GameServer; spec is the pod's spec.
	// +kubebuilder:validation:Schemaless
	corev1.PodTemplateSpec `json:",inline"`

	// volumeClaimTemplates are claims that each server gets a volume of its own for.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	VolumeClaimTemplates []corev1.PersistentVolumeClaim `json:"volumeClaimTemplates,omitempty"`

	// reclaimPolicy says when the GameServer of a pod is deleted: Cascade, together with its pod; Delete, only when its
	// id leaves the set by scaling, so that it keeps its settings when its pod is evicted or recreated. Empty means Cascade.
	// +optional
	// +kubebuilder:validation:Enum="";Cascade;Delete
	ReclaimPolicy GameServerReclaimPolicy `json:"reclaimPolicy,omitempty"`
}

// GameServerReclaimPolicy says when a GameServer is deleted.
type GameServerReclaimPolicy string

// The reclaim policies. Empty counts as Cascade.
const (
	// CascadeGameServerReclaimPolicy: the GameServer is owned by its pod and goes with it.
	CascadeGameServerReclaimPolicy GameServerReclaimPolicy = "Cascade"
	// DeleteGameServerReclaimPolicy: the GameServer is owned by the set and goes when its id leaves the set by scaling.
	DeleteGameServerReclaimPolicy GameServerReclaimPolicy = "Delete"
)

// UpdateStrategy says how running servers follow a change of the template.
//
// +kubebuilder:validation:XValidation:rule=`self.?type.orValue("") != "OnDelete" || !has(self.rollingUpdate) || (oldSelf.?type.orValue("") == "OnDelete" && oldSelf.?rollingUpdate.hasValue())`,optionalOldSelf=true,fieldPath=".rollingUpdate",reason=FieldValueForbidden,message="must be absent when type is OnDelete"
type UpdateStrategy struct {
	// type is RollingUpdate, or OnDelete to replace a pod only when somebody deletes it. Empty means RollingUpdate.
	// +optional
	// +kubebuilder:validation:Enum="";RollingUpdate;OnDelete
	Type appsv1.StatefulSetUpdateStrategyType `json:"type,omitempty"`

	// rollingUpdate steers a rolling update. Absent means all its defaults. Must be absent with OnDelete.
	// +optional
	RollingUpdate *RollingUpdateStatefulSetStrategy `json:"rollingUpdate,omitempty"`
}

// The update strategies. Empty counts as RollingUpdate.
const (
	RollingUpdateStrategyType  = appsv1.RollingUpdateStatefulSetStrategyType
	OnDeleteUpdateStrategyType = appsv1.OnDeleteStatefulSetStrategyType
)

// RollingUpdateStatefulSetStrategy steers a rolling update. Servers follow in the order of their update priority.
type RollingUpdateStatefulSetStrategy struct {
	// partition is the number of servers that stay on the old version. Absent means 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Partition *int32 `json:"partition,omitempty"`

	// maxUnavailable is how many servers may be unavailable during an update: a number, or a percentage of replicas,
	// rounded down but at least 1. Absent means 1.
	// +optional
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Pattern="^(100|[1-9][0-9]?)%$"
	// +kubebuilder:validation:XValidation:rule=`type(self) != int || self >= 1`,message="must be 1 or more, or a percentage from 1% to 100%"
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`

	// podUpdatePolicy is ReCreate, InPlaceIfPossible (change images, labels and annotations of the running pod, recreate
	// it for anything else) or InPlaceOnly. Empty means ReCreate.
	// +optional
	// +kubebuilder:validation:Enum="";ReCreate;InPlaceIfPossible;InPlaceOnly
	PodUpdatePolicy kruisev1beta1.PodUpdateStrategyType `json:"podUpdatePolicy,omitempty"`

	// paused stops the update where it is. Absent means false.
	// +optional
	Paused bool `json:"paused,omitempty"`

	// inPlaceUpdateStrategy.gracePeriodSeconds is the time between marking a pod not ready and changing its images.
	// Absent means 0.
	// +optional
	InPlaceUpdateStrategy *appspub.InPlaceUpdateStrategy `json:"inPlaceUpdateStrategy,omitempty"`

	// minReadySeconds is how long a pod must be ready before it counts as available after an update, 0 to 300.
	// Absent means 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=300
	MinReadySeconds *int32 `json:"minReadySeconds,omitempty"`
}

// The pod update policies. Empty counts as ReCreate.
const (
	ReCreatePodUpdatePolicy          = kruisev1beta1.RecreatePodUpdateStrategyType
	InPlaceIfPossiblePodUpdatePolicy = kruisev1beta1.InPlaceIfPossiblePodUpdateStrategyType
	InPlaceOnlyPodUpdatePolicy       = kruisev1beta1.InPlaceOnlyPodUpdateStrategyType
)

// ScaleStrategy says how the set grows and shrinks.
type ScaleStrategy struct {
	// maxUnavailable is how many servers may be unavailable while the set grows: a number, or a percentage of replicas.
	// Absent means no limit.
	// +optional
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Pattern="^(100|[1-9][0-9]?)%$"
	// +kubebuilder:validation:XValidation:rule=`type(self) != int || self >= 1`,message="must be 1 or more, or a percentage from 1% to 100%"
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`

	// scaleDownStrategyType is General, or ReserveIds to add the id of every removed server to reserveGameServerIds, so
	// that it is not used again until somebody takes it out there. Empty means General.
	// +optional
	// +kubebuilder:validation:Enum="";General;ReserveIds
	ScaleDownStrategyType ScaleDownStrategyType `json:"scaleDownStrategyType,omitempty"`
}

// ScaleDownStrategyType says what happens to the ids of removed servers.
type ScaleDownStrategyType string

// The scale-down strategies. Empty counts as General.
const (
	// GeneralScaleDownStrategyType: a removed id may be used again when the set grows.
	GeneralScaleDownStrategyType ScaleDownStrategyType = "General"
	// ReserveIdsScaleDownStrategyType: a removed id is added to spec.reserveGameServerIds.
	ReserveIdsScaleDownStrategyType ScaleDownStrategyType = "ReserveIds"
)

// ServiceQuality is a probe of the game itself, and what to do with a server by its result.
type ServiceQuality struct {
	// The probe. Only exec and tcpSocket handlers work. Numbers that are 0 mean: initialDelaySeconds 10, timeoutSeconds 5,
	// periodSeconds 3, successThreshold 1, failureThreshold 3. terminationGracePeriodSeconds has no use.
	corev1.Probe `json:",inline"`

	// name of the quality, unique in the set and a valid label name of at most 63 characters. The result stands on the
	// pod as the condition game.kruise.io/<name>.
	Name string `json:"name"`

	// containerName is the container of the template that the probe looks at.
	// +optional
	ContainerName string `json:"containerName,omitempty"`

	// permanent true: the first action that runs for a server is the last one. False: an action may run each time the
	// status or the result of the probe changes.
	Permanent bool `json:"permanent"`

	// serviceQualityAction lists what to do. All that match run, in order; a later one wins over an earlier one.
	// +optional
	// +listType=atomic
	ServiceQualityAction []ServiceQualityAction `json:"serviceQualityAction,omitempty"`
}

// ServiceQualityAction sets fields, labels and annotations of a GameServer when a probe has a given result. opsState,
// the priorities, and the values of labels and annotations may hold a template over the output of the probe, such as
// "{{.Result}}", which is why they are not checked here.
type ServiceQualityAction struct {
	// state of the probe that this action is for: true is success.
	State bool `json:"state"`

	// result, when not empty, must be exactly the output of the probe.
	// +optional
	Result string `json:"result,omitempty"`

	// The fields of a GameServer's spec to set. Absent ones stay as they are.
	GameServerSpec `json:",inline"`

	// annotations to set on the GameServer.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`

	// labels to set on the GameServer.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
}

// GameServerSetStatus is what the GameServerSet controller saw. Counts are of pods.
type GameServerSetStatus struct {
	// observedGeneration is the generation of the set that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// replicas is spec.replicas, for autoscalers; currentReplicas is the real count.
	Replicas int32 `json:"replicas"`

	// readyReplicas is the number of ready pods.
	ReadyReplicas int32 `json:"readyReplicas"`

	// availableReplicas is the number of pods ready for minReadySeconds.
	AvailableReplicas int32 `json:"availableReplicas"`

	// currentReplicas is the number of pods of the set.
	CurrentReplicas int32 `json:"currentReplicas"`

	// updatedReplicas is the number of pods of the newest version.
	UpdatedReplicas int32 `json:"updatedReplicas"`

	// updatedReadyReplicas is the number of ready pods of the newest version.
	// +optional
	UpdatedReadyReplicas int32 `json:"updatedReadyReplicas,omitempty"`

	// maintainingReplicas is the number of pods in opsState Maintaining.
	// +optional
	MaintainingReplicas *int32 `json:"maintainingReplicas,omitempty"`

	// waitToBeDeletedReplicas is the number of pods in opsState WaitToBeDeleted.
	// +optional
	WaitToBeDeletedReplicas *int32 `json:"waitToBeDeletedReplicas,omitempty"`

	// preDeleteReplicas is the number of pods in state PreDelete.
	// +optional
	PreDeleteReplicas *int32 `json:"preDeleteReplicas,omitempty"`

	// labelSelector selects the pods of the set, as text, for autoscalers.
	// +optional
	LabelSelector string `json:"labelSelector,omitempty"`

	// conditions say what keeps the set from being as wanted. Types: WorkloadReady, ProbesReady, ScaleConsistent.
	// OpenKruiseGame does not write them.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// The conditions of a GameServerSet.
const (
	// WorkloadReadyCondition: the Advanced StatefulSet is as the set wants it.
	WorkloadReadyCondition = "WorkloadReady"
	// ProbesReadyCondition: the PodProbeMarker is as the service qualities want it.
	ProbesReadyCondition = "ProbesReady"
	// ScaleConsistentCondition: the ids of the workload are those the scale plan computed.
	ScaleConsistentCondition = "ScaleConsistent"
)
