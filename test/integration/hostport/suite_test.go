// SPDX-License-Identifier: Apache-2.0

// Package hostport tests Kubernetes-HostPort against a real API server: what it writes is accepted, and what it sees through
// real caches is enough to keep numbers apart.
package hostport

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/internal/index"
	"github.com/berthgames/berth/internal/ports"
	"github.com/berthgames/berth/network/framework"
	plugin "github.com/berthgames/berth/network/kubernetes/hostport"
	"github.com/berthgames/berth/test/apiserver"
)

// apiServer is shared by all tests of this package; nil without binaries to start it from.
var apiServer *rest.Config

func TestMain(m *testing.M) {
	os.Exit(apiserver.Main(m, func(server *apiserver.Server) error {
		apiServer = server.Config
		return nil
	}))
}

// cluster is a namespace and a range of numbers of its own. Tests do not run in parallel: they share the nodes.
type cluster struct {
	t         *testing.T
	client    client.Client
	namespace string
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	if apiServer == nil {
		t.Skip(apiserver.SkipReason)
	}
	c, err := client.New(apiServer, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := &cluster{t: t, client: c, namespace: strings.ToLower(strings.ReplaceAll(t.Name(), "/", "-"))}
	w.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}})
	return w
}

func (w *cluster) create(obj client.Object) {
	w.t.Helper()
	if err := w.client.Create(w.t.Context(), obj); err != nil {
		w.t.Fatalf("creating %T %s: %v", obj, obj.GetName(), err)
	}
}

// node makes a node with ten slots that is gone after the test.
func (w *cluster) node(name string) {
	w.t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	w.create(node)
	w.t.Cleanup(func() { _ = w.client.Delete(context.Background(), node) })
	node.Status.Allocatable = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("10")}
	node.Status.Capacity = node.Status.Allocatable
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeExternalIP, Address: "203.0.113.7"}}
	if err := w.client.Status().Update(w.t.Context(), node); err != nil {
		w.t.Fatal(err)
	}
	node.Spec.Taints = nil // admission adds one that a kubelet would remove
	if err := w.client.Update(w.t.Context(), node); err != nil {
		w.t.Fatal(err)
	}
}

// replica is the plugin in a process of its own: with its own caches, and synced.
func (w *cluster) replica(r ports.Range) *plugin.Plugin {
	w.t.Helper()
	informers, err := cache.New(apiServer, cache.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	reader, err := client.New(apiServer, client.Options{Cache: &client.CacheOptions{Reader: informers}})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if err := index.Register(ctx, podIndexOnly{informers}); err != nil {
		w.t.Fatal(err)
	}
	p, err := plugin.New(plugin.Options{Range: r}, reader, clock.RealClock{})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := p.Observe(ctx, informers); err != nil {
		w.t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- informers.Start(ctx) }()
	w.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Errorf("cache: %v", err)
		}
	})
	eventually(w.t, "the plugin has seen the cluster", p.Observed)
	return p
}

// podIndexOnly leaves out the indexes of kinds that this API server does not know.
type podIndexOnly struct{ client.FieldIndexer }

func (i podIndexOnly) IndexField(ctx context.Context, obj client.Object, field string, extract client.IndexerFunc) error {
	if _, ok := obj.(*corev1.Pod); !ok {
		return nil
	}
	return i.FieldIndexer.IndexField(ctx, obj, field, extract)
}

// pod is a game server pod without ports.
func (w *cluster) pod(name string, change ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.namespace, Name: name,
			Labels:      map[string]string{gamev1alpha1.GameServerOwnerGssKey: "arena"},
			Annotations: map[string]string{gamev1alpha1.GameServerNetworkType: plugin.Name},
		},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: ptr.To(int64(30)),
			Containers:                    []corev1.Container{{Name: "game", Image: "game:1"}},
		},
	}
	for _, c := range change {
		c(pod)
	}
	return pod
}

// admit lets a replica shape the pod, as the webhook does.
func (w *cluster) admit(p *plugin.Plugin, pod *corev1.Pod, containerPorts ...string) {
	w.t.Helper()
	req := framework.AdmitRequest{Pod: pod, Params: params(containerPorts...), RequestUID: types.UID(pod.Namespace + "/" + pod.Name)}
	if err := p.Admit(w.t.Context(), req); err != nil {
		w.t.Fatalf("admitting %s: %v", pod.Name, err)
	}
}

func params(containerPorts ...string) []gamev1alpha1.NetworkConfParams {
	var list []gamev1alpha1.NetworkConfParams
	for _, value := range containerPorts {
		list = append(list, gamev1alpha1.NetworkConfParams{Name: "ContainerPorts", Value: value})
	}
	return list
}

func (w *cluster) bind(pod *corev1.Pod, node string) {
	w.t.Helper()
	binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}, Target: corev1.ObjectReference{Kind: "Node", Name: node}}
	if err := w.client.SubResource("binding").Create(w.t.Context(), pod, binding); err != nil {
		w.t.Fatalf("binding %s: %v", pod.Name, err)
	}
}

func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !done() {
		if time.Now().After(deadline) {
			t.Fatalf("not within 20 s: %s", what)
		}
		<-time.After(5 * time.Millisecond)
	}
}
