// SPDX-License-Identifier: Apache-2.0

package gameserverset

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	kruisev1alpha1 "github.com/openkruise/kruise-api/apps/v1alpha1"
	kruisev1beta1 "github.com/openkruise/kruise-api/apps/v1beta1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

const never = time.Duration(-1)

func TestUpdatesThatMatter(t *testing.T) {
	t.Parallel()
	sets := func(edit func(*gamev1alpha1.GameServerSet)) client.Object {
		obj := &gamev1alpha1.GameServerSet{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "1"}}
		edit(obj)
		return obj
	}
	workload := func(edit func(*kruisev1beta1.StatefulSet)) client.Object {
		obj := &kruisev1beta1.StatefulSet{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "1"}}
		edit(obj)
		return obj
	}
	probes := func(edit func(*kruisev1alpha1.PodProbeMarker)) client.Object {
		obj := &kruisev1alpha1.PodProbeMarker{}
		edit(obj)
		return obj
	}
	pod := func(edit func(*corev1.Pod)) client.Object {
		obj := podWith(map[string]string{gamev1alpha1.GameServerOwnerGssKey: "arena"})
		edit(obj)
		return obj
	}
	gs := func(edit func(*gamev1alpha1.GameServer)) client.Object {
		obj := &gamev1alpha1.GameServer{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{}}}
		edit(obj)
		return obj
	}
	for name, tc := range map[string]struct {
		changed       func(before, after client.Object) (time.Duration, bool)
		before, after client.Object
		want          time.Duration
	}{
		"set: resync":       {changed: setChanged, before: sets(func(*gamev1alpha1.GameServerSet) {}), after: sets(func(*gamev1alpha1.GameServerSet) {}), want: never},
		"set: spec":         {changed: setChanged, before: sets(func(*gamev1alpha1.GameServerSet) {}), after: sets(func(s *gamev1alpha1.GameServerSet) { s.Generation = 2 })},
		"set: annotation":   {changed: setChanged, before: sets(func(*gamev1alpha1.GameServerSet) {}), after: sets(func(s *gamev1alpha1.GameServerSet) { s.Annotations = map[string]string{"a": "b"} })},
		"set: status":       {changed: setChanged, before: sets(func(*gamev1alpha1.GameServerSet) {}), after: sets(func(s *gamev1alpha1.GameServerSet) { s.ResourceVersion = "2" }), want: countsDelay},
		"workload: spec":    {changed: workloadChanged, before: workload(func(*kruisev1beta1.StatefulSet) {}), after: workload(func(s *kruisev1beta1.StatefulSet) { s.Generation = 2 })},
		"workload: owner":   {changed: workloadChanged, before: workload(func(*kruisev1beta1.StatefulSet) {}), after: workload(func(s *kruisev1beta1.StatefulSet) { s.OwnerReferences = controlledBy("x", "y", "z") })},
		"workload: hash":    {changed: workloadChanged, before: workload(func(*kruisev1beta1.StatefulSet) {}), after: workload(func(s *kruisev1beta1.StatefulSet) { s.Annotations = map[string]string{"a": "b"} })},
		"workload: status":  {changed: workloadChanged, before: workload(func(*kruisev1beta1.StatefulSet) {}), after: workload(func(s *kruisev1beta1.StatefulSet) { s.Status.ReadyReplicas = 2 }), want: countsDelay},
		"workload: nothing": {changed: workloadChanged, before: workload(func(*kruisev1beta1.StatefulSet) {}), after: workload(func(s *kruisev1beta1.StatefulSet) { s.ResourceVersion = "2" }), want: never},
		"probes: seen":      {changed: probesChanged, before: probes(func(*kruisev1alpha1.PodProbeMarker) {}), after: probes(func(m *kruisev1alpha1.PodProbeMarker) { m.Status.ObservedGeneration = 1 })},
		"probes: matches":   {changed: probesChanged, before: probes(func(*kruisev1alpha1.PodProbeMarker) {}), after: probes(func(m *kruisev1alpha1.PodProbeMarker) { m.Status.MatchedPods = 9 }), want: never},
		"pod: addresses":    {changed: podChanged, before: pod(func(*corev1.Pod) {}), after: pod(func(p *corev1.Pod) { p.Status.PodIP = "10.0.0.1" }), want: never},
		"pod: other label":  {changed: podChanged, before: pod(func(*corev1.Pod) {}), after: pod(func(p *corev1.Pod) { p.Labels["x"] = "y" }), want: never},
		"pod: ready":        {changed: podChanged, before: pod(func(*corev1.Pod) {}), after: pod(func(p *corev1.Pod) { p.Status.Conditions = []corev1.PodCondition{{Type: "Ready", Status: "True"}} }), want: countsDelay},
		"pod: opsState":     {changed: podChanged, before: pod(func(*corev1.Pod) {}), after: pod(func(p *corev1.Pod) { p.Labels[gamev1alpha1.GameServerOpsStateKey] = "x" }), want: countsDelay},
		"pod: state":        {changed: podChanged, before: pod(func(*corev1.Pod) {}), after: pod(func(p *corev1.Pod) { p.Labels[gamev1alpha1.GameServerStateKey] = "PreDelete" }), want: countsDelay},
		"pod: held":         {changed: podChanged, before: pod(func(*corev1.Pod) {}), after: pod(func(p *corev1.Pod) { p.Labels[gamev1alpha1.LifecycleStateKey] = "PreparingDelete" }), want: countsDelay},
		"pod: ending":       {changed: podChanged, before: pod(func(*corev1.Pod) {}), after: pod(func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }), want: countsDelay},
		"pod: adopted":      {changed: podChanged, before: pod(func(*corev1.Pod) {}), after: pod(func(p *corev1.Pod) { p.OwnerReferences = controlledBy("x", "y", "z") }), want: countsDelay},
		"gs: status":        {changed: gameServerChanged, before: gs(func(*gamev1alpha1.GameServer) {}), after: gs(func(g *gamev1alpha1.GameServer) { g.Status.CurrentState = "Ready" }), want: never},
		"gs: image":         {changed: gameServerChanged, before: gs(func(*gamev1alpha1.GameServer) {}), after: gs(func(g *gamev1alpha1.GameServer) { g.Spec.Containers = []gamev1alpha1.GameServerContainer{{Name: "x"}} }), want: never},
		"gs: opsState":      {changed: gameServerChanged, before: gs(func(*gamev1alpha1.GameServer) {}), after: gs(func(g *gamev1alpha1.GameServer) { g.Spec.OpsState = "Kill" }), want: wishDelay},
		"gs: priority":      {changed: gameServerChanged, before: gs(func(*gamev1alpha1.GameServer) {}), after: gs(func(g *gamev1alpha1.GameServer) { g.Spec.DeletionPriority = ptr.To(intstr.FromInt32(1)) }), want: wishDelay},
		"gs: mark":          {changed: gameServerChanged, before: gs(func(*gamev1alpha1.GameServer) {}), after: gs(func(g *gamev1alpha1.GameServer) { g.Labels[gamev1alpha1.GameServerDeletingKey] = "true" }), want: wishDelay},
		"gs: owner":         {changed: gameServerChanged, before: gs(func(*gamev1alpha1.GameServer) {}), after: gs(func(g *gamev1alpha1.GameServer) { g.OwnerReferences = controlledBy("x", "y", "z") }), want: wishDelay},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, matters := tc.changed(tc.before, tc.after)
			if !matters {
				got = never
			}
			if got != tc.want {
				t.Errorf("looked at after %v, want %v", got, tc.want)
			}
		})
	}
}

