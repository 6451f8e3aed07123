// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Network says how players reach the servers of a set: which network plugin, and its parameters.
//
// +kubebuilder:validation:XValidation:rule=`size(self.?networkType.orValue("")) > 0 || (oldSelf.hasValue() && size(oldSelf.?networkType.orValue("")) == 0)`,optionalOldSelf=true,fieldPath=".networkType",reason=FieldValueRequired,message="must name a network plugin"
// +kubebuilder:validation:XValidation:rule=`size(oldSelf.?networkType.orValue("")) == 0 || oldSelf.networkType == self.?networkType.orValue("")`,fieldPath=".networkType",reason=FieldValueForbidden,message="may not change once it is set",messageExpression=`"may not change from '" + oldSelf.networkType + "' to '" + self.networkType + "'; for another plugin create another GameServerSet"`
type Network struct {
	// networkType is the exact name of a network plugin, for example "Kubernetes-HostPort". It must not be empty and
	// cannot change once it is set.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	NetworkType string `json:"networkType,omitempty"`

	// networkConf holds the parameters of the plugin, in an order that some plugins give a meaning. A name may occur
	// more than once only where the plugin says so. May change at any time unless the plugin says otherwise; a running
	// server follows when its pod gets the new annotation, which an in-place update brings without a restart.
	// +optional
	// +listType=atomic
	NetworkConf []NetworkConfParams `json:"networkConf,omitempty"`
}

// NetworkConfParams is one parameter of a network plugin.
type NetworkConfParams struct {
	// name of the parameter, as the plugin documents it.
	// +optional
	Name string `json:"name,omitempty"`

	// value of the parameter, in the format the plugin documents.
	// +optional
	Value string `json:"value,omitempty"`
}

// AllowNotReadyContainersNetworkConfName is the parameter that every plugin with a Service per pod understands: names
// of containers, separated by commas, whose in-place update does not take the pod out of its Service.
// Read by the network plugins and by the GameServerSet controller; absent means none.
const AllowNotReadyContainersNetworkConfName = "AllowNotReadyContainers"

// NetworkState says whether players can reach a server.
type NetworkState string

// The network states. Waiting is only ever a current state: the plugin works on it.
const (
	NetworkReady    NetworkState = "Ready"
	NetworkWaiting  NetworkState = "Waiting"
	NetworkNotReady NetworkState = "NotReady"
)

// NetworkStatus tells how one game server can be reached. The same document, with the same field order, stands in
// GameServer.status.networkStatus and in the pod annotation game.kruise.io/network-status. In the annotation unset
// times are written as null, which readers of upstream's annotation expect.
type NetworkStatus struct {
	// networkType is the name of the plugin. Set by the GameServer controller, never in the annotation.
	// +optional
	NetworkType string `json:"networkType,omitempty"`

	// internalAddresses are the addresses to reach the server at from inside the cluster.
	// +optional
	// +listType=atomic
	InternalAddresses []NetworkAddress `json:"internalAddresses,omitempty"`

	// externalAddresses are the addresses players use.
	// +optional
	// +listType=atomic
	ExternalAddresses []NetworkAddress `json:"externalAddresses,omitempty"`

	// desiredNetworkState is Ready, or NotReady when the network of the server is disabled. Set by the GameServer
	// controller, never in the annotation.
	// +optional
	DesiredNetworkState NetworkState `json:"desiredNetworkState,omitempty"`

	// currentNetworkState is Ready, Waiting or NotReady.
	// +optional
	CurrentNetworkState NetworkState `json:"currentNetworkState,omitempty"`

	// createTime is when the network of the server was first seen. Set by the GameServer controller.
	// +optional
	// +nullable
	CreateTime metav1.Time `json:"createTime"`

	// lastTransitionTime is when currentNetworkState last changed. Set by the GameServer controller.
	// +optional
	// +nullable
	LastTransitionTime metav1.Time `json:"lastTransitionTime"`
}

// NetworkAddress is one address with the ports open on it.
type NetworkAddress struct {
	// ip is always present, and empty when only a host name is known.
	IP string `json:"ip"`

	// ports open on the address.
	// +optional
	// +listType=atomic
	Ports []NetworkPort `json:"ports,omitempty"`

	// portRange is a whole range of ports open on the address, instead of or beside single ports.
	// +optional
	PortRange *NetworkPortRange `json:"portRange,omitempty"`

	// endPoint is a host name, or another way to reach the server that is not an IP address.
	// +optional
	EndPoint string `json:"endPoint,omitempty"`
}

// NetworkPort is one port of an address.
type NetworkPort struct {
	// name of the port; plugins use the container port number or a name of their own.
	Name string `json:"name"`

	// protocol is TCP, UDP or SCTP.
	// +optional
	Protocol corev1.Protocol `json:"protocol,omitempty"`

	// port is the number, which some plugins write as text.
	// +optional
	Port *intstr.IntOrString `json:"port,omitempty"`
}

// NetworkPortRange is a range of ports of an address.
type NetworkPortRange struct {
	// protocol is TCP, UDP or SCTP.
	// +optional
	Protocol corev1.Protocol `json:"protocol,omitempty"`

	// portRange is "first-last", both included.
	// +optional
	PortRange string `json:"portRange,omitempty"`
}
