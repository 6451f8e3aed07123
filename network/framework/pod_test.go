// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

func podWith(annotations, labels map[string]string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "arena-0", Annotations: annotations, Labels: labels}}
}

// Source: network-framework.md, section 9 and the table "Helper creation" of section 13.
func TestPodOf(t *testing.T) {
	t.Parallel()
	const (
		typeKey, confKey     = gamev1alpha1.GameServerNetworkType, gamev1alpha1.GameServerNetworkConf
		statusKey, switchKey = gamev1alpha1.GameServerNetworkStatus, gamev1alpha1.GameServerNetworkDisabled
	)
	two := []gamev1alpha1.NetworkConfParams{{Name: "a", Value: "1"}, {Name: "b", Value: "2"}}
	cases := map[string]struct {
		annotations, labels map[string]string
		want                *Pod
		wantErr             string
	}{
		"no annotations":                 {},
		"no type":                        {annotations: map[string]string{confKey: "[]"}},
		"an empty type":                  {annotations: map[string]string{typeKey: ""}},
		"a type alone":                   {annotations: map[string]string{typeKey: "X"}, want: &Pod{Type: "X"}},
		"a list of two":                  {annotations: map[string]string{typeKey: "X", confKey: `[{"name":"a","value":"1"},{"name":"b","value":"2"}]`}, want: &Pod{Type: "X", Params: two}},
		"no list at all":                 {annotations: map[string]string{typeKey: "X", confKey: "null"}, want: &Pod{Type: "X"}},
		"disabled":                       {annotations: map[string]string{typeKey: "X"}, labels: map[string]string{switchKey: "true"}, want: &Pod{Type: "X", Disabled: true}},
		"enabled":                        {annotations: map[string]string{typeKey: "X"}, labels: map[string]string{switchKey: "false"}, want: &Pod{Type: "X"}},
		"neither":                        {annotations: map[string]string{typeKey: "X"}, labels: map[string]string{switchKey: "not-a-bool"}, want: &Pod{Type: "X"}},
		"an annotation does not disable": {annotations: map[string]string{typeKey: "X", switchKey: "true"}, want: &Pod{Type: "X"}},
		"a status": {
			annotations: map[string]string{typeKey: "X", statusKey: `{"currentNetworkState":"Ready"}`},
			want:        &Pod{Type: "X", Status: &gamev1alpha1.NetworkStatus{CurrentNetworkState: gamev1alpha1.NetworkReady}},
		},
		"a status that cannot be read is none": {annotations: map[string]string{typeKey: "X", statusKey: "invalid-json"}, want: &Pod{Type: "X"}},
		"F4, F17: a list that cannot be read is an error, and the type is known": {
			annotations: map[string]string{typeKey: "X", confKey: "invalid-json"}, want: &Pod{Type: "X"},
			wantErr: `metadata.annotations[game.kruise.io/network-conf]: Invalid value: "invalid-json": must be a JSON list of {"name","value"} objects: `,
		},
		"a list of something else": {
			annotations: map[string]string{typeKey: "X", confKey: `{"name":"a"}`}, want: &Pod{Type: "X"},
			wantErr: `metadata.annotations[game.kruise.io/network-conf]: Invalid value: "{\"name\":\"a\"}": must be a JSON list of {"name","value"} objects: `,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := podWith(tc.annotations, tc.labels)
			if tc.want != nil {
				tc.want.Pod = pod
			}
			got, hasNetwork, err := PodOf(pod)
			if hasNetwork != (tc.want != nil) {
				t.Errorf("has a network: %v", hasNetwork)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("view (-want +got):\n%s", diff)
			}
			var parameter *ParameterError
			switch {
			case tc.wantErr == "" && err != nil:
				t.Errorf("error %v", err)
			case tc.wantErr != "" && (!errors.As(err, &parameter) || !strings.HasPrefix(err.Error(), tc.wantErr)):
				t.Errorf("error %v, want a ParameterError %s...", err, tc.wantErr)
			}
		})
	}
}

