// SPDX-License-Identifier: Apache-2.0

package gameserverset

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	appspub "github.com/openkruise/kruise-api/apps/pub"
	kruisev1beta1 "github.com/openkruise/kruise-api/apps/v1beta1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/internal/idset"
)

// reserveHorizon is how far above the highest member ids are still told to OpenKruise. "10-2000000000" would bring it
// down, see idset.MaxBelowMembers; ids that far away make no difference to the members.
const reserveHorizon = 1 << 16

// managedSpec is the part of the workload that follows the set at any time: everything except replicas and reserve ids,
// which are the plan's, and what cannot change after creation. It shares nothing with the set (S-15).
// Source: core-controllers.md 2.5 "Building the ASTS".
func managedSpec(set *gamev1alpha1.GameServerSet) (kruisev1beta1.StatefulSetSpec, error) {
	set = set.DeepCopy()
	template := set.Spec.GameServerTemplate.PodTemplateSpec
	if err := completeTemplate(&template, set); err != nil {
		return kruisev1beta1.StatefulSetSpec{}, err
	}
	return kruisev1beta1.StatefulSetSpec{
		PodManagementPolicy:                  appsv1.ParallelPodManagement,
		Template:                             template,
		VolumeClaimTemplates:                 set.Spec.GameServerTemplate.VolumeClaimTemplates,
		UpdateStrategy:                       updateStrategy(set.Spec.UpdateStrategy),
		Lifecycle:                            lifecycle(set),
		ScaleStrategy:                        &kruisev1beta1.StatefulSetScaleStrategy{MaxUnavailable: set.Spec.ScaleStrategy.MaxUnavailable},
		PersistentVolumeClaimRetentionPolicy: set.Spec.PersistentVolumeClaimRetentionPolicy,
	}, nil
}

func completeTemplate(template *corev1.PodTemplateSpec, set *gamev1alpha1.GameServerSet) error {
	template.Labels = with(template.Labels, gamev1alpha1.GameServerOwnerGssKey, set.Name)
	if network := set.Spec.Network; network != nil {
		conf, err := json.Marshal(network.NetworkConf)
		if err != nil {
			return fmt.Errorf("encoding networkConf: %w", err)
		}
		template.Annotations = with(template.Annotations, gamev1alpha1.GameServerNetworkConf, string(conf))
		template.Annotations = with(template.Annotations, gamev1alpha1.GameServerNetworkType, network.NetworkType)
	}
	gate := corev1.PodReadinessGate{ConditionType: appspub.InPlaceUpdateReady}
	if !slices.Contains(template.Spec.ReadinessGates, gate) { // S-14
		template.Spec.ReadinessGates = append(template.Spec.ReadinessGates, gate)
	}
	return nil
}

// with sets a key of a map that may be nil.
func with(m map[string]string, key, value string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}

// updateStrategy writes a rolling-update block also when the set has none, or OpenKruise would update by ordinal and not
// by priority.
func updateStrategy(from gamev1alpha1.UpdateStrategy) kruisev1beta1.StatefulSetUpdateStrategy {
	rolling := from.RollingUpdate
	if rolling == nil {
		if from.Type == appsv1.OnDeleteStatefulSetStrategyType {
			return kruisev1beta1.StatefulSetUpdateStrategy{Type: from.Type}
		}
		rolling = &gamev1alpha1.RollingUpdateStatefulSetStrategy{}
	}
	return kruisev1beta1.StatefulSetUpdateStrategy{
		Type: appsv1.RollingUpdateStatefulSetStrategyType,
		RollingUpdate: &kruisev1beta1.RollingUpdateStatefulSetStrategy{
			Partition:             rolling.Partition,
			MaxUnavailable:        rolling.MaxUnavailable,
			PodUpdatePolicy:       rolling.PodUpdatePolicy,
			Paused:                rolling.Paused,
			InPlaceUpdateStrategy: rolling.InPlaceUpdateStrategy,
			MinReadySeconds:       rolling.MinReadySeconds,
			UnorderedUpdate: &kruisev1beta1.UnorderedUpdateStrategy{
				PriorityStrategy: &appspub.UpdatePriorityStrategy{
					OrderPriority: []appspub.UpdatePriorityOrderTerm{{OrderedKey: gamev1alpha1.GameServerUpdatePriorityKey}},
				},
			},
		},
	}
}

