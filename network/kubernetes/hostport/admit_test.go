// SPDX-License-Identifier: Apache-2.0

package hostport

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthgames/berth/internal/ports"
	"github.com/berthgames/berth/network/framework"
)

func entry(containerPort, hostPort int32, protocol corev1.Protocol) corev1.ContainerPort {
	return corev1.ContainerPort{ContainerPort: containerPort, HostPort: hostPort, Protocol: protocol}
}

func TestAdmitShapesThePod(t *testing.T) {
	t.Parallel()
	tcp, udp := corev1.ProtocolTCP, corev1.ProtocolUDP
	cases := map[string]struct {
		params     []string
		change     func(*corev1.Pod)
		wantPorts  map[string][]corev1.ContainerPort
		wantEnv    map[string][]corev1.EnvVar
		wantRecord string
	}{
		"items get numbers in the order they are written": {
			params:    []string{"ContainerPorts", "game:7777/UDP,80"},
			wantPorts: map[string][]corev1.ContainerPort{"game": {entry(7777, 8000, udp), entry(80, 8001, tcp)}},
			wantRecord: `[{"container":"game","containerPort":7777,"protocol":"UDP","hostPort":8000},` +
				`{"container":"game","containerPort":80,"protocol":"TCP","hostPort":8001}]`,
		},
		"TCPUDP is one number and two entries, TCP first": {
			params:    []string{"ContainerPorts", "game:7777/TCPUDP"},
			wantPorts: map[string][]corev1.ContainerPort{"game": {entry(7777, 8000, tcp), entry(7777, 8000, udp)}},
			wantRecord: `[{"container":"game","containerPort":7777,"protocol":"TCP","hostPort":8000},` +
				`{"container":"game","containerPort":7777,"protocol":"UDP","hostPort":8000}]`,
		},
		"SameAsHost tells the process its numbers (H18), on the host network too (H21)": {
			params: []string{"ContainerPorts", "game:SameAsHost/UDP,SameAsHost/TCPUDP"},
			change: func(pod *corev1.Pod) {
				hostNetwork(pod)
				pod.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "PORT", Value: "$(BERTH_HOST_PORT_0)"}}
			},
			wantPorts: map[string][]corev1.ContainerPort{"game": {entry(8000, 8000, udp), entry(8001, 8001, tcp), entry(8001, 8001, udp)}},
			wantEnv: map[string][]corev1.EnvVar{"game": {
				{Name: "BERTH_HOST_PORT_0", Value: "8000"}, {Name: "BERTH_HOST_PORT_1", Value: "8001"}, {Name: "PORT", Value: "$(BERTH_HOST_PORT_0)"},
			}},
			wantRecord: `[{"container":"game","containerPort":8000,"protocol":"UDP","hostPort":8000},` +
				`{"container":"game","containerPort":8001,"protocol":"TCP","hostPort":8001},` +
				`{"container":"game","containerPort":8001,"protocol":"UDP","hostPort":8001}]`,
		},
		"SameAsHost keeps clear of what else listens in the pod": {
			params: []string{"ContainerPorts", "game:SameAsHost"},
			change: func(pod *corev1.Pod) {
				pod.Spec.Containers[1].Ports = []corev1.ContainerPort{{ContainerPort: 8000, Protocol: tcp}}
			},
			wantPorts: map[string][]corev1.ContainerPort{
				"game": {entry(8001, 8001, tcp)}, "side": {{ContainerPort: 8000, Protocol: tcp}},
			},
			wantEnv:    map[string][]corev1.EnvVar{"game": {{Name: "BERTH_HOST_PORT_0", Value: "8001"}}},
			wantRecord: `[{"container":"game","containerPort":8001,"protocol":"TCP","hostPort":8001}]`,
		},
		"a variable of the user stays the user's": {
			params: []string{"ContainerPorts", "game:SameAsHost"},
			change: func(pod *corev1.Pod) {
				pod.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "BERTH_HOST_PORT_0", Value: "mine"}}
			},
			wantPorts:  map[string][]corev1.ContainerPort{"game": {entry(8000, 8000, tcp)}},
			wantEnv:    map[string][]corev1.EnvVar{"game": {{Name: "BERTH_HOST_PORT_0", Value: "mine"}}},
			wantRecord: `[{"container":"game","containerPort":8000,"protocol":"TCP","hostPort":8000}]`,
		},
		"containers in the order of the pod, sidecars last (H16)": {
			params: []string{"ContainerPorts", "proxy:90", "ContainerPorts", "side:80", "ContainerPorts", "game:70"},
			wantPorts: map[string][]corev1.ContainerPort{
				"game": {entry(70, 8000, tcp)}, "side": {entry(80, 8001, tcp)}, "proxy": {entry(90, 8002, tcp)},
			},
			wantRecord: `[{"container":"game","containerPort":70,"protocol":"TCP","hostPort":8000},` +
				`{"container":"side","containerPort":80,"protocol":"TCP","hostPort":8001},` +
				`{"container":"proxy","containerPort":90,"protocol":"TCP","hostPort":8002}]`,
		},
		"ports of the template stay, and a number that the user fixed is not given out (H10)": {
			params: []string{"ContainerPorts", "game:80"},
			change: func(pod *corev1.Pod) {
				pod.Spec.Containers[0].Ports = []corev1.ContainerPort{entry(80, 0, tcp), entry(81, 8000, udp)}
			},
			wantPorts:  map[string][]corev1.ContainerPort{"game": {entry(80, 0, tcp), entry(81, 8000, udp), entry(80, 8001, tcp)}},
			wantRecord: `[{"container":"game","containerPort":80,"protocol":"TCP","hostPort":8001}]`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlugin(t, ports.Range{Min: 8000, Max: 8002})
			p.ledger.SetNode(node("n1"))
			pod := gamePod()
			if tc.change != nil {
				tc.change(pod)
			}
			pod.Name = beginsAtFirst(t)
			if err := admit(t, p, pod, tc.params...); err != nil {
				t.Fatal(err)
			}
			gotPorts, gotEnv := map[string][]corev1.ContainerPort{}, map[string][]corev1.EnvVar(nil)
			for _, c := range append(pod.Spec.InitContainers, pod.Spec.Containers...) {
				if len(c.Ports) > 0 {
					gotPorts[c.Name] = c.Ports
				}
				if len(c.Env) > 0 {
					gotEnv = map[string][]corev1.EnvVar{c.Name: c.Env}
				}
			}
			if diff := cmp.Diff(tc.wantPorts, gotPorts); diff != "" {
				t.Errorf("ports (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantEnv, gotEnv); diff != "" {
				t.Errorf("environment (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantRecord, pod.Annotations[RecordKey]); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
		})
	}
}

