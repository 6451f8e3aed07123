// SPDX-License-Identifier: Apache-2.0

package ports

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func TestHeldBy(t *testing.T) {
	t.Parallel()
	container := func(name string, ports ...corev1.ContainerPort) corev1.Container {
		return corev1.Container{Name: name, Ports: ports}
	}
	sidecar := func(c corev1.Container) corev1.Container {
		c.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
		return c
	}
	cases := map[string]struct {
		spec corev1.PodSpec
		want []Port
	}{
		"container ports without a host port hold nothing": {
			spec: corev1.PodSpec{Containers: []corev1.Container{container("a", corev1.ContainerPort{ContainerPort: 80})}},
		},
		"no protocol is TCP; protocols of one number are apart (A24)": {
			spec: corev1.PodSpec{Containers: []corev1.Container{container("a",
				corev1.ContainerPort{HostPort: 80}, corev1.ContainerPort{HostPort: 80, Protocol: corev1.ProtocolUDP})}},
			want: []Port{{TCP, 80}, {UDP, 80}},
		},
		"sidecars count, init containers that end do not (A21)": {
			spec: corev1.PodSpec{InitContainers: []corev1.Container{
				sidecar(container("s", corev1.ContainerPort{HostPort: 8081})),
				container("i", corev1.ContainerPort{HostPort: 8082}),
			}},
			want: []Port{{TCP, 8081}},
		},
		"one number on two host addresses is held once": {
			spec: corev1.PodSpec{Containers: []corev1.Container{container("a",
				corev1.ContainerPort{HostPort: 80, HostIP: "10.0.0.1"}, corev1.ContainerPort{HostPort: 80, HostIP: "10.0.0.2"})}},
			want: []Port{{TCP, 80}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, HeldBy(&corev1.Pod{Spec: tc.spec})); diff != "" {
				t.Errorf("held ports (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFinished(t *testing.T) {
	t.Parallel()
	for phase, want := range map[corev1.PodPhase]bool{
		corev1.PodPending: false, corev1.PodRunning: false, corev1.PodUnknown: false, corev1.PodSucceeded: true, corev1.PodFailed: true,
	} {
		if got := Finished(&corev1.Pod{Status: corev1.PodStatus{Phase: phase}}); got != want {
			t.Errorf("%s: got %v", phase, got)
		}
	}
}

func TestRange(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		r      Range
		text   string
		len    int
		wantOK bool
	}{
		"a range":            {r: Range{8000, 9000}, text: "8000-9000", len: 1001, wantOK: true},
		"a single number":    {r: Range{8000, 8000}, text: "8000", len: 1, wantOK: true},
		"everything":         {r: Range{1, 65535}, text: "1-65535", len: 65535, wantOK: true},
		"ends before begins": {r: Range{9000, 8000}, text: "9000-8000"},
		"begins at zero":     {r: Range{0, 10}, text: "0-10"},
		"ends too high":      {r: Range{65000, 65536}, text: "65000-65536", len: 537},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := tc.r.Validate(); (err == nil) != tc.wantOK {
				t.Errorf("Validate: %v", err)
			}
			if got := tc.r.String(); got != tc.text {
				t.Errorf("String: %q", got)
			}
			if got := tc.r.Len(); got != tc.len {
				t.Errorf("Len: %d", got)
			}
			for _, n := range []int32{tc.r.Min - 1, tc.r.Max + 1} {
				if tc.r.Contains(n) {
					t.Errorf("contains %d", n)
				}
			}
		})
	}
}

func TestExhaustedErrorText(t *testing.T) {
	t.Parallel()
	err := &ExhaustedError{Kind: "host port", Protocols: TCP | UDP, Range: Range{8000, 9000}, Want: 1, Free: 0, Where: "on node n1"}
	if diff := cmp.Diff("1 host port (TCP+UDP) in 8000-9000 wanted, 0 free on node n1", err.Error()); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}
