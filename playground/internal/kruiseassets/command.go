// SPDX-License-Identifier: Apache-2.0

package kruiseassets

import (
	"fmt"
	"net"
	"strconv"
)

// Names that other parts of a playground meet.
const (
	// Namespace holds the manager's lease, secret and ServiceAccount.
	Namespace = "kruise-system"

	// ServiceAccount is the account in Namespace whose rights the manager needs.
	ServiceAccount = "kruise-manager"

	// Binary is the file name of the manager built from playground/kruise.
	Binary = "kruise-manager"

	// ReadyPath answers 200 on the health port once the webhooks of the manager answer.
	ReadyPath = "/readyz"

	host = "127.0.0.1"
)

// Ports are the loopback ports of one manager. Metrics 0 serves no metrics; the other two must be given.
type Ports struct{ Webhook, Health, Metrics int }

// Command returns arguments and additional environment ("KEY=value") for the binary. kubeconfig names the credentials
// of the ServiceAccount. The manager writes its serving certificates into certDir, which must exist and must stay the
// same over restarts, or the webhook configurations are rewritten each time.
func Command(kubeconfig, certDir string, ports Ports) (args, env []string) {
	metrics := "0"
	if ports.Metrics != 0 {
		metrics = address(ports.Metrics)
	}
	args = []string{
		"--kubeconfig=" + kubeconfig,
		"--health-addr=" + address(ports.Health),
		"--metrics-addr=" + metrics,
	}
	env = []string{
		"POD_NAMESPACE=" + Namespace,
		"WEBHOOK_HOST=" + host,
		fmt.Sprintf("WEBHOOK_PORT=%d", ports.Webhook),
		"WEBHOOK_CERT_DIR=" + certDir,
	}
	return args, env
}

func address(port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }
