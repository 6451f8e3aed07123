// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	appspub "github.com/openkruise/kruise-api/apps/pub"
	kruisev1alpha1 "github.com/openkruise/kruise-api/apps/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
)

// Labels of pods. All are written by this project and may be read by anybody.
const (
	// GameServerOwnerGssKey is the one link between a pod and its set. Label of pods and GameServers, and the selector of
	// the Advanced StatefulSet and the PodProbeMarker. Value: name of the GameServerSet. Written by the GameServerSet
	// controller (pod template) and the GameServer controller (GameServers); read by everybody, the webhook's object
	// selector included. Missing: not a game server.
	GameServerOwnerGssKey = "game.kruise.io/owner-gss"

	// GameServerStateKey is a pod label with the GameServerState. Written by the GameServer controller; read by the
	// GameServerSet controller for its counts. Missing: the GameServer controller has not seen the pod yet.
	GameServerStateKey = "game.kruise.io/gs-state"

	// GameServerOpsStateKey is a pod label with the GameServer's opsState. Written by the GameServer controller; read by
	// the GameServerSet controller when it scales down or kills. Missing: counts as None.
	GameServerOpsStateKey = "game.kruise.io/gs-opsState"

	// GameServerUpdatePriorityKey is a pod label with the update priority as integer text. Written by the GameServer
	// controller; read by OpenKruise, which updates higher ones first. Missing: 0.
	GameServerUpdatePriorityKey = "game.kruise.io/gs-update-priority"

	// GameServerDeletePriorityKey is a pod label with the deletion priority as integer text. Written by the GameServer
	// controller; read by the GameServerSet controller, which removes higher ones first. Missing: 0.
	GameServerDeletePriorityKey = "game.kruise.io/gs-delete-priority"

	// GameServerNetworkDisabled is a pod label, "true" or "false", with the GameServer's networkDisabled. Written by the
	// GameServer controller; read by network plugins that can cut a server off. Missing: "false". An annotation of this
	// name has no effect.
	GameServerNetworkDisabled = "game.kruise.io/network-disabled"

	// InplaceUpdateNotReadyBlocker is a pod label, "true" or "false", that holds back an in-place update. Written by the
	// lifecycle hook of the workload and by network plugins; the hook waits while it is "true". Missing: no hold.
	InplaceUpdateNotReadyBlocker = "game.kruise.io/inplace-update-not-ready-blocker"
)

// Annotations of pods.
const (
	// GameServerNetworkType is a pod annotation with the name of the network plugin. Written by the GameServerSet controller
	// (pod template); read by the webhook, podnetwork and the GameServer controller. Missing: no network.
	GameServerNetworkType = "game.kruise.io/network-type"

	// GameServerNetworkConf is a pod annotation with the parameters of the plugin: a JSON list of {"name","value"} in the
	// user's order, "null" for none. Written by the GameServerSet controller (pod template); read by the plugins.
	GameServerNetworkConf = "game.kruise.io/network-conf"

	// GameServerNetworkStatus is a pod annotation with a NetworkStatus as JSON, without networkType and
	// desiredNetworkState and with null times. Written by podnetwork; read by the GameServer controller, and by
	// programs in the pod through the downward API. Missing: the network is NotReady.
	GameServerNetworkStatus = "game.kruise.io/network-status"

	// GameServerNetworkTriggerTime is a pod annotation, a time in RFC 3339. A change asks podnetwork to look at the pod
	// again. Anybody may write it; this project does not need it. Text in another form (upstream before v1.0) is a change
	// like any other.
	GameServerNetworkTriggerTime = "game.kruise.io/network-trigger-time"

	// GameServerOpsStateLastChangedTime is a pod annotation, a time in RFC 3339: when the opsState label last changed, the
	// first write included. Written by the GameServer controller; for users.
	GameServerOpsStateLastChangedTime = "game.kruise.io/opsState-last-changed-time"

	// GameServerStateLastChangedTime is a pod annotation, a time in RFC 3339: when the state label last changed. Written
	// by the GameServer controller from the second state on; for users. Missing: still in its first state.
	GameServerStateLastChangedTime = "game.kruise.io/state-last-changed-time"

	// GameServerUpdatingContainersKey is a pod annotation with the names, separated by commas, of the containers that an
	// in-place update changes. Written by the GameServer controller in the states PreUpdate and Updating, removed after;
	// for users.
	GameServerUpdatingContainersKey = "game.kruise.io/gs-updating-containers"

	// TraceparentKey is a pod annotation with a W3C traceparent. Written by the GameServer controller on a request that the
	// webhook answers and takes it off again; never stored.
	TraceparentKey = "game.kruise.io/traceparent"
)

