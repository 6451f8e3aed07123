// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/berthgames/berth/webhook/certs"
)

// second gives the arguments of another manager beside the running one.
func second(t *testing.T) (args []string, health string) {
	t.Helper()
	var addresses []string
	for range 2 {
		address, err := freeAddress()
		if err != nil {
			t.Fatal(err)
		}
		addresses = append(addresses, address)
	}
	return []string{
		"--webhook-bind-address=" + addresses[0],
		"--health-probe-bind-address=" + addresses[1],
		"--webhook-server-certs-dir=" + filepath.Join(t.TempDir(), "certs"),
	}, addresses[1]
}

// ends waits for a manager that must not go on, and returns what it said.
func ends(t *testing.T, w *world, args ...string) string {
	t.Helper()
	var said bytes.Buffer
	p, err := w.launch(&said, args...)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-p.ended:
		if err == nil {
			t.Error("it ended as if all were well")
		}
	case <-time.After(patience):
		t.Error("it goes on")
		if err := p.command.Process.Kill(); err != nil {
			t.Error(err)
		}
		if err := <-p.ended; err == nil {
			t.Error("it was not killed")
		}
	}
	return said.String()
}

// G01: a standby is as ready as the leader, with the certificate they share.
func TestStandbyIsReady(t *testing.T) {
	w := need(t)
	args, health := second(t)
	p, err := w.launch(os.Stderr, args...)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.ready(t.Context(), health); err != nil {
		t.Error(err)
	}
	if err := p.stop(); err != nil {
		t.Error(err)
	}
}

// Generation off: the files are somebody else's, here copies of those the running manager has.
func TestManagerServesWithFilesThatExist(t *testing.T) {
	w := need(t)
	args, health := second(t)
	dir := t.TempDir()
	for _, name := range []string{certs.CertFile, certs.KeyFile} {
		content, err := os.ReadFile(filepath.Join(w.dir, "certs", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, err := w.launch(os.Stderr, append(args, "--enable-cert-generation=false", "--webhook-server-certs-dir="+dir)...)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.ready(t.Context(), health); err != nil {
		t.Error(err)
	}
	if err := p.stop(); err != nil {
		t.Error(err)
	}
}

func TestManagerNamesTheFilesItMisses(t *testing.T) {
	w := need(t)
	args, _ := second(t)
	said := ends(t, w, append(args, "--enable-cert-generation=false")...)
	for _, want := range []string{certs.CertFile, certs.KeyFile, "no such file"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q: %s", want, said)
		}
	}
}

// B19: upstream's process looked healthy when it could not listen.
func TestManagerEndsWhenAPortIsTaken(t *testing.T) {
	w := need(t)
	for name, flag := range map[string]string{
		"webhook": "--webhook-bind-address=" + w.webhook,
		"health":  "--health-probe-bind-address=" + w.health,
		"metrics": "--metrics-bind-address=" + w.health,
	} {
		t.Run(name, func(t *testing.T) {
			args, _ := second(t)
			if said := ends(t, w, append(args, flag)...); !strings.Contains(said, "address already in use") {
				t.Errorf("it does not say why: %s", said)
			}
		})
	}
}
