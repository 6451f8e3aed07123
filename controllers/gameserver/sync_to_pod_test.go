// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appspub "github.com/openkruise/kruise-api/apps/pub"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/utils/ptr"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/internal/gamepod"
)

func override(name, image string) func(*gamev1alpha1.GameServer) {
	return func(gs *gamev1alpha1.GameServer) {
		gs.Spec.Containers = append(gs.Spec.Containers, gamev1alpha1.GameServerContainer{Name: name, Image: image})
	}
}

func templateImage(i int, image string) func(*gamev1alpha1.GameServerSet) {
	return func(set *gamev1alpha1.GameServerSet) { set.Spec.GameServerTemplate.Spec.Containers[i].Image = image }
}

func TestSyncToPod(t *testing.T) {
	t.Parallel()
	at := noon().Format(time.RFC3339)
	busy := func(gs *gamev1alpha1.GameServer) {
		gs.Spec = spec{UpdatePriority: number(20), DeletionPriority: number(10), OpsState: gamev1alpha1.WaitToDelete}
		gs.Annotations = map[string]string{"gs-sync/match-id": "xxx-xxx"}
	}
	const updating = gamev1alpha1.GameServerUpdatingContainersKey
	cases := map[string]struct {
		gs              func(*gamev1alpha1.GameServer)
		pod             *corev1.Pod
		set             *gamev1alpha1.GameServerSet
		wantLabels      map[string]*string
		wantAnnotations map[string]*string
		wantImages      map[string]string
		wantInvalid     string
	}{
		"nothing differs": {pod: aPod()},
		"a pending pod without labels gets all of them": {
			gs: busy,
			pod: aPod(isNew, func(p *corev1.Pod) {
				p.Labels, p.Annotations = map[string]string{gamev1alpha1.GameServerOwnerGssKey: "arena"}, nil
			}),
			wantLabels: map[string]*string{
				gamev1alpha1.GameServerUpdatePriorityKey: ptr.To("20"), gamev1alpha1.GameServerDeletePriorityKey: ptr.To("10"),
				gamev1alpha1.GameServerOpsStateKey: ptr.To("WaitToBeDeleted"), gamev1alpha1.GameServerNetworkDisabled: ptr.To("false"),
				gamev1alpha1.GameServerStateKey: ptr.To("Creating"),
			},
			wantAnnotations: map[string]*string{
				"gs-sync/match-id": ptr.To("xxx-xxx"), gamepod.SyncedKeysKey: ptr.To("annotations/match-id"),
				gamev1alpha1.GameServerOpsStateLastChangedTime: &at,
			},
		},
		"only keys with the prefix are copied": {
			gs: func(gs *gamev1alpha1.GameServer) {
				gs.Labels = map[string]string{"gs-sync/pre-deleting": "false"}
				gs.Annotations = map[string]string{"gs-sync/match-id": "new", "meaningless-key": "x"}
			},
			pod: aPod(label("gs-sync/pre-deleting", "false"), annotation("gs-sync/match-id", "old"),
				annotation(gamepod.SyncedKeysKey, "annotations/match-id,labels/pre-deleting")),
			wantAnnotations: map[string]*string{"gs-sync/match-id": ptr.To("new")},
		},
		"a second state takes its time along": {
			pod:             aPod(phase(corev1.PodFailed)),
			wantLabels:      map[string]*string{gamev1alpha1.GameServerStateKey: ptr.To("Crash")},
			wantAnnotations: map[string]*string{gamev1alpha1.GameServerStateLastChangedTime: &at},
		},
		"only the image that differs":                           {gs: override("A", "A-v2"), pod: aPod(), wantImages: map[string]string{"A": "A-v2"}},
		"an override that is there":                             {gs: override("A", "A-v1"), pod: aPod()},
		"an override of resources alone changes no running pod": {gs: override("A", ""), pod: aPod()},
		"G-14: during an in-place update the override waits": {
			gs: override("A", "A-v2"), pod: aPod(lifecycle(appspub.LifecycleStateUpdating), label(gamev1alpha1.GameServerStateKey, "Updating")),
		},
		"G-14: after it the override comes back": {
			gs: override("A", "A-v2"), pod: aPod(lifecycle(appspub.LifecycleStateUpdated)), wantImages: map[string]string{"A": "A-v2"},
		},
		"G-19: an unknown container is named": {
			gs: override("C", "C-v1"), pod: aPod(), wantInvalid: `spec.containers[0].name: Not found: "C"`,
		},
		"G-19: an init container has its image from the beginning": {
			gs: override("init", "init-v2"), pod: aPod(func(p *corev1.Pod) { p.Spec.InitContainers = []corev1.Container{{Name: "init", Image: "init-v1"}} }),
		},
		"G-17: one bad field does not stop the others": {
			gs: func(gs *gamev1alpha1.GameServer) {
				gs.Spec.UpdatePriority = ptr.To(intstr.FromString("high"))
				gs.Spec.DeletionPriority = number(7)
				override("A", "A-v2 ")(gs)
				override("B", "B-v2")(gs)
			},
			pod:         aPod(),
			wantLabels:  map[string]*string{gamev1alpha1.GameServerDeletePriorityKey: ptr.To("7")},
			wantImages:  map[string]string{"B": "B-v2"},
			wantInvalid: `spec.updatePriority: Invalid value: "high": must be an integer from 0 to 2147483647|spec.containers[0].image: Invalid value: "A-v2 ": must not begin or end with space`,
		},
		"before an in-place update the containers it will change are named": {
			pod:             aPod(lifecycle(appspub.LifecycleStatePreparingUpdate), label(gamev1alpha1.GameServerStateKey, "PreUpdate")),
			set:             aSet(templateImage(0, "A-v2")),
			wantAnnotations: map[string]*string{updating: ptr.To("A")},
		},
		"G-13: an override is no difference, the status of the pod is none either": {
			gs: override("A", "A-v1"),
			pod: aPod(lifecycle(appspub.LifecycleStatePreparingUpdate), label(gamev1alpha1.GameServerStateKey, "PreUpdate"), func(p *corev1.Pod) {
				p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "B", Image: "docker.io/library/B-v1"}}
			}),
			set: aSet(templateImage(0, "A-v2")),
		},
		"during the update the names stay": {
			pod: aPod(lifecycle(appspub.LifecycleStateUpdating), label(gamev1alpha1.GameServerStateKey, "Updating"), annotation(updating, "A")),
		},
		"after it they go": {
			pod: aPod(annotation(updating, "A")), wantAnnotations: map[string]*string{updating: nil},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gs := newGameServer(tc.pod)
			if tc.gs != nil {
				tc.gs(gs)
			}
			if tc.set == nil {
				tc.set = aSet()
			}
			got := syncToPod(tc.pod, gs, tc.set, noon())
			if diff := cmp.Diff(nonNil(tc.wantLabels), got.Labels); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(nonNil(tc.wantAnnotations), got.Annotations); diff != "" {
				t.Errorf("annotations (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantImages, got.images); diff != "" {
				t.Errorf("images (-want +got):\n%s", diff)
			}
			var invalid []string
			for _, err := range got.invalid {
				invalid = append(invalid, err.Error())
			}
			if text := strings.Join(invalid, "|"); text != tc.wantInvalid {
				t.Errorf("invalid %q, want %q", text, tc.wantInvalid)
			}
			patched := patchedPod(t, tc.pod, got)
			if again := syncToPod(patched, gs, tc.set, noon()); !again.empty() {
				t.Errorf("the patched pod needs another patch: %+v", again)
			}
		})
	}
}

// patchedPod is the pod as the API server stores it after the patch.
func patchedPod(t *testing.T, pod *corev1.Pod, c podChanges) *corev1.Pod {
	t.Helper()
	patch, err := c.patch(pod.UID)
	if err != nil {
		t.Fatal(err)
	}
	before, err := json.Marshal(pod)
	if err != nil {
		t.Fatal(err)
	}
	after, err := strategicpatch.StrategicMergePatch(before, patch, &corev1.Pod{})
	if err != nil {
		t.Fatal(err)
	}
	patched := &corev1.Pod{}
	if err := json.Unmarshal(after, patched); err != nil {
		t.Fatal(err)
	}
	return patched
}

func TestPatchSaysOnlyWhatDiffers(t *testing.T) {
	t.Parallel()
	gs := newGameServer(aPod())
	gs.Spec.OpsState = "Allocated"
	override("B", "B-v2")(gs)
	pod := aPod(annotation(gamev1alpha1.GameServerUpdatingContainersKey, "B"))
	got, err := syncToPod(pod, gs, aSet(), noon()).patch(pod.UID)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"metadata":{"uid":"pod-1","labels":{"game.kruise.io/gs-opsState":"Allocated"},"annotations":{` +
		`"game.kruise.io/gs-updating-containers":null,"game.kruise.io/opsState-last-changed-time":"2026-03-01T12:00:00Z"}},` +
		`"spec":{"containers":[{"name":"B","image":"B-v2"}]}}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("patch (-want +got):\n%s", diff)
	}
}

func TestChangeEventsTellOfReplacedValues(t *testing.T) {
	t.Parallel()
	type told struct{ eventType, note string }
	cases := map[string]struct {
		pod  *corev1.Pod
		gs   func(*gamev1alpha1.GameServer)
		want []told
	}{
		"nothing changes":    {pod: aPod()},
		"first values":       {pod: aPod(isNew, func(p *corev1.Pod) { p.Labels = nil })},
		"Maintaining alarms": {pod: aPod(), gs: func(gs *gamev1alpha1.GameServer) { gs.Spec.OpsState = gamev1alpha1.Maintaining }, want: []told{{"Warning", "OpsState turned from None to Maintaining"}}},
		"a crash alarms":     {pod: aPod(phase(corev1.PodFailed)), want: []told{{"Warning", "State turned from Ready to Crash"}}},
		"all five": {
			pod: aPod(isDeleted),
			gs: func(gs *gamev1alpha1.GameServer) {
				gs.Spec = spec{OpsState: "Allocated", UpdatePriority: number(1), DeletionPriority: number(2), NetworkDisabled: ptr.To(true)}
			},
			want: []told{
				{"Normal", "State turned from Ready to Deleting"}, {"Normal", "OpsState turned from None to Allocated"},
				{"Normal", "UpdatePriority turned from 0 to 1"}, {"Normal", "DeletionPriority turned from 0 to 2"},
				{"Normal", "NetworkDisabled turned from false to true"},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gs := newGameServer(tc.pod)
			if tc.gs != nil {
				tc.gs(gs)
			}
			var got []told
			for _, e := range changeEvents(tc.pod, syncToPod(tc.pod, gs, aSet(), noon())) {
				if e.reason != reasonStateChanged {
					t.Errorf("reason %s", e.reason)
				}
				got = append(got, told{e.eventType, e.note})
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(told{})); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func nonNil(m map[string]*string) map[string]*string {
	if m == nil {
		return map[string]*string{}
	}
	return m
}
