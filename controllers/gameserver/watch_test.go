// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

func TestWhichUpdatesWakeGameServers(t *testing.T) {
	t.Parallel()
	node := func(change func(*corev1.Node)) client.Object {
		n := aNode()
		change(n)
		return n
	}
	set := func(generation int64, change func(*gamev1alpha1.GameServerSet)) client.Object {
		s := aSet(change)
		s.Generation = generation
		return s
	}
	same := func(*gamev1alpha1.GameServerSet) {}
	gs := func(change func(*gamev1alpha1.GameServer)) client.Object {
		g := aGameServer(ownerPod(podUID))
		change(g)
		return g
	}
	cases := map[string]struct {
		predicate     predicate.Predicate
		before, after client.Object
		want          bool
	}{
		"a GameServer's status":     {gameServerEvents(), gs(func(*gamev1alpha1.GameServer) {}), gs(func(g *gamev1alpha1.GameServer) { g.Status.CurrentState = "Ready" }), false},
		"a GameServer's spec":       {gameServerEvents(), gs(func(*gamev1alpha1.GameServer) {}), gs(func(g *gamev1alpha1.GameServer) { g.Generation = 2 }), true},
		"a GameServer's label":      {gameServerEvents(), gs(func(*gamev1alpha1.GameServer) {}), gs(func(g *gamev1alpha1.GameServer) { g.Labels["a"] = "b" }), true},
		"a GameServer's annotation": {gameServerEvents(), gs(func(*gamev1alpha1.GameServer) {}), gs(func(g *gamev1alpha1.GameServer) { g.Annotations = map[string]string{"a": "b"} }), true},
		"a GameServer's owner":      {gameServerEvents(), gs(func(*gamev1alpha1.GameServer) {}), gs(func(g *gamev1alpha1.GameServer) { g.OwnerReferences = nil }), true},
		"a pod of a set":            {ownedPods(), aPod(), aPod(), true},
		"a pod that leaves its set": {ownedPods(), aPod(), &corev1.Pod{}, true},
		"a pod of somebody else":    {ownedPods(), &corev1.Pod{}, &corev1.Pod{}, false},
		"a heartbeat of a node":     {nodeHealth(), aNode(), node(func(n *corev1.Node) { n.Status.Conditions[0].LastHeartbeatTime = stamp(noon()) }), false},
		"a label of a node":         {nodeHealth(), aNode(), node(func(n *corev1.Node) { n.Labels = map[string]string{"a": "b"} }), false},
		"a node turns not ready":    {nodeHealth(), aNode(), node(func(n *corev1.Node) { n.Status.Conditions[0].Status = "Unknown" }), true},
		"a node condition appears": {nodeHealth(), aNode(), node(func(n *corev1.Node) {
			n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: "DiskPressure", Status: "True"})
		}), true},
		"replicas of a set": {setMatters(), set(1, same), set(2, func(s *gamev1alpha1.GameServerSet) { n := int32(5); s.Spec.Replicas = &n }), false},
		"status of a set":   {setMatters(), set(1, same), set(1, same), false},
		"B17: template metadata of a set": {setMatters(), set(1, same), set(2, func(s *gamev1alpha1.GameServerSet) {
			s.Spec.GameServerTemplate.Labels = map[string]string{"a": "b"}
		}), true},
		"G-18: reclaim policy of a set": {setMatters(), set(1, same), set(2, keepsGameServers), true},
		"service qualities of a set":    {setMatters(), set(1, same), set(2, withQualities(healthy(true))), true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tc.predicate.Update(ctrlevent.UpdateEvent{ObjectOld: tc.before, ObjectNew: tc.after}); got != tc.want {
				t.Errorf("passes: %v, want %v", got, tc.want)
			}
		})
	}
}

func TestWhichObjectsWakeGameServersWhenTheyComeOrGo(t *testing.T) {
	t.Parallel()
	if ownedPods().Create(ctrlevent.CreateEvent{Object: &corev1.Pod{}}) || !ownedPods().Create(ctrlevent.CreateEvent{Object: aPod()}) {
		t.Error("exactly pods with the owner label should pass")
	}
	if !nodeHealth().Delete(ctrlevent.DeleteEvent{Object: aNode()}) || !nodeHealth().Create(ctrlevent.CreateEvent{Object: aNode()}) {
		t.Error("nodes that come or go should pass")
	}
	if nodeHealth().Create(ctrlevent.CreateEvent{Object: aNode(), IsInInitialList: true}) {
		t.Error("nodes that are there from the beginning should not pass")
	}
	if !setMatters().Create(ctrlevent.CreateEvent{Object: aSet()}) || setMatters().Delete(ctrlevent.DeleteEvent{Object: aSet()}) {
		t.Error("sets that come should pass, sets that go should not")
	}
	if got := requestFor(&metav1.ObjectMeta{Namespace: "play", Name: "arena-0"}); got.Namespace != "play" || got.Name != "arena-0" {
		t.Errorf("request %v", got)
	}
}
