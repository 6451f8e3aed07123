// SPDX-License-Identifier: Apache-2.0

package state

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFolderLivesFromCreateToRemove(t *testing.T) {
	t.Parallel()
	dir := at(t, filepath.Join(t.TempDir(), "a", "playground"))
	if dir.Exists() {
		t.Fatal("a folder exists before it is made")
	}
	if err := dir.Create(); err != nil {
		t.Fatal(err)
	}
	want := Record{Phase: Ready, Daemon: Process{PID: 7, Start: "boot/1"}, Children: map[string]Process{"etcd": {PID: 8, Start: "boot/2"}}}
	if err := dir.Save(want); err != nil {
		t.Fatal(err)
	}
	if err := dir.Create(); err != nil {
		t.Errorf("creating again: %v", err)
	}
	got, err := dir.Load()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	if err := dir.Remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir.Root()); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
	if err := dir.Remove(); err != nil {
		t.Errorf("removing again: %v", err)
	}
}

func TestFoldersOfOthersAreLeftAlone(t *testing.T) {
	t.Parallel()
	dir := at(t, t.TempDir())
	precious := dir.Join("precious")
	if err := os.WriteFile(precious, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := dir.Create(); err == nil {
		t.Error("a folder with other files was taken for a state folder")
	}
	if err := dir.Remove(); err == nil {
		t.Error("a folder that no playground made was removed")
	}
	if _, err := os.Stat(precious); err != nil {
		t.Error(err)
	}
}

func TestLockKeepsASecondDaemonOut(t *testing.T) {
	t.Parallel()
	dir := at(t, t.TempDir())
	if err := dir.Create(); err != nil {
		t.Fatal(err)
	}
	unlock, err := dir.Lock()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dir.Lock(); err == nil {
		t.Error("the folder was locked twice")
	}
	unlock()
	unlock, err = dir.Lock()
	if err != nil {
		t.Fatalf("locking after unlocking: %v", err)
	}
	unlock()
}

func TestLogNamesAreFiles(t *testing.T) {
	t.Parallel()
	dir := at(t, "/state")
	if got, want := dir.Log("manager/0"), "/state/logs/manager-0.log"; got != want {
		t.Errorf("log %s, want %s", got, want)
	}
}

func at(t *testing.T, path string) Dir {
	t.Helper()
	dir, err := At(path)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
