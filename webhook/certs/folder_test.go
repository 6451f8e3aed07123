// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"context"
	"crypto/tls"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/open-policy-agent/cert-controller/pkg/rotator"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// authority makes certificates as the rotator does.
type authority struct {
	rotator *rotator.CertRotator
	pair    *rotator.KeyPairArtifacts
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	usages := rotatorUsages()
	r := &rotator.CertRotator{CAName: "ca", DNSName: testOptions.host(), ExtraDNSNames: testOptions.hosts()[1:], ExtKeyUsages: &usages}
	pair, err := r.CreateCACert(time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return authority{rotator: r, pair: pair}
}

func (a authority) issue(t *testing.T) (cert, key []byte) {
	t.Helper()
	cert, key, err := a.rotator.CreateCertPEM(a.pair, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return cert, key
}

func load(t *testing.T, dir string) []byte {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, CertFile), filepath.Join(dir, KeyFile))
	if err != nil {
		t.Fatal(err)
	}
	return pair.Certificate[0]
}

// W-12: upstream's files were 0666 and its folders 0777.
func TestWritePairIsForTheOwnerOnlyAndLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	dir := filepath.Join(t.TempDir(), "certs")
	var last []byte
	for range 3 {
		cert, key := ca.issue(t)
		if err := writePair(dir, cert, key); err != nil {
			t.Fatal(err)
		}
		now := load(t, dir)
		if slices.Equal(now, last) {
			t.Error("the certificate did not change")
		}
		last = now
	}
	var names []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if open := info.Mode().Perm() & 0o077; open != 0 && info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s has mode %s", path, info.Mode())
		}
		names = append(names, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// The folder, one pair with two files, the data link and two links.
	if len(names) != 7 {
		t.Errorf("%d entries are left after three pairs: %q", len(names), names)
	}
}

func TestWritePairWritesOnlyWhatIsNew(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := newAuthority(t).issue(t)
	if err := writePair(dir, cert, key); err != nil {
		t.Fatal(err)
	}
	before, err := os.Readlink(filepath.Join(dir, dataLink))
	if err != nil {
		t.Fatal(err)
	}
	if err := writePair(dir, cert, key); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Readlink(filepath.Join(dir, dataLink)); err != nil || after != before {
		t.Errorf("the same pair was written again: %s, %v", after, err)
	}
}

// A process may have been killed half way, and another version may have left plain files.
func TestWritePairTakesOverWhatItFinds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{CertFile, KeyFile, dataLink + ".new", CertFile + ".new"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cert, key := newAuthority(t).issue(t)
	if err := writePair(dir, cert, key); err != nil {
		t.Fatal(err)
	}
	load(t, dir)
}

func TestFolderFollowsTheSecret(t *testing.T) {
	t.Parallel()
	cert, key := newAuthority(t).issue(t)
	cases := map[string]struct {
		data      map[string][]byte
		request   types.NamespacedName
		wantFiles bool
		wantErr   bool
	}{
		"a filled Secret":                        {data: map[string][]byte{CertFile: cert, KeyFile: key}, wantFiles: true},
		"the Secret as it is shipped":            {},
		"a Secret that is no certificate":        {data: map[string][]byte{CertFile: []byte("x"), KeyFile: []byte("y")}, wantErr: true},
		"an event of another Secret is no event": {data: map[string][]byte{CertFile: cert, KeyFile: key}, request: types.NamespacedName{Namespace: "a", Name: "b"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, written := t.TempDir(), false
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: testOptions.ServiceNamespace, Name: SecretName}, Data: tc.data}
			f := &folder{
				reader: fake.NewClientBuilder().WithObjects(secret).Build(), dir: dir, secret: testOptions.secret(), written: func() { written = true },
			}
			request := tc.request
			if request.Name == "" {
				request = testOptions.secret()
			}
			_, err := f.Reconcile(context.WithoutCancel(t.Context()), reconcile.Request{NamespacedName: request})
			if (err != nil) != tc.wantErr {
				t.Fatalf("error %v", err)
			}
			if written != tc.wantFiles || hasContent(filepath.Join(dir, CertFile), cert) != tc.wantFiles {
				t.Errorf("files written: %t", written)
			}
		})
	}
}
