// SPDX-License-Identifier: Apache-2.0

package hostport

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/internal/ports"
	"github.com/berthgames/berth/network/framework"
)

// The table of bad values of network-kubernetes.md, A2. The range has three numbers.
func TestValidate(t *testing.T) {
	t.Parallel()
	const at = `spec.network.networkConf[0].value: Invalid value: `
	port := func(item string) string {
		return `item "` + item + `": port must be a number from 1 to 65535 or SameAsHost`
	}
	cases := map[string]struct {
		params       []gamev1alpha1.NetworkConfParams
		change       func(*corev1.Pod)
		wantErrors   []string
		wantWarnings []string
	}{
		"ports of several containers, a sidecar among them (H16)": {
			params: conf("ContainerPorts", "game: 7777/udp", "ContainerPorts", "side:SameAsHost/TCPUDP", "ContainerPorts", "proxy:80"),
		},
		"no colon": {
			params:     conf("ContainerPorts", "80,443"),
			wantErrors: []string{at + `"80,443": ContainerPorts: must have the form container:port/protocol,port/protocol,...`},
		},
		"more than one colon": {
			params:     conf("ContainerPorts", "game:80:81"),
			wantErrors: []string{at + `"game:80:81": ContainerPorts: must have the form container:port/protocol,port/protocol,...`},
		},
		"container not in the pod (H4)": {
			params:     conf("ContainerPorts", "gane:80"),
			wantErrors: []string{at + `"gane:80": ContainerPorts: there is no container "gane"; containers are game, side, proxy`},
		},
		"container that ends before the game runs": {
			params: conf("ContainerPorts", "setup:80"),
			wantErrors: []string{at + `"setup:80": ContainerPorts: init container "setup" ends before the game server runs; ` +
				`only init containers with restartPolicy Always can have ports`},
		},
		"port not a number": {
			params:     conf("ContainerPorts", "game:http"),
			wantErrors: []string{at + `"game:http": ContainerPorts: ` + port("http")},
		},
		"blank port": {
			params:     conf("ContainerPorts", "game:80,"),
			wantErrors: []string{at + `"game:80,": ContainerPorts: ` + port("")},
		},
		"spaces are trimmed": {
			params: conf("ContainerPorts", " game : 80 , 81 / TCP "),
		},
		"port zero": {
			params:     conf("ContainerPorts", "game:0"),
			wantErrors: []string{at + `"game:0": ContainerPorts: ` + port("0")},
		},
		"port too high": {
			params:     conf("ContainerPorts", "game:70000"),
			wantErrors: []string{at + `"game:70000": ContainerPorts: ` + port("70000")},
		},
		"port -1 is not SameAsHost": {
			params:     conf("ContainerPorts", "game:-1"),
			wantErrors: []string{at + `"game:-1": ContainerPorts: ` + port("-1")},
		},
		"unknown protocol": {
			params:     conf("ContainerPorts", "game:80/XYZ"),
			wantErrors: []string{at + `"game:80/XYZ": ContainerPorts: item "80/XYZ": protocol must be TCP, UDP, SCTP or TCPUDP`},
		},
		"two protocols in one item": {
			params:     conf("ContainerPorts", "game:80/TCP/x"),
			wantErrors: []string{at + `"game:80/TCP/x": ContainerPorts: item "80/TCP/x" must have the form port/protocol`},
		},
		"the same container twice is merged": {
			params: conf("ContainerPorts", "game:80", "ContainerPorts", "game:81"),
		},
		"the same port and protocol twice in one container": {
			params:     conf("ContainerPorts", "game:80/TCPUDP,80/UDP"),
			wantErrors: []string{at + `"game:80/TCPUDP,80/UDP": ContainerPorts: port 80/UDP is given twice`},
		},
		"nothing at all": {
			wantErrors: []string{`spec.network.networkConf: Required value: parameter ContainerPorts is missing: container:port/protocol,port/protocol,...`},
		},
		"more items than the range has ports (H3)": {
			params:     conf("ContainerPorts", "game:1,2,3,4"),
			wantErrors: []string{`spec.network.networkConf: Invalid value: 4: 4 host ports in 8000-8002 wanted, 3 free in the whole range`},
		},
		"host network with a fixed port (H21)": {
			params: conf("ContainerPorts", "game:SameAsHost,80/UDP"), change: hostNetwork,
			wantErrors: []string{at + `"game:SameAsHost,80/UDP": ContainerPorts: item "80/UDP": a pod on the host network can only have SameAsHost, ` +
				`because its container ports and host ports are the same`},
		},
		"host network with SameAsHost": {
			params: conf("ContainerPorts", "game:SameAsHost/TCPUDP"), change: hostNetwork,
		},
		"an unknown parameter is a warning": {
			params: conf("ContainerPorts", "game:80", "containerports", "game:81"),
			wantWarnings: []string{
				`spec.network.networkConf[1].name: unknown parameter "containerports" has no effect; did you mean "ContainerPorts"?`,
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := gamePod()
			if tc.change != nil {
				tc.change(pod)
			}
			p := newPlugin(t, ports.Range{Min: 8000, Max: 8002})
			got := p.Validate(framework.ValidateRequest{
				Params: tc.params, ParamsPath: field.NewPath("spec", "network", "networkConf"), Template: &pod.Spec,
			})
			var errs []string
			for _, err := range got.Errors {
				errs = append(errs, err.Error())
			}
			if diff := cmp.Diff(tc.wantErrors, errs); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantWarnings, got.Warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestValidateWithoutTemplateKnowsNoContainers(t *testing.T) {
	t.Parallel()
	got := newPlugin(t, ports.Range{Min: 8000, Max: 8002}).Validate(framework.ValidateRequest{
		Params: conf("ContainerPorts", "whatever:80"), ParamsPath: field.NewPath("p"),
	})
	if len(got.Errors)+len(got.Warnings) > 0 {
		t.Errorf("findings %v", got)
	}
}

func TestNewRefusesBadOptions(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		options Options
		want    string
	}{
		"range 0-0 (H19)": {Options{}, "making network plugin Kubernetes-HostPort: range 0-0 must lie within 1-65535 and must not end before it begins"},
		"all blocked": {
			Options{Range: ports.Range{Min: 80, Max: 81}, Blocked: []int32{80, 81, 81, 99}},
			"making network plugin Kubernetes-HostPort: every number of range 80-81 is blocked",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := New(tc.options, nil, nil)
			if err == nil || err.Error() != tc.want {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}
