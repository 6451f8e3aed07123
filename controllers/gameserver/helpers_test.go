// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	"testing"
	"time"

	appspub "github.com/openkruise/kruise-api/apps/pub"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/internal/gamepod"
)

const (
	podUID = types.UID("pod-1")
	setUID = types.UID("set-1")
)

// start is when the pods of these tests are created; noon is when they are looked at.
func start() time.Time { return time.Date(2026, 3, 1, 11, 0, 0, 0, time.UTC) }
func noon() time.Time  { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func stamp(t time.Time) metav1.Time { return metav1.NewTime(t) }

// aPod is a running, ready and stamped pod of set "arena" on a node, with containers A and B.
func aPod(changes ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "play", Name: "arena-0", UID: podUID, CreationTimestamp: stamp(start()),
			Labels: map[string]string{gamev1alpha1.GameServerOwnerGssKey: "arena", gamev1alpha1.GameServerStateKey: "Ready"},
		},
		Spec: corev1.PodSpec{
			NodeName:   "node-1",
			Containers: []corev1.Container{{Name: "A", Image: "A-v1"}, {Name: "B", Image: "B-v1"}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
			{Type: corev1.ContainersReady, Status: corev1.ConditionTrue},
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: stamp(start())},
		}},
	}
	gamepod.Stamp(pod, nil, start())
	for _, change := range changes {
		change(pod)
	}
	return pod
}

func phase(p corev1.PodPhase) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Status.Phase = p }
}

func lifecycle(state appspub.LifecycleStateType) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Labels[gamev1alpha1.LifecycleStateKey] = string(state) }
}

func label(key, value string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Labels[key] = value }
}

func annotation(key, value string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Annotations[key] = value }
}

// isNew makes the pod one that has just been created and has neither node nor state.
func isNew(pod *corev1.Pod) {
	pod.CreationTimestamp = stamp(noon())
	pod.Spec.NodeName = ""
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending}
	delete(pod.Labels, gamev1alpha1.GameServerStateKey)
}

func isDeleted(pod *corev1.Pod) { pod.DeletionTimestamp = ptr.To(stamp(noon())) }

func podCond(conditionType corev1.PodConditionType, status corev1.ConditionStatus, reason, message string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		c := corev1.PodCondition{Type: conditionType, Status: status, Reason: reason, Message: message, LastTransitionTime: stamp(noon())}
		for i := range pod.Status.Conditions {
			if pod.Status.Conditions[i].Type == conditionType {
				pod.Status.Conditions[i] = c
				return
			}
		}
		pod.Status.Conditions = append(pod.Status.Conditions, c)
	}
}

// aSet is set "arena", whose template fits aPod.
func aSet(changes ...func(*gamev1alpha1.GameServerSet)) *gamev1alpha1.GameServerSet {
	set := &gamev1alpha1.GameServerSet{ObjectMeta: metav1.ObjectMeta{Namespace: "play", Name: "arena", UID: setUID}}
	set.Spec.GameServerTemplate.Spec.Containers = []corev1.Container{{Name: "A", Image: "A-v1"}, {Name: "B", Image: "B-v1"}}
	for _, change := range changes {
		change(set)
	}
	return set
}

func keepsGameServers(set *gamev1alpha1.GameServerSet) {
	set.Spec.GameServerTemplate.ReclaimPolicy = gamev1alpha1.DeleteGameServerReclaimPolicy
}

func withQualities(qualities ...gamev1alpha1.ServiceQuality) func(*gamev1alpha1.GameServerSet) {
	return func(set *gamev1alpha1.GameServerSet) { set.Spec.ServiceQualities = qualities }
}

func aNode() *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}, Status: corev1.NodeStatus{
		Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
	}}
}

// settled is what is seen of a server that needs nothing any more.
func settled(t testing.TB, changes ...func(*seen)) seen {
	t.Helper()
	s := seen{pod: aPod(), set: aSet(), node: aNode(), now: noon()}
	for _, change := range changes {
		change(&s)
	}
	gs := newGameServer(s.pod)
	gs.UID = "gs-1"
	p, err := decideWithPod(s, timing{}, plan{fate: keep}, gs)
	if err != nil {
		t.Fatal(err)
	}
	s.gameServer = p.gameServer
	s.gameServer.Status = *p.status
	for key, value := range p.pod.Labels {
		s.pod.Labels[key] = *value
	}
	for key, value := range p.pod.Annotations {
		s.pod.Annotations[key] = *value
	}
	return s
}

func podName(s seen) types.NamespacedName {
	return types.NamespacedName{Namespace: s.gameServer.Namespace, Name: s.gameServer.Name}
}
