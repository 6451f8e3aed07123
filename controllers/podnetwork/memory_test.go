// SPDX-License-Identifier: Apache-2.0

package podnetwork

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

func podSaying(uid types.UID, status string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: "a-0", UID: uid, Annotations: map[string]string{gamev1alpha1.GameServerNetworkStatus: status},
	}}
}

func TestTroubleIsToldOncePerChange(t *testing.T) {
	t.Parallel()
	first, second := trouble{"r", "one"}, trouble{"r", "two"}
	steps := []struct {
		name string
		uid  types.UID
		now  trouble
		want bool
	}{
		{"no trouble", "1", trouble{}, false},
		{"new trouble", "1", first, true},
		{"the same again", "1", first, false},
		{"another note", "1", second, true},
		{"another reason", "1", trouble{"s", "two"}, true},
		{"the trouble ends", "1", trouble{}, false},
		{"it comes back", "1", second, true},
		{"the next pod of that name has it too", "2", second, true},
	}
	m := newMemory()
	for _, step := range steps {
		if got := m.isNews(podSaying(step.uid, ""), step.now); got != step.want {
			t.Errorf("%s: isNews() = %t, want %t", step.name, got, step.want)
		}
	}
}

func TestOnlyTheLastWriteOfThisPodIsOurOwn(t *testing.T) {
	t.Parallel()
	m := newMemory()
	if m.isOwn(podSaying("1", "A")) || m.isOwn(podSaying("1", "")) {
		t.Error("nothing was written yet")
	}
	m.writes(podSaying("1", ""), "A")
	m.isNews(podSaying("1", ""), trouble{"r", "told between"})
	if !m.isOwn(podSaying("1", "A")) {
		t.Error("our write is not known")
	}
	if m.isOwn(podSaying("1", "B")) || m.isOwn(podSaying("1", "")) || m.isOwn(podSaying("2", "A")) {
		t.Error("what others wrote, removed, or put on the next pod of that name counts as ours")
	}
	m.writes(podSaying("1", "A"), "B")
	if m.isOwn(podSaying("1", "A")) {
		t.Error("somebody's return to an earlier status counts as ours")
	}
	if m.isNews(podSaying("1", ""), trouble{"r", "told between"}) {
		t.Error("a write makes told trouble new")
	}
}

func TestMemoryHoldsNothingOfPodsThatAreGone(t *testing.T) {
	t.Parallel()
	m := newMemory()
	m.isNews(podSaying("1", ""), trouble{})
	if len(m.pods) != 0 {
		t.Error("a pod without trouble or report is remembered")
	}
	m.writes(podSaying("1", ""), "A")
	m.isNews(podSaying("1", ""), trouble{"r", "one"})
	m.forget(client.ObjectKeyFromObject(podSaying("1", "")))
	if len(m.pods) != 0 {
		t.Errorf("a pod that is gone leaves %v behind", m.pods)
	}
}
