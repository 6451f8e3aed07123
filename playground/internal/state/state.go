// SPDX-License-Identifier: Apache-2.0

// Package state owns the folder of one playground: where its files are, which processes belong to it, and its removal.
package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// recordName is the file that marks a folder as the state of a playground. No other folder is ever removed.
const recordName = "playground.json"

// Dir is the state folder of one playground.
type Dir struct{ root string }

// At returns the state folder at path, which need not exist.
func At(path string) (Dir, error) {
	root, err := filepath.Abs(path)
	if err != nil {
		return Dir{}, fmt.Errorf("finding state folder %s: %w", path, err)
	}
	return Dir{root: root}, nil
}

// Root returns the absolute path of the folder.
func (d Dir) Root() string { return d.root }

// Join returns the absolute path of a file in the folder.
func (d Dir) Join(elem ...string) string {
	return filepath.Join(append([]string{d.root}, elem...)...)
}

// Kubeconfig returns the path of the administrator's kubeconfig.
func (d Dir) Kubeconfig() string { return d.Join("kubeconfig") }

// ProgressLog returns the path of the progress lines of the start.
func (d Dir) ProgressLog() string { return d.Join("progress.log") }

// OptionsFile returns the path of the options that the daemon runs with.
func (d Dir) OptionsFile() string { return d.Join("options.json") }

// AuditDir returns the folder of the API server's audit log.
func (d Dir) AuditDir() string { return d.Join("audit") }

// Log returns the path of the log of a component. A slash in the name (as in "manager/0") becomes a dash.
func (d Dir) Log(component string) string {
	return d.Join("logs", strings.ReplaceAll(component, "/", "-")+".log")
}

// Exists tells whether the folder holds the state of a playground, running or not.
func (d Dir) Exists() bool {
	_, err := os.Stat(d.Join(recordName))
	return err == nil
}

// Create makes the folder. It refuses a folder that holds anything and is not the state of a playground.
func (d Dir) Create() error {
	entries, err := os.ReadDir(d.root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading state folder: %w", err)
	}
	if len(entries) > 0 && !d.Exists() {
		return fmt.Errorf("state folder %s is not empty and not made by a playground; choose another with --state", d.root)
	}
	for _, sub := range []string{"", "logs", "pki", "audit"} {
		if err := os.MkdirAll(d.Join(sub), 0o700); err != nil {
			return fmt.Errorf("making state folder: %w", err)
		}
	}
	if d.Exists() {
		return nil
	}
	return d.Save(Record{Phase: Starting})
}

// Lock keeps other daemons out of the folder until the function it returns is called or the process ends.
func (d Dir) Lock() (unlock func(), err error) {
	folder, err := os.Open(d.root)
	if err != nil {
		return nil, fmt.Errorf("opening state folder: %w", err)
	}
	if err := syscall.Flock(int(folder.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = folder.Close() // only read
		return nil, fmt.Errorf("state folder %s is in use by another daemon: %w", d.root, err)
	}
	return func() { _ = folder.Close() }, nil
}

// Remove deletes the folder with all it holds. It refuses a folder that no playground made; a missing one is fine.
func (d Dir) Remove() error {
	if _, err := os.Stat(d.root); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if !d.Exists() {
		return fmt.Errorf("refusing to remove %s: it is not the state folder of a playground", d.root)
	}
	// The record goes last, so that a removal that was cut short can be repeated.
	entries, err := os.ReadDir(d.root)
	if err != nil {
		return fmt.Errorf("reading state folder: %w", err)
	}
	for _, entry := range entries {
		if entry.Name() == recordName {
			continue
		}
		if err := os.RemoveAll(d.Join(entry.Name())); err != nil {
			return fmt.Errorf("removing state folder: %w", err)
		}
	}
	if err := os.RemoveAll(d.root); err != nil {
		return fmt.Errorf("removing state folder: %w", err)
	}
	return nil
}

// Phase says how far a playground is.
type Phase string

// The phases of a playground, in the order they happen. Failed ends a start that did not succeed.
const (
	Starting Phase = "starting"
	Ready    Phase = "ready"
	Stopping Phase = "stopping"
	Stopped  Phase = "stopped"
	Failed   Phase = "failed"
)

// Record is what other processes must know of a playground, also when its daemon is dead.
type Record struct {
	Phase Phase `json:"phase"`
	// Message tells why the phase is Failed.
	Message string `json:"message,omitempty"`
	// Daemon is the process that owns all others. Zero before the first start.
	Daemon Process `json:"daemon"`
	// Children are the processes of the components by component name.
	Children map[string]Process `json:"children,omitempty"`
}

// Load reads the record. A missing one is fs.ErrNotExist.
func (d Dir) Load() (Record, error) {
	var r Record
	raw, err := os.ReadFile(d.Join(recordName))
	if err != nil {
		return r, fmt.Errorf("reading state: %w", err)
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return r, fmt.Errorf("reading %s: %w", d.Join(recordName), err)
	}
	return r, nil
}

// Save replaces the record. Readers see the old or the new one, never a part.
func (d Dir) Save(r Record) error {
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding state: %w", err)
	}
	return WriteFile(d.Join(recordName), raw)
}

// WriteFile replaces a file, readable by its owner only, in one step.
func WriteFile(path string, data []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	_, writeErr := tmp.Write(data)
	if err := errors.Join(writeErr, tmp.Close()); err != nil {
		return errors.Join(fmt.Errorf("writing %s: %w", path, err), os.Remove(tmp.Name()))
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return errors.Join(fmt.Errorf("writing %s: %w", path, err), os.Remove(tmp.Name()))
	}
	return nil
}
