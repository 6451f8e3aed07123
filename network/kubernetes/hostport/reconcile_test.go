// SPDX-License-Identifier: Apache-2.0

package hostport

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/internal/ports"
	"github.com/berthgames/berth/network/framework"
)

func on(nodeName, podIP string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Spec.NodeName, pod.Status.PodIP = nodeName, podIP }
}

func reported(pod *corev1.Pod) {
	pod.Annotations[gamev1alpha1.GameServerNetworkStatus] = `{"currentNetworkState":"Ready","createTime":null,"lastTransitionTime":null}`
}

func TestReconcile(t *testing.T) {
	t.Parallel()
	game := given{Container: "game", ContainerPort: 7777, Protocol: corev1.ProtocolUDP, HostPort: 8001}
	pair := []given{
		{Container: "game", ContainerPort: 8000, Protocol: corev1.ProtocolTCP, HostPort: 8000},
		{Container: "game", ContainerPort: 8000, Protocol: corev1.ProtocolUDP, HostPort: 8000},
	}
	external := node("n1", address(corev1.NodeInternalIP, "10.0.0.1"), address(corev1.NodeExternalIP, "203.0.113.9"))
	const readyText = `{"internalAddresses":[{"ip":"10.244.3.17","ports":[{"name":"game-7777","protocol":"UDP","port":7777}]}],` +
		`"externalAddresses":[{"ip":"203.0.113.9","ports":[{"name":"game-7777","protocol":"UDP","port":8001}]}],` +
		`"currentNetworkState":"Ready","createTime":null,"lastTransitionTime":null}`
	const notReadyText = `{"currentNetworkState":"NotReady","createTime":null,"lastTransitionTime":null}`
	cases := map[string]struct {
		node        *corev1.Node
		change      []func(*corev1.Pod)
		want        string // empty: nothing to report
		wantWaiting string
	}{
		"ready": {
			node: external, change: []func(*corev1.Pod){withRecord(t, game), on("n1", "10.244.3.17")}, want: readyText,
		},
		"a server that should be cut off stays reachable, and that is told (F19)": {
			node: external, change: []func(*corev1.Pod){withRecord(t, game), on("n1", "10.244.3.17"), func(pod *corev1.Pod) {
				pod.Labels[gamev1alpha1.GameServerNetworkDisabled] = "true"
			}},
			want: readyText, wantWaiting: "the network is to be disabled, but Kubernetes-HostPort cannot cut a server off: it stays reachable",
		},
		"a pair is two entries of one name": {
			node: external, change: []func(*corev1.Pod){withRecord(t, pair...), on("n1", "10.244.3.17")},
			want: `{"internalAddresses":[{"ip":"10.244.3.17","ports":[{"name":"game-8000","protocol":"TCP","port":8000},{"name":"game-8000","protocol":"UDP","port":8000}]}],` +
				`"externalAddresses":[{"ip":"203.0.113.9","ports":[{"name":"game-8000","protocol":"TCP","port":8000},{"name":"game-8000","protocol":"UDP","port":8000}]}],` +
				`"currentNetworkState":"Ready","createTime":null,"lastTransitionTime":null}`,
		},
		"what was given counts, whatever the range is now (H9), and static ports are not reported (H10)": {
			node: external,
			change: []func(*corev1.Pod){withRecord(t, given{Container: "game", ContainerPort: 7777, Protocol: corev1.ProtocolUDP, HostPort: 9001}),
				on("n1", "10.244.3.17"), func(pod *corev1.Pod) {
					pod.Spec.Containers[1].Ports = []corev1.ContainerPort{entry(80, 8002, corev1.ProtocolTCP)}
				}},
			want: `{"internalAddresses":[{"ip":"10.244.3.17","ports":[{"name":"game-7777","protocol":"UDP","port":7777}]}],` +
				`"externalAddresses":[{"ip":"203.0.113.9","ports":[{"name":"game-7777","protocol":"UDP","port":9001}]}],` +
				`"currentNetworkState":"Ready","createTime":null,"lastTransitionTime":null}`,
		},
		"a pod of OpenKruiseGame has no record": {
			node: external, change: []func(*corev1.Pod){on("n1", "10.244.3.17"), func(pod *corev1.Pod) {
				pod.Spec.Containers[0].Ports = []corev1.ContainerPort{entry(22, 30022, corev1.ProtocolTCP), entry(7777, 8001, corev1.ProtocolUDP)}
			}}, want: readyText,
		},
		"a record that cannot be read counts as none": {
			node: external, change: []func(*corev1.Pod){on("n1", "10.244.3.17"), func(pod *corev1.Pod) {
				pod.Annotations[RecordKey] = "{"
				pod.Spec.Containers[0].Ports = []corev1.ContainerPort{entry(7777, 8001, corev1.ProtocolUDP)}
			}}, want: readyText,
		},
		"no node yet: nothing to report (A06)": {
			node: external, change: []func(*corev1.Pod){withRecord(t, game)}, wantWaiting: "the pod has no node",
		},
		"the node does not exist: nothing changes (H20)": {
			node: external, change: []func(*corev1.Pod){withRecord(t, game), on("gone", "10.244.3.17"), reported}, wantWaiting: "node gone does not exist",
		},
		"no pod address yet: nothing to report": {
			node: external, change: []func(*corev1.Pod){withRecord(t, game), on("n1", "")}, wantWaiting: "the pod has no address",
		},
		"no pod address any more": {
			node: external, change: []func(*corev1.Pod){withRecord(t, game), on("n1", ""), reported}, want: notReadyText, wantWaiting: "the pod has no address",
		},
		"a node without addresses": {
			node: node("n1"), change: []func(*corev1.Pod){withRecord(t, game), on("n1", "10.244.3.17")}, want: notReadyText, wantWaiting: "node n1 has no address",
		},
		"a pod without host ports": {
			node: external, change: []func(*corev1.Pod){on("n1", "10.244.3.17")}, want: notReadyText,
			wantWaiting: "the pod has no host port; it gets one when it is created anew",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlugin(t, ports.Range{Min: 8000, Max: 8009}, tc.node)
			got, err := p.Reconcile(t.Context(), view(t, gamePod(tc.change...)))
			if err != nil {
				t.Fatal(err)
			}
			text := ""
			if got.Status.CurrentNetworkState != "" {
				if text, err = framework.EncodeStatus(got.Status); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(tc.want, text); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
			if got.Waiting != tc.wantWaiting || got.RecheckAfter != 0 {
				t.Errorf("waiting for %q, again after %s; want %q and events", got.Waiting, got.RecheckAfter, tc.wantWaiting)
			}
		})
	}
}

