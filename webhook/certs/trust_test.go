// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

var testOptions = Options{Generate: true, ServiceName: "webhook", ServiceNamespace: "games"}

func rotatorUsages() []x509.ExtKeyUsage { return []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} }

func configurations(mutating, validating []byte) []client.Object {
	return []client.Object{
		&admissionregistrationv1.MutatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: MutatingConfiguration},
			Webhooks: []admissionregistrationv1.MutatingWebhook{{
				Name: "pods", ClientConfig: admissionregistrationv1.WebhookClientConfig{CABundle: mutating},
			}},
		},
		&admissionregistrationv1.ValidatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: ValidatingConfiguration},
			Webhooks: []admissionregistrationv1.ValidatingWebhook{{
				Name: "sets", ClientConfig: admissionregistrationv1.WebhookClientConfig{CABundle: validating},
			}},
		},
	}
}

func TestTrusted(t *testing.T) {
	t.Parallel()
	ca, other := newAuthority(t), newAuthority(t)
	cert, key := ca.issue(t)
	good, bad := ca.pair.CertPEM, other.pair.CertPEM
	cases := map[string]struct {
		empty   bool
		objects []client.Object
		want    string
	}{
		"both bundles match":             {objects: configurations(good, good)},
		"no certificate yet":             {empty: true, objects: configurations(good, good), want: "reading the serving certificate"},
		"no bundle yet":                  {objects: configurations(good, nil), want: "caBundle of webhook sets"},
		"a bundle of another replica":    {objects: configurations(bad, good), want: "caBundle of webhook pods"},
		"a configuration is missing":     {objects: configurations(good, good)[:1], want: "reading the validating webhook configuration"},
		"nothing is installed (W-12)":    {want: "reading the mutating webhook configuration"},
		"two bundles, one of which fits": {objects: configurations(append(append([]byte{}, bad...), good...), good)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &Certificates{dir: t.TempDir(), reader: fake.NewClientBuilder().WithObjects(tc.objects...).Build()}
			if !tc.empty {
				if err := writePair(c.dir, cert, key); err != nil {
					t.Fatal(err)
				}
			}
			err := c.Trusted(httptest.NewRequest(http.MethodGet, "/readyz", nil))
			if tc.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// configured is a manager of which only the configuration is asked for.
type configured struct {
	ctrl.Manager
	config *rest.Config
}

func (c configured) GetConfig() *rest.Config { return c.config }

// The manager's Role names one Secret; a list without that name would be refused.
func TestNarrowAsksForOneName(t *testing.T) {
	t.Parallel()
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = append(got, r.Method+" "+r.URL.Path+" "+r.URL.Query().Get("fieldSelector"))
	}))
	defer server.Close()
	httpClient, err := rest.HTTPClientFor(narrow(configured{config: &rest.Config{Host: server.URL}}, testOptions).GetConfig())
	if err != nil {
		t.Fatal(err)
	}
	for _, call := range []string{
		"GET /api/v1/namespaces/games/secrets?watch=true",
		"GET /apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
		"GET /apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
		"GET /api/v1/namespaces/games/secrets/kruise-game-certs",
		"GET /api/v1/namespaces/other/secrets",
		"PUT /api/v1/namespaces/games/secrets",
	} {
		method, path, _ := strings.Cut(call, " ")
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := httpClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
	}
	want := []string{
		"GET /api/v1/namespaces/games/secrets metadata.name=kruise-game-certs",
		"GET /apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations metadata.name=kruise-game-mutating-webhook",
		"GET /apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations metadata.name=kruise-game-validating-webhook",
		"GET /api/v1/namespaces/games/secrets/kruise-game-certs ",
		"GET /api/v1/namespaces/other/secrets ",
		"PUT /api/v1/namespaces/games/secrets ",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("requests:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