func TestLongTextIsShortenedInErrors(t *testing.T) {
	t.Parallel()
	pod := podWith(map[string]string{gamev1alpha1.GameServerNetworkType: "X", gamev1alpha1.GameServerNetworkConf: strings.Repeat("x", 10_000)}, nil)
	if _, _, err := PodOf(pod); err == nil || len(err.Error()) > 600 {
		t.Errorf("error of %d bytes", len(err.Error()))
	}
}

// Byte for byte what upstream's readers know. Source: network-framework.md, section 2.3.
func TestEncodeStatus(t *testing.T) {
	t.Parallel()
	inside, outside, text := intstr.FromInt32(7777), intstr.FromInt32(31044), intstr.FromString("601")
	address := func(ip, name string, port *intstr.IntOrString) []gamev1alpha1.NetworkAddress {
		return []gamev1alpha1.NetworkAddress{{IP: ip, Ports: []gamev1alpha1.NetworkPort{{Name: name, Protocol: corev1.ProtocolUDP, Port: port}}}}
	}
	cases := map[string]struct {
		status gamev1alpha1.NetworkStatus
		want   string
	}{
		"ready": {
			gamev1alpha1.NetworkStatus{
				InternalAddresses: address("10.244.3.17", "7777", &inside), ExternalAddresses: address("203.0.113.9", "7777", &outside),
				CurrentNetworkState: gamev1alpha1.NetworkReady,
			},
			`{"internalAddresses":[{"ip":"10.244.3.17","ports":[{"name":"7777","protocol":"UDP","port":7777}]}],` +
				`"externalAddresses":[{"ip":"203.0.113.9","ports":[{"name":"7777","protocol":"UDP","port":31044}]}],` +
				`"currentNetworkState":"Ready","createTime":null,"lastTransitionTime":null}`,
		},
		"not ready": {
			gamev1alpha1.NetworkStatus{CurrentNetworkState: gamev1alpha1.NetworkNotReady},
			`{"currentNetworkState":"NotReady","createTime":null,"lastTransitionTime":null}`,
		},
		"a host name, a range, and a number as text": {
			gamev1alpha1.NetworkStatus{ExternalAddresses: []gamev1alpha1.NetworkAddress{{
				EndPoint: "lb.example.com", PortRange: &gamev1alpha1.NetworkPortRange{Protocol: corev1.ProtocolTCP, PortRange: "1000-2000"},
				Ports: []gamev1alpha1.NetworkPort{{Name: "80", Port: &text}},
			}}},
			`{"externalAddresses":[{"ip":"","ports":[{"name":"80","port":"601"}],"portRange":{"protocol":"TCP","portRange":"1000-2000"},` +
				`"endPoint":"lb.example.com"}],"createTime":null,"lastTransitionTime":null}`,
		},
		"what belongs to the GameServer controller is left out": {
			gamev1alpha1.NetworkStatus{NetworkType: "X", DesiredNetworkState: gamev1alpha1.NetworkReady, CreateTime: metav1.Now(), LastTransitionTime: metav1.Now()},
			`{"createTime":null,"lastTransitionTime":null}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := EncodeStatus(tc.status)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("annotation (-want +got):\n%s", diff)
			}
			back, err := DecodeStatus(got)
			if err != nil {
				t.Fatal(err)
			}
			want := tc.status
			want.NetworkType, want.DesiredNetworkState, want.CreateTime, want.LastTransitionTime = "", "", metav1.Time{}, metav1.Time{}
			if diff := cmp.Diff(&want, back); diff != "" {
				t.Errorf("read back (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeStatus(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		text    string
		want    *gamev1alpha1.NetworkStatus
		wantErr bool
	}{
		"nothing":           {},
		"an empty document": {text: "{}", want: &gamev1alpha1.NetworkStatus{}},
		"no JSON":           {text: "invalid-json", wantErr: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := DecodeStatus(tc.text)
			if (err != nil) != tc.wantErr {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
		})
	}
}