// Labels and annotations of GameServers.
const (
	// GameServerDeletingKey is a GameServer label, "true" or "false". Written by the GameServerSet controller for ids that
	// leave or come back by scaling, only with reclaim policy Delete; read by the GameServer controller, which deletes a
	// GameServer that carries "true". Missing: "false".
	GameServerDeletingKey = "game.kruise.io/gs-deleting"

	// GameServerNodeNameKey is a GameServer label with the name of the pod's node. Written by the GameServer controller;
	// for users. Missing: no node yet.
	GameServerNodeNameKey = "game.kruise.io/node-name"

	// GameServerSyncPrefix begins the keys of labels and annotations that the GameServer controller copies from a
	// GameServer to its pod. Written by users; typical use is a lifecycle hook on such a label.
	GameServerSyncPrefix = "gs-sync/"

	// GsTemplateMetadataHashKey is a GameServer annotation with a hash of the template metadata that was merged into it.
	// Written and read by the GameServer controller. Missing or different: merge again.
	GsTemplateMetadataHashKey = "game.kruise.io/gsTemplate-metadata-hash"
)

// Annotations of the objects of a set, and the key of a Service selector.
const (
	// GameServerSetReserveIdsKey is a GameServerSet annotation like "1,2,5-7" with the reserveGameServerIds that the
	// last scaling took into account. Written and read by the GameServerSet controller. Missing: none.
	GameServerSetReserveIdsKey = "game.kruise.io/reserve-ids"

	// AstsHashKey is an annotation of the Advanced StatefulSet with a hash of what the set wants of it. Written and read by
	// the GameServerSet controller. Upstream's values differ from ours.
	AstsHashKey = "game.kruise.io/asts-hash"

	// PpmHashKey is an annotation of the PodProbeMarker with a hash of what the set wants of it. Written and read by the
	// GameServerSet controller. Upstream's values differ from ours.
	PpmHashKey = "game.kruise.io/ppm-hash"

	// ServiceSelectorDisabledKey is a key in the selector of a Service whose server has its network disabled; no pod
	// carries it as label, so the Service reaches nothing. Value: pod name. Written and read by network plugins.
	ServiceSelectorDisabledKey = "game.kruise.io/svc-selector-disabled"

	// ServiceQualityConditionPrefix begins the type of the pod condition that OpenKruise writes for a service quality; its
	// name follows. Read by the GameServer controller. Missing condition: the probe has not run yet.
	ServiceQualityConditionPrefix = "game.kruise.io/"
)

// Keys and names of OpenKruise and Kubernetes that this project reads or relies on. They are theirs.
const (
	// LifecycleStateKey is a pod label with an OpenKruise LifecycleStateType: PreparingNormal, Normal, PreparingUpdate,
	// Updating, Updated or PreparingDelete. Missing: counts as Normal.
	LifecycleStateKey = appspub.LifecycleStateKey

	// PodNameLabelKey is a pod label with the pod's name, by which the Service of one server selects its pod.
	PodNameLabelKey = appsv1.StatefulSetPodNameLabel

	// InPlaceUpdateReady is the readiness gate that a pod template needs for in-place updates.
	InPlaceUpdateReady = appspub.InPlaceUpdateReady

	// PodProbeAnnotationKey is a pod annotation by which serverless pods get their probes. Left alone.
	PodProbeAnnotationKey = kruisev1alpha1.PodProbeMarkerAnnotationKey

	// ContainerLaunchPriorityEnvName is a container environment variable with its OpenKruise launch priority, an integer;
	// higher ones start first. Left alone.
	ContainerLaunchPriorityEnvName = appspub.ContainerLaunchPriorityEnvName
)
