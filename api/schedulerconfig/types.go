// SPDX-License-Identifier: Apache-2.0

// Package schedulerconfig holds the arguments of Berth's scheduler plugins in the form the plugins work with: every
// default filled in, every value typed. What users write is in its v1 package, what is allowed in validation.
package schedulerconfig

import "time"

// Distance is the way in which IndexOffset measures how far a pod's index lies from its peers on a node.
type Distance string

const (
	// DistanceNearest measures to the closest peer on either side: pod 2 is 1 away from pod 3 and 2 away from pod 0.
	DistanceNearest Distance = "Nearest"
	// DistancePreceding measures to the closest peer below; where all peers are above, the smallest peer index stands
	// for the distance. This is the formula of OpenKruiseGame's index-offset scheduler.
	DistancePreceding Distance = "Preceding"
)

// IndexOffsetArgs are the arguments of the score plugin IndexOffset.
type IndexOffsetArgs struct {
	// Distance is how far two indexes lie apart.
	Distance Distance
	// TopologyKey is the node label whose values divide the nodes into the places that peers are spread over.
	TopologyKey string
	// RecentWindow is the age up to which a peer counts in full; an older one counts as twice as far away.
	// Nil: all peers count in full. Positive, and only with DistanceNearest.
	RecentWindow *time.Duration
}
