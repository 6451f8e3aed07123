// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

func ownerReference(apiVersion, kind, name string, uid types.UID) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, UID: uid, Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true)}
}

func ownerPod(uid types.UID) metav1.OwnerReference {
	return ownerReference("v1", "Pod", "arena-0", uid)
}

func ownerSet() metav1.OwnerReference {
	return ownerReference("game.kruise.io/v1alpha1", "GameServerSet", "arena", setUID)
}

func aGameServer(owners ...metav1.OwnerReference) *gamev1alpha1.GameServer {
	gs := newGameServer(aPod())
	gs.UID, gs.OwnerReferences = "gs-1", owners
	gs.Labels = map[string]string{gamev1alpha1.GameServerOwnerGssKey: "arena"}
	return gs
}

func marked(gs *gamev1alpha1.GameServer) *gamev1alpha1.GameServer {
	gs.Labels[gamev1alpha1.GameServerDeletingKey] = "true"
	return gs
}

func TestFateOf(t *testing.T) {
	t.Parallel()
	deleted := func(gs *gamev1alpha1.GameServer) *gamev1alpha1.GameServer {
		gs.DeletionTimestamp = ptr.To(stamp(noon()))
		return gs
	}
	dyingSet := aSet()
	dyingSet.DeletionTimestamp = ptr.To(stamp(noon()))
	cases := map[string]struct {
		seen seen
		want fate
	}{
		"nothing exists":                                   {seen{}, leave},
		"a new pod":                                        {seen{pod: aPod(), set: aSet()}, create},
		"a pod of no set":                                  {seen{pod: aPod()}, leave},
		"a pod of a set that is deleted":                   {seen{pod: aPod(), set: dyingSet}, leave},
		"a pod on its way out gets none any more":          {seen{pod: aPod(isDeleted), set: aSet()}, leave},
		"they belong together":                             {seen{pod: aPod(), gameServer: aGameServer(ownerPod(podUID)), set: aSet()}, keep},
		"they belong together and the set is gone":         {seen{pod: aPod(), gameServer: aGameServer(ownerPod(podUID))}, keep},
		"G-4: of a former pod, Cascade":                    {seen{pod: aPod(), gameServer: aGameServer(ownerPod("former")), set: aSet()}, replace},
		"of a former pod, Cascade, and the pod is going":   {seen{pod: aPod(isDeleted), gameServer: aGameServer(ownerPod("former")), set: aSet()}, leave},
		"of a former pod and the set is gone":              {seen{pod: aPod(), gameServer: aGameServer(ownerPod("former"))}, leave},
		"G-18: of a former pod, policy is Delete by now":   {seen{pod: aPod(), gameServer: aGameServer(ownerPod("former")), set: aSet(keepsGameServers)}, keep},
		"B05: it outlived its pod and belongs to the next": {seen{pod: aPod(), gameServer: aGameServer(ownerSet()), set: aSet(keepsGameServers)}, keep},
		"marked, but its pod is there":                     {seen{pod: aPod(), gameServer: marked(aGameServer(ownerSet())), set: aSet(keepsGameServers)}, keep},
		"the set gave up the id":                           {seen{gameServer: marked(aGameServer(ownerSet()))}, remove},
		"marked false": {seen{gameServer: func() *gamev1alpha1.GameServer {
			gs := marked(aGameServer(ownerSet()))
			gs.Labels[gamev1alpha1.GameServerDeletingKey] = "false"
			return gs
		}()}, await},
		"it waits for its next pod":                     {seen{gameServer: aGameServer(ownerSet())}, await},
		"without its pod it is the garbage collector's": {seen{gameServer: aGameServer(ownerPod(podUID))}, leave},
		"somebody made it by hand":                      {seen{gameServer: aGameServer()}, leave},
		"somebody made it by hand, and then came a pod": {seen{pod: aPod(), gameServer: aGameServer(), set: aSet()}, keep},
		"it is being deleted":                           {seen{pod: aPod(), gameServer: deleted(aGameServer(ownerPod(podUID))), set: aSet()}, leave},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := fateOf(tc.seen); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestG18OwnerFollowsThePolicy(t *testing.T) {
	t.Parallel()
	foreign := ownerReference("apps/v1", "Deployment", "mine", "d-1")
	plain := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "c", UID: "c-1"}
	cases := map[string]struct {
		have []metav1.OwnerReference
		set  *gamev1alpha1.GameServerSet
		want []metav1.OwnerReference
	}{
		"none, Cascade":                             {set: aSet(), want: []metav1.OwnerReference{ownerPod(podUID)}},
		"none, Delete":                              {set: aSet(keepsGameServers), want: []metav1.OwnerReference{ownerSet()}},
		"Cascade became Delete":                     {have: []metav1.OwnerReference{ownerPod(podUID)}, set: aSet(keepsGameServers), want: []metav1.OwnerReference{ownerSet()}},
		"Delete became Cascade":                     {have: []metav1.OwnerReference{ownerSet()}, set: aSet(), want: []metav1.OwnerReference{ownerPod(podUID)}},
		"other owners stay":                         {have: []metav1.OwnerReference{plain, ownerSet()}, set: aSet(), want: []metav1.OwnerReference{plain, ownerPod(podUID)}},
		"a controller of another kind":              {have: []metav1.OwnerReference{foreign}, set: aSet(), want: []metav1.OwnerReference{foreign}},
		"the set was deleted and remade":            {have: []metav1.OwnerReference{ownerReference("game.kruise.io/v1alpha1", "GameServerSet", "arena", "old")}, set: aSet(keepsGameServers), want: []metav1.OwnerReference{ownerSet()}},
		"a misspelt policy counts as Cascade (A-3)": {set: aSet(func(s *gamev1alpha1.GameServerSet) { s.Spec.GameServerTemplate.ReclaimPolicy = "delete" }), want: []metav1.OwnerReference{ownerPod(podUID)}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gs := aGameServer(tc.have...)
			setOwner(gs, aPod(), tc.set)
			if diff := cmp.Diff(tc.want, gs.OwnerReferences); diff != "" {
				t.Errorf("owners (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNewGameServerIsCompleteFromTheBeginning(t *testing.T) {
	t.Parallel()
	withMetadata := func(set *gamev1alpha1.GameServerSet) {
		set.Spec.GameServerTemplate.Labels = map[string]string{"region": "eu"}
	}
	cases := map[string]struct {
		set       *gamev1alpha1.GameServerSet
		wantOwner metav1.OwnerReference
		wantKeys  map[string]string
		labels    map[string]string
	}{
		"without a policy": {set: aSet(), wantOwner: ownerPod(podUID), labels: map[string]string{}},
		"policy Delete, template with a label": {
			set: aSet(keepsGameServers, withMetadata), wantOwner: ownerSet(), labels: map[string]string{"region": "eu"},
			wantKeys: map[string]string{templateKeysKey: `{"labels":["region"]}`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := decide(seen{pod: aPod(), set: tc.set, node: aNode(), now: noon()}, timing{})
			if err != nil || p.fate != create {
				t.Fatalf("fate %s, error %v", p.fate, err)
			}
			want := newGameServer(aPod())
			want.OwnerReferences = []metav1.OwnerReference{tc.wantOwner}
			want.Labels = merge(tc.labels, map[string]string{
				gamev1alpha1.GameServerOwnerGssKey: "arena", gamev1alpha1.GameServerNodeNameKey: "node-1",
			}, nil)
			want.Annotations = merge(tc.wantKeys, map[string]string{
				gamev1alpha1.GsTemplateMetadataHashKey: metadataHash(&tc.set.Spec.GameServerTemplate),
			}, nil)
			if diff := cmp.Diff(want, p.gameServer); diff != "" {
				t.Errorf("GameServer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCreationWaitsForTheNode(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		pod  *corev1.Pod
		age  time.Duration
		want time.Duration
	}{
		"just created":                   {pod: aPod(isNew), want: 15 * time.Second},
		"a while ago":                    {pod: aPod(isNew), age: 10 * time.Second, want: 5 * time.Second},
		"too long ago":                   {pod: aPod(isNew), age: time.Minute},
		"it has a node":                  {pod: aPod(isNew, func(p *corev1.Pod) { p.Spec.NodeName = "node-1" })},
		"the scheduler finds no node":    {pod: aPod(isNew, podCond(corev1.PodScheduled, corev1.ConditionFalse, "Unschedulable", "0/3 nodes"))},
		"it failed before it had a node": {pod: aPod(isNew, phase(corev1.PodFailed))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := decide(seen{pod: tc.pod, set: aSet(), now: noon().Add(tc.age)}, defaults())
			if err != nil {
				t.Fatal(err)
			}
			if tc.want > 0 && (p.fate != leave || p.recheckAfter != tc.want) {
				t.Errorf("fate %s, again after %s, want to wait %s", p.fate, p.recheckAfter, tc.want)
			}
			if tc.want == 0 && p.fate != create {
				t.Errorf("fate %s, want %s", p.fate, create)
			}
		})
	}
}
