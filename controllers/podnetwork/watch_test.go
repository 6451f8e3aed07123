// SPDX-License-Identifier: Apache-2.0

package podnetwork

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/network/framework"
)

func podWithNetwork() *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		UID: "1", ResourceVersion: "1",
		Annotations: map[string]string{gamev1alpha1.GameServerNetworkType: "Test"},
		Labels:      map[string]string{gamev1alpha1.GameServerOwnerGssKey: "a"},
	}}
}

func nobody(*corev1.Pod) bool { return false }

func TestWhichUpdatesOfPodsMatter(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change func(*corev1.Pod)
		want   bool
	}{
		"nothing":                     {func(*corev1.Pod) {}, false},
		"a label of the game":         {func(p *corev1.Pod) { p.Labels["x"] = "y" }, false},
		"the state of the server":     {func(p *corev1.Pod) { p.Labels[gamev1alpha1.GameServerStateKey] = "Ready" }, false},
		"the network is disabled":     {func(p *corev1.Pod) { p.Labels[gamev1alpha1.GameServerNetworkDisabled] = "true" }, true},
		"a node":                      {func(p *corev1.Pod) { p.Spec.NodeName = "n1" }, true},
		"an address":                  {func(p *corev1.Pod) { p.Status.PodIP = "10.0.0.1" }, true},
		"a second address":            {func(p *corev1.Pod) { p.Status.PodIPs = []corev1.PodIP{{IP: "10.0.0.1"}, {IP: "fd00::1"}} }, true},
		"the address of its host":     {func(p *corev1.Pod) { p.Status.HostIP = "192.0.2.1" }, true},
		"a second one of its host":    {func(p *corev1.Pod) { p.Status.HostIPs = []corev1.HostIP{{IP: "192.0.2.1"}, {IP: "fd00::1"}} }, true},
		"another pod of that name":    {func(p *corev1.Pod) { p.UID = "2" }, true},
		"nothing, but a look is due":  {func(p *corev1.Pod) { p.ResourceVersion = "1" }, true},
		"parameters":                  {func(p *corev1.Pod) { p.Annotations[gamev1alpha1.GameServerNetworkConf] = "[]" }, true},
		"somebody wrote the status":   {func(p *corev1.Pod) { p.Annotations[gamev1alpha1.GameServerNetworkStatus] = "{}" }, true},
		"somebody asked for a look":   {func(p *corev1.Pod) { p.Annotations[gamev1alpha1.GameServerNetworkTriggerTime] = "now" }, true},
		"a deletion":                  {func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }, true},
		"the end":                     {func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }, true},
		"readiness":                   {conditions(corev1.PodReady, corev1.ConditionTrue), true},
		"the scheduler found no node": {conditions(corev1.PodScheduled, corev1.ConditionFalse), true},
		"a condition of others":       {conditions("game.kruise.io/idle", corev1.ConditionTrue), false},
		"no network any more":         {func(p *corev1.Pod) { delete(p.Annotations, gamev1alpha1.GameServerNetworkType) }, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, after := podWithNetwork(), podWithNetwork()
			after.ResourceVersion = "2"
			tc.change(after)
			if got := podMatters(nobody).Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}); got != tc.want {
				t.Errorf("the update matters: %t, want %t", got, tc.want)
			}
		})
	}
}

func conditions(kind corev1.PodConditionType, status corev1.ConditionStatus) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Status.Conditions = []corev1.PodCondition{{Type: kind, Status: status}} }
}

func TestOurOwnWriteDoesNotMatter(t *testing.T) {
	t.Parallel()
	before, after := podWithNetwork(), podWithNetwork()
	after.ResourceVersion = "2"
	after.Annotations[gamev1alpha1.GameServerNetworkStatus] = readyText
	matters := podMatters(func(pod *corev1.Pod) bool { return pod.Annotations[gamev1alpha1.GameServerNetworkStatus] == readyText })
	if matters.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}) {
		t.Error("our own write wakes the pod")
	}
	after.Status.PodIP = "10.0.0.1"
	if !matters.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}) {
		t.Error("a change that comes with our own write is missed")
	}
}

func TestPodsWithoutNetworkDoNotMatter(t *testing.T) {
	t.Parallel()
	if podMatters(nobody).Create(event.CreateEvent{Object: &corev1.Pod{}}) || podMatters(nobody).Delete(event.DeleteEvent{Object: &corev1.Pod{}}) {
		t.Error("a pod without a network type wakes the controller")
	}
	if !podMatters(nobody).Create(event.CreateEvent{Object: podWithNetwork()}) || !podMatters(nobody).Delete(event.DeleteEvent{Object: podWithNetwork()}) {
		t.Error("a pod with a network type does not wake the controller")
	}
}

