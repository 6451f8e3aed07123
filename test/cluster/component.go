// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// metricsPort is the port of the manager's metrics, as its Deployment declares it.
const metricsPort = "8080"

// Component is one process of the playground.
type Component struct {
	// Name is the component, with a number where it has several processes: "manager/0".
	Name string `json:"name"`
	// PID is 0 while the process is not running.
	PID      int  `json:"pid"`
	Ready    bool `json:"ready"`
	Restarts int  `json:"restarts"`
	// Ports maps a port the pod template declares to the loopback port that stands for it.
	Ports map[string]int `json:"ports"`
}

// Status lists the components.
func (c *Cluster) Status(ctx context.Context) ([]Component, error) {
	text, err := c.Playground(ctx, "status", "-o", "json")
	if err != nil {
		return nil, err
	}
	var status struct {
		Components []Component `json:"components"`
	}
	if err := json.Unmarshal([]byte(text), &status); err != nil {
		return nil, fmt.Errorf("reading the playground's status: %w", err)
	}
	return status.Components, nil
}

// Leads asks the process through its metrics whether it holds a lease.
func (c Component) Leads(ctx context.Context, lease string) (bool, error) {
	metrics, err := c.Metrics(ctx)
	if err != nil {
		return false, err
	}
	return strings.Contains(metrics, fmt.Sprintf("leader_election_master_status{name=%q} 1\n", lease)), nil
}

// Metrics reads the metrics of a manager process.
func (c Component) Metrics(ctx context.Context) (string, error) {
	url := fmt.Sprintf("http://127.0.0.1:%d/metrics", c.Ports[metricsPort])
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", fmt.Errorf("asking %s: %w", c.Name, err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", fmt.Errorf("reading the metrics of %s: %w", c.Name, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return "", fmt.Errorf("reading the metrics of %s: %w", c.Name, err)
	}
	return string(body), nil
}
