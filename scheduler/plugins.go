// SPDX-License-Identifier: Apache-2.0

// Package scheduler lists the plugins that Berth adds to kube-scheduler.
package scheduler

import (
	"k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"github.com/berthgames/berth/scheduler/indexoffset"
)

// Plugins returns the factory of each of our plugins under each of its names: the one list. Every profile of a
// scheduler builds instances of its own from it, so what profiles must share is created here, once per call, and handed
// to the factories that need it.
func Plugins() runtime.Registry {
	return runtime.Registry{
		indexoffset.Name:     indexoffset.New,
		indexoffset.SeedName: indexoffset.NewSeed,
	}
}
