// SPDX-License-Identifier: Apache-2.0

package test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	certutil "k8s.io/client-go/util/cert"
)

// hook are the values of testdata/hook.yaml.tmpl.
type hook struct{ Message, Version, Cert, Key, Mode string }

// TestInstallRunsDeployments installs a webhook with two replicas and follows it through its life.
func TestInstallRunsDeployments(t *testing.T) {
	t.Parallel()
	p := newPlayground(t)
	p.run("up", "--kruise=false", "--nodes", "0")
	cert, key, err := certutil.GenerateSelfSignedCertKey("hook.hook-system.svc", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	h := hook{
		Message: "first", Version: "1", Mode: hookMode,
		Cert: base64.StdEncoding.EncodeToString(cert), Key: base64.StdEncoding.EncodeToString(key),
	}
	p.install(h)

	refusal := p.refusal()
	for _, want := range []string{
		"pod=hook-deployment-", "user=system:serviceaccount:hook-system:hook ", "message=first ", "error=<nil>",
	} {
		if !strings.Contains(refusal, want) {
			t.Errorf("the refusal %q lacks %q", refusal, want)
		}
	}
	h.Message = "second"
	p.install(h)
	if c := p.component("hook/0"); c.Restarts != 0 {
		t.Errorf("a changed config map restarted the process: %+v", c)
	}
	p.eventually("the changed config map in the process", func() error { return contains(p.refusal(), "message=second ") })

	p.run("stop", "hook/0")
	if err := contains(p.refusal(), "pod=hook-deployment-1 "); err != nil {
		t.Error(err)
	}
	p.run("stop", "hook")
	p.eventually("a refusal that says why", func() error {
		return contains(p.refusal(), "none of the 2 process pods of service hook-system/hook is ready")
	})
	p.run("start", "hook")
	p.eventually("an answer again", func() error { return contains(p.refusal(), "pod=hook-deployment-") })

	before := p.component("hook/0")
	p.install(h)
	if after := p.component("hook/0"); after.PID != before.PID {
		t.Error("installing the same again restarted a process")
	}
	h.Version = "2"
	p.install(h)
	if after := p.component("hook/0"); after.PID == before.PID || after.Revision == before.Revision {
		t.Errorf("a changed template did not replace the process: %+v", after)
	}
	if err := contains(p.refusal(), "pod=hook-deployment-"); err != nil {
		t.Error(err)
	}
	processes := p.processes()
	p.run("down")
	p.nothingLeft(processes)
	p.noFolder()
}

// install installs the webhook, whose program is this test.
func (p playground) install(h hook) {
	p.Helper()
	folder := p.TempDir()
	manifests, err := template.ParseFiles("testdata/hook.yaml.tmpl")
	if err != nil {
		p.Fatal(err)
	}
	file, err := os.Create(filepath.Join(folder, "hook.yaml"))
	if err != nil {
		p.Fatal(err)
	}
	if err := manifests.Execute(file, h); err != nil {
		p.Fatal(err)
	}
	if err := file.Close(); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "kustomization.yaml"), []byte("resources: [hook.yaml]\n"), 0o600); err != nil {
		p.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		p.Fatal(err)
	}
	p.run("install", "-k", folder, "--binary", "hook="+self)
}

// refusal returns how the API server refuses a config map that the webhook does not want.
func (p playground) refusal() string {
	p.Helper()
	manifest := filepath.Join(p.TempDir(), "refused.yaml")
	const object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: refused, labels: {hook: refuse}}\n"
	if err := os.WriteFile(manifest, []byte(object), 0o600); err != nil {
		p.Fatal(err)
	}
	output, err := p.try(p.Context(), "kubectl", "create", "-f", manifest)
	if err == nil {
		p.Fatalf("the object was not refused: %s", output)
	}
	return output
}

func contains(text, want string) error {
	if !strings.Contains(text, want) {
		return fmt.Errorf("%q lacks %q", text, want)
	}
	return nil
}
