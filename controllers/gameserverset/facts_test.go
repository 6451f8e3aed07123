// SPDX-License-Identifier: Apache-2.0

package gameserverset

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	kruisev1beta1 "github.com/openkruise/kruise-api/apps/v1beta1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

func TestIDOf(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		set, name string
		want      int32
		wantOK    bool
	}{
		"a server":                                  {set: "arena", name: "arena-3", want: 3, wantOK: true},
		"a set with a number in its name":           {set: "xxx-23", name: "xxx-23-3", want: 3, wantOK: true},
		"the largest id":                            {set: "arena", name: "arena-2147483647", want: 2147483647, wantOK: true},
		"S-11: no number":                           {set: "arena", name: "arena-debug"},
		"S-11: nothing after the dash":              {set: "arena", name: "arena-"},
		"S-11: a pod of another name":               {set: "arena", name: "other-3"},
		"S-11: a pod of a set whose name is longer": {set: "arena", name: "arena-big-3"},
		"S-11: a number the workload never writes":  {set: "arena", name: "arena-03"},
		"S-11: a negative number":                   {set: "arena", name: "arena--3"},
		"S-11: more than 31 bits":                   {set: "arena", name: "arena-2147483648"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, ok := idOf(tc.set, tc.name); got != tc.want || ok != tc.wantOK {
				t.Errorf("idOf() = %d, %v, want %d, %v", got, ok, tc.want, tc.wantOK)
			}
		})
	}
}

func controlledBy(kind, name, uid string) []metav1.OwnerReference {
	return []metav1.OwnerReference{{Kind: kind, Name: name, UID: types.UID(uid), Controller: ptr.To(true)}}
}

