// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kinds of this group.
const (
	GameServerSetKind = "GameServerSet"
	GameServerKind    = "GameServer"
)

// SchemeGroupVersion names this version of the group.
var SchemeGroupVersion = schema.GroupVersion{Group: "game.kruise.io", Version: "v1alpha1"}

// GroupVersion is the same value under the name that controller-runtime users look for.
var GroupVersion = SchemeGroupVersion

// SchemeBuilder collects what AddToScheme does.
var SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

// AddToScheme makes the kinds of this group known to a scheme.
var AddToScheme = SchemeBuilder.AddToScheme

// Resource qualifies a resource name such as "gameservers" with the group.
func Resource(resource string) schema.GroupResource {
	return SchemeGroupVersion.WithResource(resource).GroupResource()
}

// Kind qualifies a kind such as "GameServer" with the group.
func Kind(kind string) schema.GroupKind {
	return SchemeGroupVersion.WithKind(kind).GroupKind()
}

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion,
		&GameServerSet{}, &GameServerSetList{},
		&GameServer{}, &GameServerList{},
	)
	metav1.AddToGroupVersion(scheme, SchemeGroupVersion)
	return nil
}
