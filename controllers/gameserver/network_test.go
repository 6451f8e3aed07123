// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

const readyReport = `{"internalAddresses":[{"ip":"172.16.1.132","ports":[{"name":"80","protocol":"TCP","port":80}]}],` +
	`"externalAddresses":[{"ip":"47.99.47.99","ports":[{"name":"80","protocol":"TCP","port":601}]}],` +
	`"currentNetworkState":"Ready","createTime":null,"lastTransitionTime":null}`

func networked(report string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Annotations[gamev1alpha1.GameServerNetworkType] = "Some-Network"
		pod.Annotations[gamev1alpha1.GameServerNetworkConf] = `[{"name":"Port","value":"80"}]`
		if report != "" {
			pod.Annotations[gamev1alpha1.GameServerNetworkStatus] = report
		}
	}
}

func address(ip string, port int32) []gamev1alpha1.NetworkAddress {
	return []gamev1alpha1.NetworkAddress{{IP: ip, Ports: []gamev1alpha1.NetworkPort{{
		Name: "80", Protocol: corev1.ProtocolTCP, Port: ptr.To(intstr.FromInt32(port)),
	}}}}
}

func TestNetworkStatus(t *testing.T) {
	t.Parallel()
	const ready, waiting, notReady = gamev1alpha1.NetworkReady, gamev1alpha1.NetworkWaiting, gamev1alpha1.NetworkNotReady
	began, now := stamp(start().Add(time.Second)), stamp(noon())
	status := func(desired, current gamev1alpha1.NetworkState, create, last metav1.Time, addresses bool) gamev1alpha1.NetworkStatus {
		s := gamev1alpha1.NetworkStatus{
			NetworkType: "Some-Network", DesiredNetworkState: desired, CurrentNetworkState: current, CreateTime: create, LastTransitionTime: last,
		}
		if addresses {
			s.InternalAddresses, s.ExternalAddresses = address("172.16.1.132", 80), address("47.99.47.99", 601)
		}
		return s
	}
	cases := map[string]struct {
		stored   gamev1alpha1.NetworkStatus
		pod      *corev1.Pod
		disabled bool
		want     gamev1alpha1.NetworkStatus
	}{
		"no network": {pod: aPod()},
		"the network was removed": {
			stored: status(ready, ready, began, began, true), pod: aPod(),
		},
		"F17: the first look reads a report that is there": {
			pod: aPod(networked(readyReport)), want: status(ready, ready, now, now, true),
		},
		"first seen without a report": {
			pod: aPod(networked("")), want: status(ready, notReady, now, now, false),
		},
		"the report is taken over": {
			stored: status(ready, notReady, began, began, false), pod: aPod(networked(readyReport)),
			want: status(ready, ready, began, now, true),
		},
		"nothing new keeps the time": {
			stored: status(ready, ready, began, began, true), pod: aPod(networked(readyReport)),
			want: status(ready, ready, began, began, true),
		},
		"G-2, F13: without a report the time stands": {
			stored: status(ready, notReady, began, began, false), pod: aPod(networked("")),
			want: status(ready, notReady, began, began, false),
		},
		"the report vanished: the addresses of this pod stay, the time moves once": {
			stored: status(ready, ready, began, began, true), pod: aPod(networked("")),
			want: status(ready, notReady, began, now, true),
		},
		"a report that cannot be read counts as none": {
			stored: status(ready, ready, began, began, true), pod: aPod(networked("{")),
			want: status(ready, notReady, began, now, true),
		},
		"F17: parameters that cannot be read change nothing": {
			stored: status(ready, ready, began, began, true),
			pod:    aPod(networked(readyReport), annotation(gamev1alpha1.GameServerNetworkConf, "no json")),
			want:   status(ready, ready, began, began, true),
		},
		"F27: addresses that are gone from the report are gone": {
			stored: status(ready, ready, began, began, true), pod: aPod(networked(`{"currentNetworkState":"NotReady"}`)),
			want: status(ready, notReady, began, now, false),
		},
		"waiting": {
			stored: status(ready, notReady, began, began, false), pod: aPod(networked(`{"currentNetworkState":"Waiting"}`)),
			want: status(ready, waiting, began, now, false),
		},
		"an empty report": {
			stored: status(ready, notReady, began, began, false), pod: aPod(networked(`{}`)),
			want: status(ready, notReady, began, began, false),
		},
		"the network is disabled": {
			stored: status(ready, ready, began, began, true), pod: aPod(networked(readyReport)), disabled: true,
			want: status(notReady, ready, began, now, true),
		},
		"F18: nothing of a former pod is left": {
			stored: status(ready, ready, stamp(start().Add(-time.Hour)), began, true), pod: aPod(networked("")),
			want: status(ready, notReady, now, now, false),
		},
		"another network type": {
			stored: gamev1alpha1.NetworkStatus{NetworkType: "Old", DesiredNetworkState: ready, CurrentNetworkState: ready,
				ExternalAddresses: address("1.2.3.4", 5), CreateTime: began, LastTransitionTime: began},
			pod: aPod(networked("")), want: status(ready, notReady, now, now, false),
		},
		"a pod that is younger than our clock": {
			pod:  aPod(networked(""), func(p *corev1.Pod) { p.CreationTimestamp = stamp(noon().Add(time.Minute)) }),
			want: status(ready, notReady, stamp(noon().Add(time.Minute)), stamp(noon().Add(time.Minute)), false),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := networkStatus(tc.stored, tc.pod, tc.disabled, now)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
			again := networkStatus(got, tc.pod, tc.disabled, stamp(noon().Add(time.Hour)))
			if diff := cmp.Diff(got, again); diff != "" {
				t.Errorf("the next pass changes it again (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNetworkStatusKeepsAnEmptyPortRange(t *testing.T) {
	t.Parallel()
	pod := aPod(networked(`{"externalAddresses":[{"ip":"1.2.3.4","portRange":{}}],"currentNetworkState":"Ready","createTime":null,"lastTransitionTime":null}`))
	got := networkStatus(gamev1alpha1.NetworkStatus{}, pod, false, stamp(noon()))
	want := []gamev1alpha1.NetworkAddress{{IP: "1.2.3.4", PortRange: &gamev1alpha1.NetworkPortRange{}}}
	if diff := cmp.Diff(want, got.ExternalAddresses); diff != "" {
		t.Errorf("addresses (-want +got):\n%s", diff)
	}
}

func TestNetworkWait(t *testing.T) {
	t.Parallel()
	const ready, notReady = gamev1alpha1.NetworkReady, gamev1alpha1.NetworkNotReady
	cases := map[string]struct {
		desired, current gamev1alpha1.NetworkState
		waited, total    time.Duration
		wantLate         bool
		want             time.Duration
	}{
		"as wished":               {desired: ready, current: ready, waited: time.Hour, total: time.Minute},
		"no network":              {waited: time.Hour, total: time.Minute},
		"there is time left":      {desired: ready, current: notReady, waited: 20 * time.Second, total: time.Minute, want: 40 * time.Second},
		"late":                    {desired: ready, current: notReady, waited: 70 * time.Second, total: time.Minute, wantLate: true, want: 70 * time.Second},
		"late from the beginning": {desired: notReady, current: ready, wantLate: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status := gamev1alpha1.NetworkStatus{DesiredNetworkState: tc.desired, CurrentNetworkState: tc.current, LastTransitionTime: stamp(noon().Add(-tc.waited))}
			late, d := networkWait(status, tc.total, noon())
			if late != tc.wantLate || d != tc.want {
				t.Errorf("late %v after %s, want %v after %s", late, d, tc.wantLate, tc.want)
			}
		})
	}
}