func TestStrayPodsAreNoServers(t *testing.T) {
	t.Parallel()
	workload := &kruisev1beta1.StatefulSet{ObjectMeta: metav1.ObjectMeta{UID: "w"}}
	for name, tc := range map[string]struct {
		pod         corev1.Pod
		workload    *kruisev1beta1.StatefulSet
		wantServers int
		wantStrays  []string
	}{
		"a pod of the workload":            {pod: corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "arena-0", OwnerReferences: controlledBy("StatefulSet", "arena", "w")}}, workload: workload, wantServers: 1},
		"an orphan for the workload":       {pod: corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "arena-0"}}, workload: workload, wantServers: 1},
		"an orphan before the workload":    {pod: corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "arena-0"}}, wantServers: 1},
		"S-11: a pod of somebody else":     {pod: corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "arena-0", OwnerReferences: controlledBy("Job", "x", "j")}}, workload: workload, wantStrays: []string{"arena-0"}},
		"S-11: a pod of another name":      {pod: corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "debug", OwnerReferences: controlledBy("StatefulSet", "x", "w")}}, workload: workload, wantStrays: []string{"debug"}},
		"a pod of a workload that is gone": {pod: corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "arena-0", OwnerReferences: controlledBy("StatefulSet", "arena", "old")}}, workload: workload},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &pass{set: &gamev1alpha1.GameServerSet{ObjectMeta: metav1.ObjectMeta{Name: "arena"}}, workload: tc.workload}
			p.see(&tc.pod)
			if len(p.servers) != tc.wantServers || int(p.pods.pods) != tc.wantServers {
				t.Errorf("%d servers and a count of %d, want %d", len(p.servers), p.pods.pods, tc.wantServers)
			}
			if diff := cmp.Diff(tc.wantStrays, p.strays); diff != "" {
				t.Errorf("strays (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNewServer(t *testing.T) {
	t.Parallel()
	labelled := func(edit func(*corev1.Pod)) *corev1.Pod {
		pod := podWith(map[string]string{gamev1alpha1.GameServerOpsStateKey: "Allocated", gamev1alpha1.GameServerDeletePriorityKey: "7"})
		pod.UID = "p"
		if edit != nil {
			edit(pod)
		}
		return pod
	}
	wish := func(controller []metav1.OwnerReference, priority *intstr.IntOrString) *gamev1alpha1.GameServer {
		return &gamev1alpha1.GameServer{ObjectMeta: metav1.ObjectMeta{OwnerReferences: controller},
			Spec: gamev1alpha1.GameServerSpec{OpsState: gamev1alpha1.Maintaining, DeletionPriority: priority}}
	}
	fromLabels := Server{ID: 3, OpsState: "Allocated", DeletionPriority: 7}
	for name, tc := range map[string]struct {
		pod  *corev1.Pod
		gs   *gamev1alpha1.GameServer
		want Server
	}{
		"no GameServer yet": {pod: labelled(nil), want: fromLabels},
		"S-2: the GameServer of the pod wins over its labels": {
			pod: labelled(nil), gs: wish(controlledBy("Pod", "arena-3", "p"), ptr.To(intstr.FromInt32(9))),
			want: Server{ID: 3, OpsState: "Maintaining", DeletionPriority: 9},
		},
		"S-2: so does one that the set owns, with a priority as text": {
			pod: labelled(nil), gs: wish(controlledBy("GameServerSet", "arena", "s"), ptr.To(intstr.FromString("12"))),
			want: Server{ID: 3, OpsState: "Maintaining", DeletionPriority: 12},
		},
		"no priority is 0": {
			pod: labelled(nil), gs: wish(nil, nil), want: Server{ID: 3, OpsState: "Maintaining"},
		},
		"G-4: the GameServer of an earlier pod says nothing about this one": {
			pod: labelled(nil), gs: wish(controlledBy("Pod", "arena-3", "earlier"), nil), want: fromLabels,
		},
		"a priority that is no number is 0": {
			pod:  labelled(func(p *corev1.Pod) { p.Labels[gamev1alpha1.GameServerDeletePriorityKey] = "high" }),
			want: Server{ID: 3, OpsState: "Allocated"},
		},
		"S-10: a priority with zeros in front": {
			pod:  labelled(func(p *corev1.Pod) { p.Labels[gamev1alpha1.GameServerDeletePriorityKey] = "007" }),
			want: fromLabels,
		},
		"a ready pod": {
			pod: labelled(func(p *corev1.Pod) {
				p.Status.Conditions = []corev1.PodCondition{{Type: "x"}, {Type: corev1.PodReady, Status: corev1.ConditionTrue}}
			}),
			want: Server{ID: 3, OpsState: "Allocated", DeletionPriority: 7, Ready: true},
		},
		"a held pod": {
			pod:  labelled(func(p *corev1.Pod) { p.Labels["lifecycle.apps.kruise.io/state"] = "PreparingDelete" }),
			want: Server{ID: 3, OpsState: "Allocated", DeletionPriority: 7, Class: PreDeleting},
		},
		"an ending pod, held before": {
			pod: labelled(func(p *corev1.Pod) {
				p.Labels["lifecycle.apps.kruise.io/state"] = "PreparingDelete"
				p.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
			}),
			want: Server{ID: 3, OpsState: "Allocated", DeletionPriority: 7, Class: Terminating},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, newServer(3, tc.pod, tc.gs)); diff != "" {
				t.Errorf("server (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWorkloadsOfOthersAreLeftAlone(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		owners     []metav1.OwnerReference
		ending     bool
		wantReason string
		wantKept   bool
	}{
		"ours":                            {owners: controlledBy("GameServerSet", "arena", "s"), wantKept: true},
		"ours, being deleted":             {owners: controlledBy("GameServerSet", "arena", "s"), ending: true, wantReason: ReasonWorkloadEnding, wantKept: true},
		"of an earlier set of this name":  {owners: controlledBy("GameServerSet", "arena", "old"), wantReason: ReasonEarlierSet},
		"S-6: of nobody":                  {wantReason: ReasonNameConflict},
		"S-6: of another kind":            {owners: controlledBy("Other", "arena", "o"), wantReason: ReasonNameConflict},
		"S-6: of a set with another name": {owners: controlledBy("GameServerSet", "other", "o"), wantReason: ReasonNameConflict},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &pass{
				set:      &gamev1alpha1.GameServerSet{ObjectMeta: metav1.ObjectMeta{Name: "arena", UID: "s"}},
				workload: &kruisev1beta1.StatefulSet{ObjectMeta: metav1.ObjectMeta{OwnerReferences: tc.owners}},
			}
			if tc.ending {
				p.workload.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
			}
			p.judgeWorkload()
			reason := ""
			if p.blocked != nil {
				reason = p.blocked.reason
			}
			if reason != tc.wantReason || (p.workload != nil) != tc.wantKept {
				t.Errorf("blocked by %q, workload kept %v; want %q, %v", reason, p.workload != nil, tc.wantReason, tc.wantKept)
			}
		})
	}
}