// H13, S14: a pod that waits because of ports says how many it wants and how many there are.
func TestReconcileSaysWhyAPodWaits(t *testing.T) {
	t.Parallel()
	waits := func(pod *corev1.Pod) {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
	}
	game := withRecord(t, given{Container: "game", ContainerPort: 80, Protocol: corev1.ProtocolUDP, HostPort: 8000})
	cases := map[string]struct {
		held        []int32
		change      func(*corev1.Pod)
		wantError   string
		wantReason  string
		wantWaiting string
	}{
		"no number is free": {
			held: []int32{8000, 8001}, wantReason: framework.ReasonExhausted,
			wantError: "1 host port (UDP) in 8000-8001 wanted, 0 free on any of the 1 nodes it may use",
		},
		"its number is taken, others are free": {
			held: []int32{8000}, wantReason: framework.ReasonRetry,
			wantError: "the host ports that the pod was given (8000/UDP) are in use on any of the 1 nodes it may use; others are free there",
		},
		"its number is free": {
			held: []int32{8001}, wantWaiting: "the pod has no node, for other reasons than its host ports",
		},
		"no node suits it": {
			change:      func(pod *corev1.Pod) { pod.Spec.NodeSelector = map[string]string{"disk": "ssd"} },
			wantWaiting: "the pod has no node, for other reasons than its host ports",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlugin(t, ports.Range{Min: 8000, Max: 8001})
			p.ledger.SetNode(node("n1"))
			for _, n := range tc.held {
				p.podSeen(holder("h"+string(rune('0'+n-8000)), "n1", corev1.ProtocolUDP, n))
			}
			pod := gamePod(game, waits)
			if tc.change != nil {
				tc.change(pod)
			}
			got, err := p.Reconcile(t.Context(), view(t, pod))
			if got.Status.CurrentNetworkState != "" {
				t.Errorf("reported %v", got.Status)
			}
			if got.Waiting != tc.wantWaiting {
				t.Errorf("waiting for %q, want %q", got.Waiting, tc.wantWaiting)
			}
			if tc.wantError == "" {
				if err != nil || got.RecheckAfter == 0 {
					t.Errorf("error %v, again after %s", err, got.RecheckAfter)
				}
				return
			}
			if err == nil || err.Error() != tc.wantError || framework.EventReason(err) != tc.wantReason {
				t.Errorf("error %v, want %s", err, tc.wantError)
			}
		})
	}
}

