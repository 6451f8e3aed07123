// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/berthgames/berth/network/framework"
)

// Metrics count what network plugins answered to new pods.
type Metrics struct {
	admissions *prometheus.CounterVec
}

// NewMetrics registers the metrics.
func NewMetrics(registry prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{admissions: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "berth_webhook_pod_admissions_total",
		Help: `Answers of network plugins to new pods, by plugin and outcome: "admitted", or the reason of the refusal.`,
	}, []string{"plugin", "outcome"})}
	if err := registry.Register(m.admissions); err != nil {
		return nil, fmt.Errorf("registering the metrics of the pod webhook: %w", err)
	}
	return m, nil
}

// admitted counts one answer. A nil Metrics counts nothing.
func (m *Metrics) admitted(plugin string, err error) {
	if m == nil {
		return
	}
	outcome := "admitted"
	if err != nil {
		outcome = framework.EventReason(err)
	}
	m.admissions.WithLabelValues(plugin, outcome).Inc()
}
