// SPDX-License-Identifier: Apache-2.0

// Package build makes objects for tests. What a builder returns is valid as it is; a test names only what matters to it.
package build

import (
	"maps"

	appspub "github.com/openkruise/kruise-api/apps/pub"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

// Namespace is where objects are unless a test says otherwise.
const Namespace = "default"

// Container is the name of the one container of a new set.
const Container = "game"

// GameServerSetBuilder makes a GameServerSet.
type GameServerSetBuilder struct {
	set gamev1alpha1.GameServerSet
}

// GameServerSet starts a set of one server with one container.
func GameServerSet(name string) *GameServerSetBuilder {
	replicas := int32(1)
	b := &GameServerSetBuilder{}
	b.set.Namespace, b.set.Name = Namespace, name
	b.set.Spec.Replicas = &replicas
	b.set.Spec.GameServerTemplate.Spec.Containers = []corev1.Container{{Name: Container, Image: "game:v1"}}
	return b
}

// InNamespace moves the set.
func (b *GameServerSetBuilder) InNamespace(namespace string) *GameServerSetBuilder {
	b.set.Namespace = namespace
	return b
}

// UID sets the UID, for tests without an API server.
func (b *GameServerSetBuilder) UID(uid string) *GameServerSetBuilder {
	b.set.UID = types.UID(uid)
	return b
}

// Replicas sets the wanted number of servers.
func (b *GameServerSetBuilder) Replicas(n int32) *GameServerSetBuilder {
	b.set.Spec.Replicas = &n
	return b
}

// Reserve sets the reserved ids, each a number such as "1" or a range such as "4-6".
func (b *GameServerSetBuilder) Reserve(ids ...string) *GameServerSetBuilder {
	b.set.Spec.ReserveGameServerIds = IDs(ids...)
	return b
}

// IDs is a list of reserved ids, each a number such as "1" or a range such as "4-6".
func IDs(ids ...string) []intstr.IntOrString {
	var list []intstr.IntOrString
	for _, id := range ids {
		list = append(list, intstr.Parse(id))
	}
	return list
}

// ReserveIDs makes the set keep the ids of removed servers reserved.
func (b *GameServerSetBuilder) ReserveIDs() *GameServerSetBuilder {
	b.set.Spec.ScaleStrategy.ScaleDownStrategyType = gamev1alpha1.ReserveIdsScaleDownStrategyType
	return b
}

// ReclaimDelete makes GameServers survive their pods.
func (b *GameServerSetBuilder) ReclaimDelete() *GameServerSetBuilder {
	b.set.Spec.GameServerTemplate.ReclaimPolicy = gamev1alpha1.DeleteGameServerReclaimPolicy
	return b
}

// TemplateLabel adds a label to the pods.
func (b *GameServerSetBuilder) TemplateLabel(key, value string) *GameServerSetBuilder {
	b.set.Spec.GameServerTemplate.Labels = added(b.set.Spec.GameServerTemplate.Labels, key, value)
	return b
}

// Annotation adds an annotation to the set itself.
func (b *GameServerSetBuilder) Annotation(key, value string) *GameServerSetBuilder {
	b.set.Annotations = added(b.set.Annotations, key, value)
	return b
}

// Image sets the image of the container.
func (b *GameServerSetBuilder) Image(image string) *GameServerSetBuilder {
	b.set.Spec.GameServerTemplate.Spec.Containers[0].Image = image
	return b
}

// Network sets the network type and its parameters, given as name, value, name, value.
func (b *GameServerSetBuilder) Network(networkType string, nameValues ...string) *GameServerSetBuilder {
	network := &gamev1alpha1.Network{NetworkType: networkType}
	for i := 0; i+1 < len(nameValues); i += 2 {
		network.NetworkConf = append(network.NetworkConf, gamev1alpha1.NetworkConfParams{Name: nameValues[i], Value: nameValues[i+1]})
	}
	b.set.Spec.Network = network
	return b
}

// PreDeleteHook holds servers that should be deleted while they carry the label with the value.
func (b *GameServerSetBuilder) PreDeleteHook(label, value string) *GameServerSetBuilder {
	b.set.Spec.Lifecycle = &appspub.Lifecycle{
		PreDelete: &appspub.LifecycleHook{LabelsHandler: map[string]string{label: value}},
	}
	return b
}

// Quality adds a service quality that runs a command in the container.
func (b *GameServerSetBuilder) Quality(name string, command ...string) *GameServerSetBuilder {
	quality := gamev1alpha1.ServiceQuality{Name: name, ContainerName: Container}
	quality.Exec = &corev1.ExecAction{Command: command}
	b.set.Spec.ServiceQualities = append(b.set.Spec.ServiceQualities, quality)
	return b
}

// Created sets the creation time, for tests without an API server.
func (b *GameServerSetBuilder) Created(at metav1.Time) *GameServerSetBuilder {
	b.set.CreationTimestamp = at
	return b
}

// Obj returns the set. The builder may be used on; what it makes shares nothing.
func (b *GameServerSetBuilder) Obj() *gamev1alpha1.GameServerSet {
	return b.set.DeepCopy()
}

func added(m map[string]string, key, value string) map[string]string {
	m = maps.Clone(m)
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}
