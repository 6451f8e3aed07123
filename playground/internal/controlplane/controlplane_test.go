// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/audit/policy"
	"k8s.io/apiserver/pkg/server/egressselector"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"

	"github.com/berthgames/berth/playground/internal/progress"
	"github.com/berthgames/berth/playground/internal/state"
	"github.com/berthgames/berth/playground/internal/supervisor"
)

func newPlane(t *testing.T) *ControlPlane {
	t.Helper()
	dir, err := state.At(filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	if err := dir.Create(); err != nil {
		t.Fatal(err)
	}
	return &ControlPlane{Dir: dir, Binary: "/playground", Env: []string{"A=b"}}
}

func TestAPIServerAcceptsItsConfigurations(t *testing.T) {
	t.Parallel()
	c := newPlane(t)
	if err := c.writeConfigs(); err != nil {
		t.Fatal(err)
	}
	egress, err := egressselector.ReadEgressSelectorConfiguration(c.Dir.Join(egressConfigName))
	if err != nil {
		t.Fatal(err)
	}
	if got := egress.EgressSelections[0].Connection.Transport.UDS.UDSName; got != EgressSocket {
		t.Errorf("the API server would dial %q, want %q", got, EgressSocket)
	}
	if _, err := policy.LoadPolicyFromFile(c.Dir.Join(auditPolicyName)); err != nil {
		t.Error(err)
	}
}

func TestKeysFitTogether(t *testing.T) {
	t.Parallel()
	c := newPlane(t)
	keys, err := newPKI(c.Dir)
	if err != nil {
		t.Fatal(err)
	}
	path := c.Dir.Kubeconfig()
	if err := keys.kubeconfig(path, "https://127.0.0.1:20000", "somebody", "system:masters"); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	ca := x509.NewCertPool()
	if !ca.AppendCertsFromPEM(config.CAData) {
		t.Fatal("no certificate authority in the kubeconfig")
	}
	client := leaf(t, config.CertData, config.KeyData)
	if client.Subject.CommonName != "somebody" || !slices.Equal(client.Subject.Organization, []string{"system:masters"}) {
		t.Errorf("the certificate is for %s", client.Subject)
	}
	verify(t, client, x509.VerifyOptions{Roots: ca, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})

	server := leaf(t, read(t, keys.path("apiserver.crt")), read(t, keys.path("apiserver.key")))
	for _, host := range []string{"127.0.0.1", "localhost", "kubernetes.default.svc"} {
		verify(t, server, x509.VerifyOptions{Roots: ca, DNSName: host})
	}
	frontProxy := x509.NewCertPool()
	frontProxy.AppendCertsFromPEM(read(t, keys.path("front-proxy-ca.crt")))
	proxy := leaf(t, read(t, keys.path("front-proxy-client.crt")), read(t, keys.path("front-proxy-client.key")))
	verify(t, proxy, x509.VerifyOptions{Roots: frontProxy, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	if _, err := proxy.Verify(x509.VerifyOptions{Roots: ca, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err == nil {
		t.Error("the front proxy's certificate would be taken for a user's")
	}
}

func TestOptionsReachTheFlags(t *testing.T) {
	t.Parallel()
	c := newPlane(t)
	keys, err := newPKI(c.Dir)
	if err != nil {
		t.Fatal(err)
	}
	p := ports{etcd: 1, etcdPeer: 2, apiServer: 3}
	has := func(change func(*ControlPlane), flag string) bool {
		changed := newPlane(t)
		changed.Dir = c.Dir
		change(changed)
		return slices.Contains(args(t, changed, p, keys), flag)
	}
	none := func(*ControlPlane) {}
	auditFlag := "--audit-log-path=" + c.Dir.Join("audit", "audit.log")
	if has(none, auditFlag) || !has(func(c *ControlPlane) { c.Audit = true }, auditFlag) {
		t.Error("the audit log does not follow its option")
	}
	if !has(none, "--unsafe-no-fsync") || has(func(c *ControlPlane) { c.EtcdFsync = true }, "--unsafe-no-fsync") {
		t.Error("etcd's writing to the disk does not follow its option")
	}
}

func TestStartGivesUpAfterSomeAttempts(t *testing.T) {
	t.Parallel()
	c := newPlane(t)
	c.Binary = c.Dir.Join("program")
	if err := os.WriteFile(c.Binary, []byte("#!/bin/sh\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	c.Progress = progress.New(&out, clock.RealClock{})
	c.Supervisor = supervisor.New(supervisor.DefaultBackoff(), func(map[string]state.Process) error { return nil })
	err := c.Start(t.Context())
	var exited *supervisor.ExitedError
	if !errors.As(err, &exited) || exited.Status.Message != "exit status 3" {
		t.Errorf("error %v, want one that says how etcd ended", err)
	}
	if got := strings.Count(out.String(), "trying again with other ports"); got != attempts-1 {
		t.Errorf("%d further attempts, want %d:\n%s", got, attempts-1, out.String())
	}
	c.Supervisor.Remove("etcd")
}

// args returns the arguments of etcd and the API server.
func args(t *testing.T, c *ControlPlane, p ports, keys *pki) []string {
	t.Helper()
	etcd, err := c.etcd(p).Command(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	server, err := c.apiServer(p, keys).Command(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(etcd.Args, server.Args)
}

func leaf(t *testing.T, cert, key []byte) *x509.Certificate {
	t.Helper()
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	return pair.Leaf
}

func verify(t *testing.T, cert *x509.Certificate, o x509.VerifyOptions) {
	t.Helper()
	if _, err := cert.Verify(o); err != nil {
		t.Errorf("certificate of %s: %v", cert.Subject, err)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
