// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
)

// narrow returns the manager as the rotator should see it: its requests for all Secrets of the namespace, and for all
// webhook configurations, ask for ours by name.
//
// The rotator builds a cache of its own from the manager's rest.Config, without selectors. Left so, the manager would need
// the right to read every Secret in its namespace; with the name in the request, RBAC can be limited to resourceNames.
func narrow(mgr ctrl.Manager, o Options) ctrl.Manager {
	names := map[string]string{
		"/api/v1/namespaces/" + o.ServiceNamespace + "/secrets":                 SecretName,
		"/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations":   MutatingConfiguration,
		"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations": ValidatingConfiguration,
	}
	config := rest.CopyConfig(mgr.GetConfig())
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return namer{next: next, names: names} })
	return narrowed{Manager: mgr, config: config}
}

type narrowed struct {
	ctrl.Manager
	config *rest.Config
}

// GetConfig returns a configuration whose requests are narrowed.
func (n narrowed) GetConfig() *rest.Config { return n.config }

// namer adds a field selector for one name to list and watch requests of the collections it knows.
type namer struct {
	next  http.RoundTripper
	names map[string]string
}

// RoundTrip implements http.RoundTripper.
func (n namer) RoundTrip(req *http.Request) (*http.Response, error) {
	for path, name := range n.names {
		// The API server may be reached below a path of its own, so only the end counts.
		if req.Method != http.MethodGet || !strings.HasSuffix(req.URL.Path, path) {
			continue
		}
		query := req.URL.Query()
		query.Set("fieldSelector", fields.OneTermEqualSelector("metadata.name", name).String())
		req = req.Clone(req.Context())
		req.URL.RawQuery = query.Encode()
		break
	}
	return n.next.RoundTrip(req)
}