// watcher is a plugin that watches what a test says.
type watcher struct {
	framework.Plugin
	name    string
	watches []framework.Watch
}

func (w watcher) Name() string               { return w.name }
func (w watcher) Watches() []framework.Watch { return w.watches }

func podNamed(names ...string) func(context.Context, client.Object) []types.NamespacedName {
	return func(_ context.Context, obj client.Object) []types.NamespacedName {
		pods := []types.NamespacedName{{Namespace: "ns", Name: obj.GetName()}}
		for _, name := range names {
			pods = append(pods, types.NamespacedName{Namespace: "ns", Name: name})
		}
		return pods
	}
}

func TestWatchesOfOneKindShareAHandler(t *testing.T) {
	t.Parallel()
	never := func(client.Object, client.Object) bool { return false }
	kinds, err := watchedKinds([]framework.Plugin{
		watcher{name: "A", watches: []framework.Watch{{Object: &corev1.Node{}, Pods: podNamed("a")}, {Object: &corev1.Service{}}}},
		plain{},
		watcher{name: "B", watches: []framework.Watch{{Object: &corev1.Node{}, Pods: podNamed("b"), Relevant: never}}},
	}, clientgoscheme.Scheme)
	if err != nil {
		t.Fatal(err)
	}
	if len(kinds) != 2 || len(kinds[0].watches) != 2 || len(kinds[1].watches) != 1 {
		t.Fatalf("kinds %v, want nodes of A and B, and services of A", kinds)
	}
	q, nodes := &queue{}, kinds[0].handler()
	before, after := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n2"}}
	nodes.Create(t.Context(), event.CreateEvent{Object: before, IsInInitialList: true}, q)
	expectWoken(t, q)
	nodes.Create(t.Context(), event.CreateEvent{Object: before}, q)
	expectWoken(t, q, "a", "b", "n1")
	nodes.Update(t.Context(), event.UpdateEvent{ObjectOld: before, ObjectNew: after}, q)
	expectWoken(t, q, "a", "n1", "n2")
	nodes.Delete(t.Context(), event.DeleteEvent{Object: after}, q)
	expectWoken(t, q, "a", "b", "n2")
}

func TestKindThatTheManagerDoesNotKnowIsAnError(t *testing.T) {
	t.Parallel()
	_, err := watchedKinds([]framework.Plugin{watcher{name: "A", watches: []framework.Watch{{Object: &gamev1alpha1.GameServer{}}}}}, clientgoscheme.Scheme)
	if err == nil || !strings.Contains(err.Error(), "watching *v1alpha1.GameServer for network plugin A") {
		t.Errorf("error %v, want one that names kind and plugin", err)
	}
}

func TestOwnerIsThePodToWake(t *testing.T) {
	t.Parallel()
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "any", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "game.kruise.io/v1alpha1", Kind: "GameServerSet", Name: "a"},
		{APIVersion: "metrics.k8s.io/v1", Kind: "Pod", Name: "other"},
		{APIVersion: "v1", Kind: "Pod", Name: "a-0"},
	}}}
	w := pluginWatch{Watch: framework.Watch{Object: &corev1.Service{}}, plugin: "A"}
	pods := map[types.NamespacedName]struct{}{}
	w.collect(t.Context(), pods, service)
	if diff := cmp.Diff(map[types.NamespacedName]struct{}{{Namespace: "ns", Name: "a-0"}: {}}, pods); diff != "" {
		t.Errorf("pods (-want +got):\n%s", diff)
	}
}

// A panic on the goroutine that delivers events would end the process.
func TestPanicsOfWatchesAreContained(t *testing.T) {
	t.Parallel()
	kind := watchedKind{object: &corev1.Node{}, watches: []pluginWatch{
		{plugin: "A", Watch: framework.Watch{Pods: func(context.Context, client.Object) []types.NamespacedName { panic("nil map") }}},
		{plugin: "B", Watch: framework.Watch{Pods: podNamed(), Relevant: func(client.Object, client.Object) bool { panic("nil map") }}},
	}}
	q, node := &queue{}, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
	kind.handler().Update(t.Context(), event.UpdateEvent{ObjectOld: node, ObjectNew: node}, q)
	expectWoken(t, q, "n1")
}
