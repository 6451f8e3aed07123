// SPDX-License-Identifier: Apache-2.0

package hostport

import (
	"encoding/json"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/internal/index"
	"github.com/berthgames/berth/internal/ports"
	"github.com/berthgames/berth/network/framework"
)

// newPlugin has seen the whole cluster, which is empty but for objects that can be read.
func newPlugin(t *testing.T, r ports.Range, objects ...client.Object) *Plugin {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for i := range objects { // the fake client writes to them
		objects[i] = objects[i].DeepCopyObject().(client.Object)
	}
	reader := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithIndex(&corev1.Pod{}, index.PodNodeName, func(o client.Object) []string { return []string{o.(*corev1.Pod).Spec.NodeName} }).Build()
	p, err := New(Options{Range: r}, reader, clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
	if err != nil {
		t.Fatal(err)
	}
	p.synced.Store(&[]toolscache.InformerSynced{})
	return p
}

func conf(pairs ...string) []gamev1alpha1.NetworkConfParams {
	var list []gamev1alpha1.NetworkConfParams
	for i := 0; i+1 < len(pairs); i += 2 {
		list = append(list, gamev1alpha1.NetworkConfParams{Name: pairs[i], Value: pairs[i+1]})
	}
	return list
}

// gamePod is pod arena-0 of set arena, with containers game and side, sidecar proxy and init container setup.
func gamePod(change ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "games", Name: "arena-0", UID: "uid-arena-0",
			Labels:      map[string]string{gamev1alpha1.GameServerOwnerGssKey: "arena"},
			Annotations: map[string]string{gamev1alpha1.GameServerNetworkType: Name},
		},
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{
				{Name: "setup"},
				{Name: "proxy", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)},
			},
			Containers: []corev1.Container{{Name: "game"}, {Name: "side"}},
		},
	}
	for _, c := range change {
		c(pod)
	}
	return pod
}

func hostNetwork(pod *corev1.Pod) { pod.Spec.HostNetwork = true }

// node is a node with room for ten pods.
func node(name string, change ...func(*corev1.Node)) *corev1.Node {
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}},
		Status:     corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("10")}},
	}
	for _, c := range change {
		c(n)
	}
	return n
}

func address(kind corev1.NodeAddressType, text string) func(*corev1.Node) {
	return func(n *corev1.Node) {
		n.Status.Addresses = append(n.Status.Addresses, corev1.NodeAddress{Type: kind, Address: text})
	}
}

// holder is a pod of somebody else on a node.
func holder(name, nodeName string, protocol corev1.Protocol, number int32) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: name, UID: types.UID(name)},
		Spec: corev1.PodSpec{NodeName: nodeName, Containers: []corev1.Container{{
			Name: "c", Ports: []corev1.ContainerPort{{ContainerPort: 80, HostPort: number, Protocol: protocol}},
		}}},
	}
}

func admit(t *testing.T, p *Plugin, pod *corev1.Pod, pairs ...string) error {
	t.Helper()
	return p.Admit(t.Context(), framework.AdmitRequest{Pod: pod, Params: conf(pairs...), RequestUID: types.UID("request-" + pod.Name)})
}

func view(t *testing.T, pod *corev1.Pod) *framework.Pod {
	t.Helper()
	v, _, err := framework.PodOf(pod)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func withRecord(t *testing.T, record ...given) func(*corev1.Pod) {
	t.Helper()
	text, err := json.Marshal(record)
	if err != nil {
		t.Fatal(err)
	}
	return func(pod *corev1.Pod) { pod.Annotations[RecordKey] = string(text) }
}
