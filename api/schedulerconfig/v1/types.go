// SPDX-License-Identifier: Apache-2.0

// Package v1 holds the arguments of Berth's scheduler plugins as users write them in a KubeSchedulerConfiguration,
// under profiles[].pluginConfig[].args. Decoding is strict: a name or value that is not understood is an error that
// names both.
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthgames/berth/api/schedulerconfig"
)

// APIVersion is the only apiVersion that args may state. They may also state none, and no kind.
const APIVersion = "kubescheduler.config.k8s.io/v1"

// IndexOffsetArgs are the arguments of the score plugin IndexOffset.
type IndexOffsetArgs struct {
	metav1.TypeMeta `json:",inline"`

	// distance is how a pod's index is compared with those of its peers: "Nearest" measures to the closest one on
	// either side, "Preceding" to the closest one below, as OpenKruiseGame's scheduler does. Default: Nearest.
	Distance *schedulerconfig.Distance `json:"distance,omitempty"`

	// topologyKey is the node label whose values are the places to spread over, for example
	// topology.kubernetes.io/zone. A node without the label is a place of its own. Default: kubernetes.io/hostname,
	// which always means the single node.
	TopologyKey *string `json:"topologyKey,omitempty"`

	// recentWindow is how long a server counts as new, such as "30m". A peer older than this counts as twice as far
	// away, because new servers are the busy ones. Must be positive; only with distance Nearest. Default: absent, every
	// peer counts alike.
	RecentWindow *metav1.Duration `json:"recentWindow,omitempty"`
}