// beginsAtFirst is the name of the pod of set arena whose search begins at the first number of a range of up to three, or
// the first block of them. Pods of a set begin one after the other, so it is among six.
func beginsAtFirst(t *testing.T) string {
	t.Helper()
	for ordinal := range 6 {
		named := gamePod(func(p *corev1.Pod) { p.Name = fmt.Sprintf("arena-%d", ordinal) })
		if startOf(named)%6 == 0 {
			return named.Name
		}
	}
	t.Fatal("the pods of set arena do not begin one after the other")
	return ""
}

func TestAdmitRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		params     []string
		change     func(*Plugin)
		wantReason string
		wantText   string
	}{
		"bad parameters, naming the annotation": {
			params: []string{"ContainerPorts", "game:0"}, wantReason: framework.ReasonParameter,
			wantText: `metadata.annotations[game.kruise.io/network-conf][0].value: Invalid value: "game:0": ContainerPorts: item "0": ` +
				`port must be a number from 1 to 65535 or SameAsHost`,
		},
		"no parameters (H4)": {
			wantReason: framework.ReasonParameter,
			wantText: `metadata.annotations[game.kruise.io/network-conf]: Required value: parameter ContainerPorts is missing: ` +
				`container:port/protocol,port/protocol,...`,
		},
		"before the cluster was seen (H19, F8)": {
			params: []string{"ContainerPorts", "game:80"}, change: func(p *Plugin) { p.synced.Store(nil) },
			wantReason: framework.ReasonRetry, wantText: "the host ports in use are not known yet",
		},
		"a range that is too small for the pod's own ports and new ones": {
			params: []string{"ContainerPorts", "game:1,2,3"}, wantReason: framework.ReasonExhausted,
			wantText: "3 host ports (TCP) in 8000-8002 wanted, 2 free in the whole range",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlugin(t, ports.Range{Min: 8000, Max: 8002})
			if tc.change != nil {
				tc.change(p)
			}
			pod := gamePod(func(pod *corev1.Pod) {
				pod.Spec.Containers[1].Ports = []corev1.ContainerPort{entry(9, 8001, corev1.ProtocolUDP)}
			})
			before := pod.DeepCopy()
			err := admit(t, p, pod, tc.params...)
			if err == nil {
				t.Fatal("admitted")
			}
			if got := framework.EventReason(err); got != tc.wantReason {
				t.Errorf("reason %s, want %s", got, tc.wantReason)
			}
			if diff := cmp.Diff(tc.wantText, err.Error()); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, pod); diff != "" {
				t.Errorf("the pod was changed (-before +after):\n%s", diff)
			}
		})
	}
}

