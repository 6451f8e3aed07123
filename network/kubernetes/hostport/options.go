// SPDX-License-Identifier: Apache-2.0

package hostport

import (
	"fmt"

	"github.com/berthgames/berth/internal/ports"
)

// Options are the operator's settings, section [kubernetes.hostPort] of config.toml.
type Options struct {
	// Range holds the host ports that may be given out.
	Range ports.Range
	// Blocked are numbers inside Range that are never given out. Numbers outside are of no consequence.
	Blocked []int32
}

// Validate refuses options that leave no number to give out.
func (o Options) Validate() error {
	if err := o.Range.Validate(); err != nil {
		return err
	}
	if o.usable() == 0 {
		return fmt.Errorf("every number of range %s is blocked", o.Range)
	}
	return nil
}

// usable is how many numbers may be given out.
func (o Options) usable() int {
	blocked := map[int32]bool{}
	for _, n := range o.Blocked {
		if o.Range.Contains(n) {
			blocked[n] = true
		}
	}
	return o.Range.Len() - len(blocked)
}