// added records what a handler adds.
type added struct {
	queue
	requests map[reconcile.Request]time.Duration
}

func (a added) AddAfter(request reconcile.Request, after time.Duration) { a.requests[request] = after }

func TestEventsWakeTheSetOfAnObject(t *testing.T) {
	t.Parallel()
	arena := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "arena"}}
	ofSet := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "arena-0", Labels: map[string]string{gamev1alpha1.GameServerOwnerGssKey: "arena"}}}
	ofNobody := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "arena-0"}}
	named := &kruisev1beta1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "arena"}}
	for name, tc := range map[string]struct {
		watcher watcher
		obj     client.Object
		want    map[reconcile.Request]time.Duration
	}{
		"a pod with the label of a set":                   {watcher: watcher{setOf: byOwnerLabel, cameOrWent: countsDelay}, obj: ofSet, want: map[reconcile.Request]time.Duration{arena: countsDelay}},
		"a pod without":                                   {watcher: watcher{setOf: byOwnerLabel}, obj: ofNobody, want: map[reconcile.Request]time.Duration{}},
		"an object of the name of a set, whoever's it is": {watcher: watcher{setOf: sameName}, obj: named, want: map[reconcile.Request]time.Duration{arena: 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for kind, send := range map[string]func(context.Context, added){
				"create": func(ctx context.Context, q added) {
					tc.watcher.handler().Create(ctx, event.CreateEvent{Object: tc.obj}, q)
				},
				"delete": func(ctx context.Context, q added) {
					tc.watcher.handler().Delete(ctx, event.DeleteEvent{Object: tc.obj}, q)
				},
			} {
				q := added{requests: map[reconcile.Request]time.Duration{}}
				send(t.Context(), q)
				if diff := cmp.Diff(tc.want, q.requests); diff != "" {
					t.Errorf("%s (-want +got):\n%s", kind, diff)
				}
			}
		})
	}
}
