// SPDX-License-Identifier: Apache-2.0

// Package ports chooses port numbers that are free where they will be used.
//
// It has three parts, and none of them speaks to an API server:
//
//	Range     the operator's numbers
//	Ledger    who uses which number on which node, and what is promised but not yet seen; fed by events
//	choose    k different numbers out of what the ledger says is free
//
// A number is used per node, host address and protocol, as the scheduler's own check counts it (kubernetes
// pkg/scheduler/framework/plugins/nodeports and k8s.io/kube-scheduler/framework, HostPortInfo): TCP and UDP are
// independent, and the wildcard address meets every address.
package ports

import (
	"fmt"
	"strconv"
)

// MaxPort is the highest port number there is.
const MaxPort int32 = 65535

// Range is a set of consecutive port numbers, both ends included. The zero Range holds no number.
type Range struct {
	Min, Max int32
}

// Validate refuses a range that is empty or leaves 1-65535.
func (r Range) Validate() error {
	if r.Min < 1 || r.Max > MaxPort || r.Max < r.Min {
		return fmt.Errorf("range %d-%d must lie within 1-%d and must not end before it begins", r.Min, r.Max, MaxPort)
	}
	return nil
}

// Contains reports whether n lies in the range.
func (r Range) Contains(n int32) bool { return r.Min <= n && n <= r.Max && n > 0 }

// Len is how many numbers the range holds.
func (r Range) Len() int {
	if r.Min < 1 || r.Max < r.Min {
		return 0
	}
	return int(r.Max-r.Min) + 1
}

// String gives "8000-9000", or "8000" for a single number.
func (r Range) String() string {
	if r.Min == r.Max {
		return strconv.Itoa(int(r.Min))
	}
	return fmt.Sprintf("%d-%d", r.Min, r.Max)
}
