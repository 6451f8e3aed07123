// SPDX-License-Identifier: Apache-2.0

package hostport

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/berthgames/berth/internal/ports"
	"github.com/berthgames/berth/network/framework"
	plugin "github.com/berthgames/berth/network/kubernetes/hostport"
)

// The API server accepts whatever the plugin makes of a pod (network-kubernetes.md, A6 "Tests we add"; H21).
func TestTheServerAcceptsShapedPods(t *testing.T) {
	w := newCluster(t)
	p := w.replica(ports.Range{Min: 8000, Max: 8009})
	cases := map[string]struct {
		change func(*corev1.Pod)
		params []string
	}{
		"tcpudp":             {func(*corev1.Pod) {}, []string{"game:7777/TCPUDP,7778"}},
		"sameashost":         {func(*corev1.Pod) {}, []string{"game:SameAsHost/TCPUDP,SameAsHost/SCTP"}},
		"sameashost-on-host": {func(pod *corev1.Pod) { pod.Spec.HostNetwork = true }, []string{"game:SameAsHost/TCPUDP"}},
		"template-ports": {func(pod *corev1.Pod) {
			pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{Name: "game", ContainerPort: 80}, {ContainerPort: 81, HostPort: 8000}}
		}, []string{"game:80,81,82"}},
		"sidecar": {func(pod *corev1.Pod) {
			pod.Spec.InitContainers = []corev1.Container{{Name: "proxy", Image: "proxy:1", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)}}
		}, []string{"game:80", "proxy:80"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			pod := w.pod(name, tc.change)
			w.admit(p, pod, tc.params...)
			if err := w.client.Create(t.Context(), pod); err != nil {
				t.Error(err)
			}
		})
	}
}

// S2, S11, H11, A20: a number is held by whoever has it, until that pod is gone, and by nobody after.
func TestNumbersAreHeldUntilPodsAreGone(t *testing.T) {
	w := newCluster(t)
	w.node("held-1")
	p := w.replica(ports.Range{Min: 8100, Max: 8101})
	foreign := w.pod("foreign", func(pod *corev1.Pod) {
		pod.Labels, pod.Annotations = nil, nil
		pod.Spec.NodeName = "held-1"
		pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 8100}}
	})
	w.create(foreign)

	next := 0
	given := func() int32 { // what a pod is given now; two names, so that the search begins at either number
		var numbers []int32
		for range 2 {
			next++
			pod := w.pod(fmt.Sprintf("probe-%d", next))
			req := framework.AdmitRequest{Pod: pod, Params: params("game:80"), RequestUID: pod.UID, DryRun: true}
			if err := p.Admit(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			numbers = append(numbers, pod.Spec.Containers[0].Ports[0].HostPort)
		}
		if numbers[0] != numbers[1] {
			return 0 // both are free
		}
		return numbers[0]
	}
	eventually(t, "the foreign pod's number is avoided", func() bool { return given() == 8101 })

	if err := w.client.Delete(t.Context(), foreign); err != nil { // its kubelet would need 30 s
		t.Fatal(err)
	}
	eventually(t, "the foreign pod terminates", func() bool {
		return w.client.Get(t.Context(), client.ObjectKeyFromObject(foreign), foreign) == nil && foreign.DeletionTimestamp != nil
	})
	if got := given(); got != 8101 {
		t.Errorf("a pod was given %d while another one that terminates holds 8100", got)
	}
	if err := w.client.Delete(t.Context(), foreign, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "both numbers are free", func() bool { return given() == 0 })
}

// S12, F9: two replicas answer for the pods of one set, as fast as they can. A scheduler that fills one node after the other
// can place all of them: each node has room for ten pods, and ten numbers.
func TestTwoReplicasFillTheCluster(t *testing.T) {
	w := newCluster(t)
	nodes := []string{"fill-1", "fill-2", "fill-3"}
	for _, name := range nodes {
		w.node(name)
	}
	r := ports.Range{Min: 8200, Max: 8209}
	replicas := []*plugin.Plugin{w.replica(r), w.replica(r)}
	var pods []*corev1.Pod
	for i := range 10 * len(nodes) {
		pod := w.pod(fmt.Sprintf("arena-%d", i))
		w.admit(replicas[i%2], pod, "game:7777/UDP")
		w.create(pod)
		pods = append(pods, pod)
	}
	taken := map[string][]int32{}
	for _, pod := range pods {
		number := pod.Spec.Containers[0].Ports[0].HostPort
		at := slices.IndexFunc(nodes, func(n string) bool { return len(taken[n]) < 10 && !slices.Contains(taken[n], number) })
		if at < 0 {
			t.Fatalf("%s was given %d, which is in use wherever there is room: %v", pod.Name, number, taken)
		}
		taken[nodes[at]] = append(taken[nodes[at]], number)
		w.bind(pod, nodes[at])
	}
}

// A pod is reported from what the caches hold: its record, its address, and the address of its node.
func TestReconcileReadsTheCaches(t *testing.T) {
	w := newCluster(t)
	w.node("read-1")
	p := w.replica(ports.Range{Min: 8300, Max: 8300})
	pod := w.pod("arena-0")
	w.admit(p, pod, "game:7777/UDP")
	w.create(pod)
	w.bind(pod, "read-1")
	if err := w.client.Get(t.Context(), client.ObjectKeyFromObject(pod), pod); err != nil {
		t.Fatal(err)
	}
	pod.Status.PodIP, pod.Status.PodIPs = "10.0.0.9", []corev1.PodIP{{IP: "10.0.0.9"}}
	if err := w.client.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	view, _, err := framework.PodOf(pod)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Reconcile(t.Context(), view)
	if err != nil {
		t.Fatal(err)
	}
	text, err := framework.EncodeStatus(got.Status)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"internalAddresses":[{"ip":"10.0.0.9","ports":[{"name":"game-7777","protocol":"UDP","port":7777}]}],` +
		`"externalAddresses":[{"ip":"203.0.113.7","ports":[{"name":"game-7777","protocol":"UDP","port":8300}]}],` +
		`"currentNetworkState":"Ready","createTime":null,"lastTransitionTime":null}`
	if diff := cmp.Diff(want, text); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	eventually(t, "the node's event wakes the pod", func() bool {
		names := p.Watches()[0].Pods(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "read-1"}})
		return len(names) == 1 && names[0] == client.ObjectKeyFromObject(pod)
	})
}
