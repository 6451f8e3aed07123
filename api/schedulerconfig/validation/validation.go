// SPDX-License-Identifier: Apache-2.0

// Package validation says which values the arguments of Berth's scheduler plugins may have.
package validation

import (
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/berthgames/berth/api/schedulerconfig"
)

// ValidateIndexOffsetArgs returns what is wrong with args, which must have been defaulted.
func ValidateIndexOffsetArgs(path *field.Path, args *schedulerconfig.IndexOffsetArgs) field.ErrorList {
	var errs field.ErrorList
	switch args.Distance {
	case schedulerconfig.DistanceNearest, schedulerconfig.DistancePreceding:
	default:
		errs = append(errs, field.NotSupported(path.Child("distance"), args.Distance,
			[]schedulerconfig.Distance{schedulerconfig.DistanceNearest, schedulerconfig.DistancePreceding}))
	}
	if key := path.Child("topologyKey"); args.TopologyKey == "" {
		errs = append(errs, field.Required(key, "must be the name of a node label"))
	} else {
		errs = append(errs, metav1validation.ValidateLabelName(args.TopologyKey, key)...)
	}
	if args.RecentWindow != nil {
		window := path.Child("recentWindow")
		if *args.RecentWindow <= 0 {
			errs = append(errs, field.Invalid(window, args.RecentWindow.String(), "must be greater than zero"))
		}
		if args.Distance == schedulerconfig.DistancePreceding {
			errs = append(errs, field.Invalid(window, args.RecentWindow.String(), "may only be used with distance Nearest"))
		}
	}
	return errs
}