// The API server may ask again about a pod, with the answer already in it.
func TestAdmitTwiceChangesNothing(t *testing.T) {
	t.Parallel()
	p := newPlugin(t, ports.Range{Min: 8000, Max: 8009})
	pod := gamePod()
	if err := admit(t, p, pod, "ContainerPorts", "game:80,SameAsHost/TCPUDP"); err != nil {
		t.Fatal(err)
	}
	before := pod.DeepCopy()
	if err := p.Admit(t.Context(), framework.AdmitRequest{Pod: pod, Params: conf("ContainerPorts", "game:80,SameAsHost/TCPUDP"), RequestUID: "another"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, pod); diff != "" {
		t.Errorf("second answer (-first +second):\n%s", diff)
	}
}

// A record that somebody copied from another pod is not believed when it does not suit the parameters.
func TestAdmitReplacesAForeignRecord(t *testing.T) {
	t.Parallel()
	p := newPlugin(t, ports.Range{Min: 8000, Max: 8009})
	pod := gamePod(withRecord(t, given{Container: "game", ContainerPort: 80, Protocol: corev1.ProtocolTCP, HostPort: 9999}))
	if err := admit(t, p, pod, "ContainerPorts", "game:80"); err != nil {
		t.Fatal(err)
	}
	if got := recordOf(pod, p.opts.Range); len(got) != 1 || got[0].HostPort == 9999 {
		t.Errorf("record %v", got)
	}
}

// H8: a dry run gets what the real request gets, and takes nothing.
func TestAdmitDryRun(t *testing.T) {
	t.Parallel()
	p := newPlugin(t, ports.Range{Min: 8000, Max: 8000})
	p.ledger.SetNode(node("n1"))
	dry, first := gamePod(), gamePod()
	req := framework.AdmitRequest{Pod: dry, Params: conf("ContainerPorts", "game:80"), RequestUID: "dry", DryRun: true}
	for range 3 {
		if err := p.Admit(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		dry.Spec.Containers[0].Ports, dry.Annotations[RecordKey] = nil, ""
	}
	if err := admit(t, p, first, "ContainerPorts", "game:80"); err != nil {
		t.Fatal(err)
	}
	if got := recordOf(first, p.opts.Range); len(got) != 1 || got[0].HostPort != 8000 {
		t.Errorf("record %v", got)
	}
}

// H11, H14, A24: what others hold on the nodes a pod may use is not given out, per protocol; elsewhere it does not matter.
func TestAdmitLooksAtTheNodesOfThePod(t *testing.T) {
	t.Parallel()
	ssd := func(n *corev1.Node) { n.Labels["disk"] = "ssd" }
	p := newPlugin(t, ports.Range{Min: 8000, Max: 8001})
	p.ledger.SetNode(node("fast", ssd))
	p.ledger.SetNode(node("slow"))
	p.podSeen(holder("a", "fast", corev1.ProtocolTCP, 8000))
	p.podSeen(holder("b", "slow", corev1.ProtocolTCP, 8001))
	p.podSeen(holder("c", "slow", corev1.ProtocolUDP, 8000))

	onFast := func(pod *corev1.Pod) { pod.Spec.NodeSelector = map[string]string{"disk": "ssd"} }
	for name, tc := range map[string]struct {
		change func(*corev1.Pod)
		params string
		want   int32
	}{
		"on the fast node, TCP":    {change: onFast, params: "game:80", want: 8001},
		"on the fast node, a pair": {change: onFast, params: "game:80/TCPUDP", want: 8001},
		"anywhere, UDP":            {change: func(*corev1.Pod) {}, params: "game:80/UDP", want: 8001},
	} {
		for ordinal := range 2 { // wherever the search begins
			pod := gamePod(tc.change, func(pod *corev1.Pod) { pod.Name = fmt.Sprintf("arena-%d", ordinal) })
			req := framework.AdmitRequest{Pod: pod, Params: conf("ContainerPorts", tc.params), RequestUID: types.UID(name), DryRun: true}
			if err := p.Admit(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			if got := recordOf(pod, p.opts.Range)[0].HostPort; got != tc.want {
				t.Errorf("%s: got %d, want %d", name, got, tc.want)
			}
		}
	}
}

// A01: when every number is taken on every node the pod is admitted all the same.
func TestAdmitWhenNothingIsFree(t *testing.T) {
	t.Parallel()
	p := newPlugin(t, ports.Range{Min: 8000, Max: 8000})
	p.ledger.SetNode(node("n1"))
	p.podSeen(holder("a", "n1", corev1.ProtocolTCP, 8000))
	pod := gamePod()
	if err := admit(t, p, pod, "ContainerPorts", "game:80"); err != nil {
		var exhausted *ports.ExhaustedError
		t.Fatalf("refused (exhausted: %v): %v", errors.As(err, &exhausted), err)
	}
}
