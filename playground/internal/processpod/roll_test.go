// SPDX-License-Identifier: Apache-2.0

package processpod

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/berthgames/berth/playground/internal/control"
	"github.com/berthgames/berth/playground/internal/state"
	"github.com/berthgames/berth/playground/internal/supervisor"
)

// sleeper is a manager whose program sleeps.
type sleeper struct {
	*testing.T
	*Manager
	program string
}

func newSleeper(t *testing.T) sleeper {
	t.Helper()
	t.Parallel()
	dir, err := state.At(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := dir.Create(); err != nil {
		t.Fatal(err)
	}
	s := sleeper{T: t, program: dir.Join("program")}
	s.write("#!/bin/sh\nexec sleep 600\n")
	backoff := supervisor.Backoff{Initial: time.Millisecond, Max: time.Millisecond, Reset: time.Hour}
	s.Manager = &Manager{
		dir: dir, supervisor: supervisor.New(backoff, func(map[string]state.Process) error { return nil }),
		sources: fakeSources{}, workloads: map[types.NamespacedName]*workload{},
		kubeconfig: func(context.Context, string, string) (string, error) { return "/kubeconfig", nil },
		env:        []string{"PATH=" + os.Getenv("PATH")},
	}
	t.Cleanup(func() {
		s.Close()
		for _, c := range s.supervisor.Status() {
			s.supervisor.Remove(c.Name)
		}
	})
	return s
}

func (s sleeper) write(script string) {
	s.Helper()
	if err := os.WriteFile(s.program, []byte(script), 0o700); err != nil {
		s.Fatal(err)
	}
}

// apply asks for replicas of a version and returns the components that the manager promises.
func (s sleeper) apply(replicas int32, version string) []control.Component {
	s.Helper()
	d := deployment(func(spec *corev1.PodSpec, c *corev1.Container) {
		c.ReadinessProbe = nil
		c.Args = []string{"--version=" + version}
	})
	d.Spec.Replicas = ptr.To(replicas)
	reply, err := s.Apply(s.Context(), control.WorkloadRequest{
		Deployments: []appsv1.Deployment{*d}, Binaries: map[string]string{"manager": s.program},
	})
	if err != nil {
		s.Fatal(err)
	}
	return reply.Components
}

// settled waits until exactly the components run and returns their process numbers.
func (s sleeper) settled(want []control.Component) map[string]int {
	s.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		var got []control.Component
		pids := map[string]int{}
		for _, c := range s.supervisor.Status() {
			if c.Ready {
				got = append(got, control.Component{Name: c.Name, Revision: c.Revision})
				pids[c.Name] = c.PID
			}
		}
		diff := cmp.Diff(want, got)
		if diff == "" {
			return pids
		}
		if time.Now().After(deadline) {
			s.Fatalf("components (-want +got):\n%s", diff)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestApplyKeepsWhatHasNotChanged(t *testing.T) {
	s := newSleeper(t)
	first := s.settled(s.apply(2, "1"))
	if diff := cmp.Diff(first, s.settled(s.apply(2, "1"))); diff != "" {
		t.Errorf("processes changed (-before +after):\n%s", diff)
	}
	more := s.settled(s.apply(3, "1"))
	less := s.settled(s.apply(1, "1"))
	if more["manager/0"] != first["manager/0"] || less["manager/0"] != first["manager/0"] {
		t.Errorf("scaling replaced a process: %v, %v, %v", first, more, less)
	}
}

func TestApplyReplacesWhatHasChanged(t *testing.T) {
	s := newSleeper(t)
	first := s.settled(s.apply(2, "1"))
	second := s.settled(s.apply(2, "2"))
	s.write("#!/bin/sh\nexec sleep 500\n")
	third := s.settled(s.apply(2, "2"))
	for _, name := range []string{"manager/0", "manager/1"} {
		if first[name] == second[name] {
			t.Errorf("%s is the same process after a change of its template", name)
		}
		if second[name] == third[name] {
			t.Errorf("%s is the same process after a change of its program", name)
		}
	}
}

func TestRefusedDeploymentsChangeNothing(t *testing.T) {
	s := newSleeper(t)
	before := s.settled(s.apply(1, "1"))
	good, bad := deployment(nil), deployment(nil)
	bad.Name = "bad" // its processes would have the names of d's
	_, err := s.Apply(s.Context(), control.WorkloadRequest{
		Deployments: []appsv1.Deployment{*good, *bad}, Binaries: map[string]string{"manager": s.program},
	})
	want := `deployment ns/bad: its processes would be called "manager", as those of deployment ns/d are`
	if errorText(err) != want {
		t.Errorf("error %v, want %s", err, want)
	}
	for name, pid := range before {
		if process, err := state.Identify(pid); err != nil {
			t.Errorf("process %v of %s: %v", process, name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(s.dir.Root(), "pods", "ns", "bad-0")); err == nil {
		t.Error("the refused deployment left files")
	}
}
