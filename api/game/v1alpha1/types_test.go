// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

// The text of the annotation game.kruise.io/network-status is read by programs inside the pods; source of the first
// text: network-framework spec, section 2.3.
func TestNetworkStatusText(t *testing.T) {
	cases := map[string]struct {
		status gamev1alpha1.NetworkStatus
		want   string
	}{
		"one port inside and outside": {
			status: gamev1alpha1.NetworkStatus{
				InternalAddresses: []gamev1alpha1.NetworkAddress{{
					IP:    "10.244.3.17",
					Ports: []gamev1alpha1.NetworkPort{{Name: "7777", Protocol: corev1.ProtocolUDP, Port: ptr.To(intstr.FromInt32(7777))}},
				}},
				ExternalAddresses: []gamev1alpha1.NetworkAddress{{
					IP:    "203.0.113.9",
					Ports: []gamev1alpha1.NetworkPort{{Name: "7777", Protocol: corev1.ProtocolUDP, Port: ptr.To(intstr.FromInt32(31044))}},
				}},
				CurrentNetworkState: gamev1alpha1.NetworkReady,
			},
			want: `{"internalAddresses":[{"ip":"10.244.3.17","ports":[{"name":"7777","protocol":"UDP","port":7777}]}],` +
				`"externalAddresses":[{"ip":"203.0.113.9","ports":[{"name":"7777","protocol":"UDP","port":31044}]}],` +
				`"currentNetworkState":"Ready","createTime":null,"lastTransitionTime":null}`,
		},
		"a host name, a port as text and a range": {
			status: gamev1alpha1.NetworkStatus{
				ExternalAddresses: []gamev1alpha1.NetworkAddress{{
					Ports:     []gamev1alpha1.NetworkPort{{Name: "game", Port: ptr.To(intstr.FromString("80"))}},
					PortRange: &gamev1alpha1.NetworkPortRange{Protocol: corev1.ProtocolTCP, PortRange: "1000-2000"},
					EndPoint:  "game.example.com",
				}},
				CurrentNetworkState: gamev1alpha1.NetworkReady,
			},
			want: `{"externalAddresses":[{"ip":"","ports":[{"name":"game","port":"80"}],"portRange":{"protocol":"TCP","portRange":"1000-2000"},` +
				`"endPoint":"game.example.com"}],"currentNetworkState":"Ready","createTime":null,"lastTransitionTime":null}`,
		},
		"nothing known yet": {
			status: gamev1alpha1.NetworkStatus{CurrentNetworkState: gamev1alpha1.NetworkNotReady},
			want:   `{"currentNetworkState":"NotReady","createTime":null,"lastTransitionTime":null}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			text, err := json.Marshal(tc.status)
			if err != nil {
				t.Fatalf("encoding: %v", err)
			}
			if diff := cmp.Diff(tc.want, string(text)); diff != "" {
				t.Errorf("annotation text (-want +got):\n%s", diff)
			}
			var back gamev1alpha1.NetworkStatus
			if err := json.Unmarshal(text, &back); err != nil {
				t.Fatalf("decoding: %v", err)
			}
			if diff := cmp.Diff(tc.status, back); diff != "" {
				t.Errorf("read back (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWritingNamesOnlyWhatIsSet(t *testing.T) {
	meta := metav1.ObjectMeta{Name: "arena"}
	cases := map[string]struct {
		object any
		want   string
	}{
		"a set": {
			object: gamev1alpha1.GameServerSet{ObjectMeta: meta, Spec: gamev1alpha1.GameServerSetSpec{Replicas: ptr.To[int32](0)}},
			want:   `{"metadata":{"name":"arena"},"spec":{"replicas":0}}`,
		},
		"a server": {
			object: gamev1alpha1.GameServer{ObjectMeta: meta},
			want:   `{"metadata":{"name":"arena"}}`,
		},
		"a server whose network is switched on": {
			object: gamev1alpha1.GameServer{ObjectMeta: meta, Spec: gamev1alpha1.GameServerSpec{NetworkDisabled: ptr.To(false)}},
			want:   `{"metadata":{"name":"arena"},"spec":{"networkDisabled":false}}`,
		},
		"a server with one override": {
			object: gamev1alpha1.GameServer{ObjectMeta: meta, Spec: gamev1alpha1.GameServerSpec{Containers: []gamev1alpha1.GameServerContainer{{Name: "game", Image: "game:2"}}}},
			want:   `{"metadata":{"name":"arena"},"spec":{"containers":[{"name":"game","image":"game:2"}]}}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			text, err := json.Marshal(tc.object)
			if err != nil {
				t.Fatalf("encoding: %v", err)
			}
			if diff := cmp.Diff(tc.want, string(text)); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSchemeKnowsTheKinds(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := gamev1alpha1.AddToScheme(scheme); err != nil {
		t.Fatalf("adding to the scheme: %v", err)
	}
	for _, kind := range []string{"GameServerSet", "GameServerSetList", "GameServer", "GameServerList"} {
		if gvk := gamev1alpha1.SchemeGroupVersion.WithKind(kind); !scheme.Recognizes(gvk) {
			t.Errorf("the scheme does not know %s", gvk)
		}
	}
	if got, want := gamev1alpha1.Resource("gameservers").String(), "gameservers.game.kruise.io"; got != want {
		t.Errorf("got resource %q, want %q", got, want)
	}
}
