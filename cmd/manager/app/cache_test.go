// SPDX-License-Identifier: Apache-2.0

package app

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

func fullPod(labels map[string]string, node string) *corev1.Pod {
	requests := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "p", UID: "u", ResourceVersion: "7", Labels: labels, Annotations: map[string]string{"a": "b"},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "somebody"}},
		},
		Spec: corev1.PodSpec{
			NodeName: node, HostNetwork: true, SchedulerName: "default-scheduler", NodeSelector: map[string]string{"zone": "a"},
			Tolerations: []corev1.Toleration{{Key: "k"}},
			Containers: []corev1.Container{
				{Name: "ports", Image: "a:1", Ports: []corev1.ContainerPort{{ContainerPort: 1}, {ContainerPort: 2, HostPort: 3, HostIP: "10.0.0.1", Protocol: corev1.ProtocolUDP}}},
				{Name: "requests", Image: "b:1", Resources: corev1.ResourceRequirements{Requests: requests, Limits: requests}},
				{Name: "neither", Image: "c:1"},
			},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.2"},
	}
}

func TestSlimPodKeepsGameServers(t *testing.T) {
	t.Parallel()
	owned := map[string]string{gamev1alpha1.GameServerOwnerGssKey: "arena"}
	want := fullPod(owned, "node")
	want.ManagedFields = nil
	got, err := slimPod(fullPod(owned, "node"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pod (-want +got):\n%s", diff)
	}
}

func TestSlimPodKeepsWhatOthersTakeOfANode(t *testing.T) {
	t.Parallel()
	labels := map[string]string{"app": "web"}
	for _, node := range []string{"node", ""} {
		full := fullPod(labels, node)
		want := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "u", ResourceVersion: "7", Labels: labels},
			Spec: corev1.PodSpec{NodeName: node, HostNetwork: true, Containers: []corev1.Container{
				{Name: "ports", Ports: full.Spec.Containers[0].Ports[1:]},
				{Name: "requests", Resources: corev1.ResourceRequirements{Requests: full.Spec.Containers[1].Resources.Requests}},
			}},
			Status: corev1.PodStatus{Phase: corev1.PodRunning},
		}
		if node == "" { // where it may run matters until it runs
			want.Spec.NodeSelector, want.Spec.Tolerations = full.Spec.NodeSelector, full.Spec.Tolerations
		}
		got, err := slimPod(fullPod(labels, node))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("pod on node %q (-want +got):\n%s", node, diff)
		}
	}
}

func TestSlimNodeDropsLists(t *testing.T) {
	t.Parallel()
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n", ManagedFields: []metav1.ManagedFieldsEntry{{}}},
		Status: corev1.NodeStatus{
			Images: []corev1.ContainerImage{{}}, VolumesInUse: []corev1.UniqueVolumeName{"v"}, VolumesAttached: []corev1.AttachedVolume{{}},
			Addresses: []corev1.NodeAddress{{Type: corev1.NodeExternalIP, Address: "192.0.2.1"}},
		},
	}
	want := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: corev1.NodeStatus{Addresses: node.Status.Addresses}}
	got, err := slimNode(node)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("node (-want +got):\n%s", diff)
	}
}

// A transform also sees markers of deleted objects, and must leave what it does not know.
func TestSlimLeavesOtherThings(t *testing.T) {
	t.Parallel()
	for _, slim := range []func(any) (any, error){slimPod, slimNode} {
		if got, err := slim("marker"); err != nil || got != "marker" {
			t.Errorf("got %v, %v", got, err)
		}
	}
}