func TestReconcileReportsFailedReads(t *testing.T) {
	t.Parallel()
	p := newPlugin(t, ports.Range{Min: 8000, Max: 8001})
	p.reader = interceptor.NewClient(p.reader.(client.WithWatch), interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return errors.New("server is down")
		},
	})
	pod := gamePod(withRecord(t, given{Container: "game", ContainerPort: 80, Protocol: corev1.ProtocolUDP, HostPort: 8000}), on("n1", "10.0.0.1"))
	_, err := p.Reconcile(t.Context(), view(t, pod))
	if err == nil || err.Error() != "reading node n1: server is down" {
		t.Errorf("got %v", err)
	}
}

func TestNodeAddress(t *testing.T) {
	t.Parallel()
	external, internal := corev1.NodeExternalIP, corev1.NodeInternalIP
	cases := map[string]struct {
		podIP            string
		addresses        []func(*corev1.Node)
		wantIP, wantName string
	}{
		"the first external IP, not the last (H15)": {
			podIP: "10.0.0.9", addresses: []func(*corev1.Node){address(external, "203.0.113.1"), address(external, "203.0.113.2")}, wantIP: "203.0.113.1",
		},
		"of the pod's family, on a node with both": {
			podIP: "10.0.0.9", addresses: []func(*corev1.Node){address(external, "2001:db8::1"), address(external, "203.0.113.2")}, wantIP: "203.0.113.2",
		},
		"of the pod's family, IPv6": {
			podIP: "fd00::9", addresses: []func(*corev1.Node){address(external, "203.0.113.2"), address(external, "2001:db8::1")}, wantIP: "2001:db8::1",
		},
		"of the other family when there is no better one": {
			podIP: "fd00::9", addresses: []func(*corev1.Node){address(internal, "fd00::1"), address(external, "203.0.113.2")}, wantIP: "203.0.113.2",
		},
		"an external name goes with the external IP": {
			podIP: "10.0.0.9", addresses: []func(*corev1.Node){address(corev1.NodeExternalDNS, "n1.example.com"), address(external, "203.0.113.1")},
			wantIP: "203.0.113.1", wantName: "n1.example.com",
		},
		"an external name alone": {
			podIP: "10.0.0.9", addresses: []func(*corev1.Node){address(internal, "10.0.0.1"), address(corev1.NodeExternalDNS, "n1.example.com")},
			wantName: "n1.example.com",
		},
		"an internal IP, without the internal name": {
			podIP: "10.0.0.9", addresses: []func(*corev1.Node){address(corev1.NodeInternalDNS, "n1.internal"), address(internal, "10.0.0.1")}, wantIP: "10.0.0.1",
		},
		"an internal name alone": {
			podIP: "10.0.0.9", addresses: []func(*corev1.Node){address(corev1.NodeHostName, "n1"), address(corev1.NodeInternalDNS, "n1.internal")},
			wantName: "n1.internal",
		},
		"what is no IP does not count": {
			podIP: "10.0.0.9", addresses: []func(*corev1.Node){address(external, "pending"), address(internal, "10.0.0.1")}, wantIP: "10.0.0.1",
		},
		"nothing": {podIP: "10.0.0.9"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ip, endPoint := nodeAddress(node("n1", tc.addresses...), tc.podIP)
			if ip != tc.wantIP || endPoint != tc.wantName {
				t.Errorf("got %q, %q; want %q, %q", ip, endPoint, tc.wantIP, tc.wantName)
			}
		})
	}
}

func TestWatchesWakeThePodsOfANode(t *testing.T) {
	t.Parallel()
	other := gamePod(on("n1", ""), func(pod *corev1.Pod) {
		pod.Name, pod.Annotations[gamev1alpha1.GameServerNetworkType] = "lb-0", "Cloud-LB"
	})
	elsewhere := gamePod(on("n2", ""), func(pod *corev1.Pod) { pod.Name = "arena-1" })
	p := newPlugin(t, ports.Range{Min: 8000, Max: 8001}, gamePod(on("n1", "")), other, elsewhere)
	watch := p.Watches()[0]
	got := watch.Pods(t.Context(), node("n1"))
	if diff := cmp.Diff([]types.NamespacedName{{Namespace: "games", Name: "arena-0"}}, got); diff != "" {
		t.Errorf("pods (-want +got):\n%s", diff)
	}
	heartbeat := node("n1", func(n *corev1.Node) { n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady}} })
	if watch.Relevant(node("n1"), heartbeat) {
		t.Error("a heartbeat is relevant")
	}
	if !watch.Relevant(node("n1"), node("n1", address(corev1.NodeExternalIP, "203.0.113.1"))) {
		t.Error("a new address is not relevant")
	}
}
