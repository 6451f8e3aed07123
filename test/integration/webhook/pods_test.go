// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

func pod(namespace, name string, changes ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "game", Image: "example.com/game:1"}}},
	}
	for _, change := range changes {
		change(p)
	}
	return p
}

func owned(p *corev1.Pod) { p.Labels = map[string]string{gamev1alpha1.GameServerOwnerGssKey: "arena"} }

func withHostPort(p *corev1.Pod) {
	owned(p)
	p.Annotations = map[string]string{
		gamev1alpha1.GameServerNetworkType: "Kubernetes-HostPort",
		gamev1alpha1.GameServerNetworkConf: `[{"name":"ContainerPorts","value":"game:7777/UDP"}]`,
	}
}

func hostPorts(p *corev1.Pod) []int32 {
	var ports []int32
	for _, c := range p.Spec.Containers {
		for _, port := range c.Ports {
			ports = append(ports, port.HostPort)
		}
	}
	return ports
}

// W-11: the overrides of a GameServer that outlived its pod are in force from the first moment.
func TestNewPodGetsTheOverridesOfItsGameServer(t *testing.T) {
	w := need(t)
	namespace := w.namespace(t)
	server := &gamev1alpha1.GameServer{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "arena-0", Labels: map[string]string{gamev1alpha1.GameServerOwnerGssKey: "arena"}},
		Spec: gamev1alpha1.GameServerSpec{Containers: []gamev1alpha1.GameServerContainer{{
			Name: "game", Image: "example.com/game:2",
			Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{"example.com/gpu": resource.MustParse("1")}},
		}}},
	}
	if err := w.client.Create(t.Context(), server); err != nil {
		t.Fatal(err)
	}
	p := pod(namespace, "arena-0", owned)
	if err := w.client.Create(t.Context(), p, client.DryRunAll); err != nil {
		t.Fatal(err)
	}
	got := p.Spec.Containers[0]
	gpus := got.Resources.Limits["example.com/gpu"]
	if got.Image != "example.com/game:2" || gpus.Value() != 1 {
		t.Errorf("image %s, limits %v", got.Image, got.Resources.Limits)
	}
}

// W-3: a provider that is switched off must not stop game servers.
func TestUnknownNetworkTypeIsAdmittedWithAWarning(t *testing.T) {
	w := need(t)
	u := w.user(t)
	p := pod(w.namespace(t), "arena-0", owned, func(p *corev1.Pod) {
		p.Annotations = map[string]string{gamev1alpha1.GameServerNetworkType: "Cloud-LB"}
	})
	if err := u.Create(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(u.heard(), `there is no network plugin "Cloud-LB"`) {
		t.Errorf("warnings: %s", u.heard())
	}
}

// G11, W-7, F1: upstream's allocation counted every dry run.
func TestDryRunLeavesNoTrace(t *testing.T) {
	w := need(t)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-a"}}
	if err := w.client.Create(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	namespace := w.namespace(t)
	for i := range 100 {
		p := pod(namespace, fmt.Sprintf("arena-%d", i), withHostPort)
		if err := w.client.Create(t.Context(), p, client.DryRunAll); err != nil {
			t.Fatalf("dry run %d: %v", i, err)
		}
		if ports := hostPorts(p); len(ports) != 1 || ports[0] < 30000 || ports[0] > 30001 {
			t.Fatalf("dry run %d shows host ports %v", i, ports)
		}
	}
	pods := &corev1.PodList{}
	if err := w.client.List(t.Context(), pods, client.InNamespace(namespace)); err != nil || len(pods.Items) > 0 {
		t.Fatalf("%d pods are stored: %v", len(pods.Items), err)
	}
	given := map[int32]bool{}
	for i := range 2 {
		p := pod(namespace, fmt.Sprintf("arena-%d", i), withHostPort)
		if err := w.client.Create(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		for _, port := range hostPorts(p) {
			given[port] = true
		}
	}
	if !given[30000] || !given[30001] {
		t.Errorf("of two free ports the two pods got %v", given)
	}
}