// lifecycle adds a hold of in-place updates when a network plugin keeps traffic flowing through them. It may change set.
func lifecycle(set *gamev1alpha1.GameServerSet) *appspub.Lifecycle {
	hooks := set.Spec.Lifecycle
	if !allowsNotReadyContainers(set.Spec.Network) {
		return hooks
	}
	if hooks == nil {
		hooks = &appspub.Lifecycle{}
	}
	if hooks.InPlaceUpdate == nil {
		hooks.InPlaceUpdate = &appspub.LifecycleHook{}
	}
	hooks.InPlaceUpdate.LabelsHandler = with(hooks.InPlaceUpdate.LabelsHandler, gamev1alpha1.InplaceUpdateNotReadyBlocker, "true")
	return hooks
}

// allowsNotReadyContainers reports whether the parameter is there, whatever its value.
func allowsNotReadyContainers(network *gamev1alpha1.Network) bool {
	return network != nil && slices.ContainsFunc(network.NetworkConf, func(p gamev1alpha1.NetworkConfParams) bool {
		return p.Name == gamev1alpha1.AllowNotReadyContainersNetworkConfName
	})
}

// newWorkload is the Advanced StatefulSet of a set that has none.
func newWorkload(set *gamev1alpha1.GameServerSet, managed kruisev1beta1.StatefulSetSpec, plan ScalePlan) (*kruisev1beta1.StatefulSet, error) {
	workload := &kruisev1beta1.StatefulSet{ObjectMeta: ownedMeta(set)}
	workload.Spec.Selector = selector(set)
	workload.Spec.ServiceName = set.Spec.ServiceName
	if workload.Spec.ServiceName == "" {
		workload.Spec.ServiceName = set.Name
	}
	setScale(&workload.Spec, plan)
	return workload, setManaged(workload, managed)
}

// setManaged brings the workload to the managed part, and notes the hash of it.
func setManaged(workload *kruisev1beta1.StatefulSet, managed kruisev1beta1.StatefulSetSpec) error {
	hash, err := hashOf(managed)
	if err != nil {
		return err
	}
	spec := &workload.Spec
	spec.PodManagementPolicy = managed.PodManagementPolicy
	spec.Template = managed.Template
	spec.VolumeClaimTemplates = managed.VolumeClaimTemplates
	spec.UpdateStrategy = managed.UpdateStrategy
	setScaling(spec, managed)
	workload.Annotations = with(workload.Annotations, gamev1alpha1.AstsHashKey, hash)
	return nil
}

// setScale brings the workload to the plan.
func setScale(spec *kruisev1beta1.StatefulSetSpec, plan ScalePlan) {
	replicas := int32(plan.Keep.Len()) // the plan keeps as many as spec.replicas, an int32
	spec.Replicas = &replicas
	spec.ReserveOrdinals = reserveOrdinals(plan)
}

// setScaling brings only that part of the managed part to the workload that steers how servers come and go.
func setScaling(spec *kruisev1beta1.StatefulSetSpec, managed kruisev1beta1.StatefulSetSpec) {
	spec.ScaleStrategy = managed.ScaleStrategy
	spec.Lifecycle = managed.Lifecycle
	spec.PersistentVolumeClaimRetentionPolicy = managed.PersistentVolumeClaimRetentionPolicy
}

func reserveOrdinals(plan ScalePlan) []intstr.IntOrString {
	highest, _ := plan.Keep.Max()
	horizon := min(int64(highest)+reserveHorizon, int64(idset.MaxID))
	return plan.Reserve.Intersect(idset.Range(0, int32(horizon))).List()
}

// hashOf is a hash over everything that setManaged writes (S-3). JSON has one form for one value: keys of maps are
// sorted. Another value than the stored one only costs one write, which changes nothing that is equal.
func hashOf(value any) (string, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("hashing %T: %w", value, err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16]), nil
}

// ownedMeta is the metadata of an object of the set. Both kinds of them have the name of the set.
func ownedMeta(set *gamev1alpha1.GameServerSet) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: set.Namespace,
		Name:      set.Name,
		OwnerReferences: []metav1.OwnerReference{
			*metav1.NewControllerRef(set, gamev1alpha1.SchemeGroupVersion.WithKind(gamev1alpha1.GameServerSetKind)),
		},
	}
}

func selector(set *gamev1alpha1.GameServerSet) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{gamev1alpha1.GameServerOwnerGssKey: set.Name}}
}
