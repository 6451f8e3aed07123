// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// folder copies the certificate from the Secret into the folder of this replica.
type folder struct {
	reader  client.Reader
	dir     string
	secret  types.NamespacedName
	written func()
}

// Reconcile brings the folder in step with the Secret.
func (f *folder) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	if req.NamespacedName != f.secret {
		return reconcile.Result{}, nil
	}
	secret := &corev1.Secret{}
	if err := f.reader.Get(ctx, f.secret, secret); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	cert, key := secret.Data[CertFile], secret.Data[KeyFile]
	if len(cert) == 0 || len(key) == 0 {
		return reconcile.Result{}, nil // shipped empty; the rotator fills it, which is an event
	}
	if _, err := tls.X509KeyPair(cert, key); err != nil {
		return reconcile.Result{}, reconcile.TerminalError(fmt.Errorf("reading the certificate of secret %s: %w", f.secret, err))
	}
	if err := writePair(f.dir, cert, key); err != nil {
		return reconcile.Result{}, err
	}
	f.written()
	return reconcile.Result{}, nil
}

// dataLink is the link that is swung to the folder of the newest pair, as the kubelet does for mounted Secrets
// (kubernetes pkg/volume/util/atomic_writer.go), so that certificate and key change in one step.
const dataLink = "..data"

// writePair puts certificate and key into dir so that both change in one step. Files and folders are for the owner
// only (fault W-12). It does nothing when they are there already.
func writePair(dir string, cert, key []byte) error {
	if hasContent(filepath.Join(dir, CertFile), cert) && hasContent(filepath.Join(dir, KeyFile), key) {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the certificate folder: %w", err)
	}
	previous, err := os.Readlink(filepath.Join(dir, dataLink))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("reading the certificate folder: %w", err)
	}
	pair, err := os.MkdirTemp(dir, "..pair-")
	if err != nil {
		return fmt.Errorf("making a folder for the new certificate: %w", err)
	}
	for name, content := range map[string][]byte{CertFile: cert, KeyFile: key} {
		if err := os.WriteFile(filepath.Join(pair, name), content, 0o600); err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
	}
	if err := swing(filepath.Join(dir, dataLink), filepath.Base(pair)); err != nil {
		return err
	}
	for _, name := range []string{KeyFile, CertFile} {
		if err := swing(filepath.Join(dir, name), filepath.Join(dataLink, name)); err != nil {
			return err
		}
	}
	if previous == "" {
		return nil
	}
	if err := os.RemoveAll(filepath.Join(dir, previous)); err != nil {
		return fmt.Errorf("removing the previous certificate: %w", err)
	}
	return nil
}

func hasContent(path string, want []byte) bool {
	got, err := os.ReadFile(path)
	return err == nil && bytes.Equal(got, want)
}

// swing makes path a symbolic link to target, whatever it was before, in one step. A link that is right is left alone.
func swing(path, target string) error {
	if current, err := os.Readlink(path); err == nil && current == target {
		return nil
	}
	fresh := path + ".new"
	if err := os.Remove(fresh); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("clearing %s: %w", fresh, err)
	}
	if err := os.Symlink(target, fresh); err != nil {
		return fmt.Errorf("linking %s: %w", path, err)
	}
	if err := os.Rename(fresh, path); err != nil {
		return fmt.Errorf("linking %s: %w", path, err)
	}
	return nil
}
