// SPDX-License-Identifier: Apache-2.0

package v1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/berthgames/berth/api/schedulerconfig"
)

// SetDefaultsIndexOffsetArgs fills in what the user left out.
func SetDefaultsIndexOffsetArgs(args *IndexOffsetArgs) {
	if args.Distance == nil {
		args.Distance = ptr.To(schedulerconfig.DistanceNearest)
	}
	if args.TopologyKey == nil {
		args.TopologyKey = ptr.To(corev1.LabelHostname)
	}
}
