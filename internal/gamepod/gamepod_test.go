// SPDX-License-Identifier: Apache-2.0

package gamepod

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

const opsTime = gamev1alpha1.GameServerOpsStateLastChangedTime

func now() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func TestOf(t *testing.T) {
	t.Parallel()
	defaults := map[string]string{
		gamev1alpha1.GameServerUpdatePriorityKey: "0",
		gamev1alpha1.GameServerDeletePriorityKey: "0",
		gamev1alpha1.GameServerOpsStateKey:       "None",
		gamev1alpha1.GameServerNetworkDisabled:   "false",
	}
	with := func(key, value string) map[string]string { return changed(defaults, map[string]*string{key: &value}) }
	without := func(key string) map[string]string { return changed(defaults, map[string]*string{key: nil}) }
	cases := map[string]struct {
		gs              *gamev1alpha1.GameServer
		wantLabels      map[string]string
		wantAnnotations map[string]string
		wantInvalid     []string
	}{
		"no GameServer counts as a new one":                  {wantLabels: defaults},
		"G-8: absent priorities and opsState are 0 and None": {gs: &gamev1alpha1.GameServer{}, wantLabels: defaults},
		"a priority as text": {
			gs:         spec(gamev1alpha1.GameServerSpec{UpdatePriority: ptr.To(intstr.FromString("0100"))}),
			wantLabels: with(gamev1alpha1.GameServerUpdatePriorityKey, "100"),
		},
		"the network cut off": {
			gs:         spec(gamev1alpha1.GameServerSpec{NetworkDisabled: ptr.To(true)}),
			wantLabels: with(gamev1alpha1.GameServerNetworkDisabled, "true"),
		},
		"A-4: a negative priority leaves out that label only": {
			gs:          spec(gamev1alpha1.GameServerSpec{DeletionPriority: ptr.To(intstr.FromInt32(-5))}),
			wantLabels:  without(gamev1alpha1.GameServerDeletePriorityKey),
			wantInvalid: []string{`spec.deletionPriority: Invalid value: "-5": must be an integer from 0 to 2147483647`},
		},
		"A-4: a word as priority leaves out that label only": {
			gs:          spec(gamev1alpha1.GameServerSpec{UpdatePriority: ptr.To(intstr.FromString("high"))}),
			wantLabels:  without(gamev1alpha1.GameServerUpdatePriorityKey),
			wantInvalid: []string{`spec.updatePriority: Invalid value: "high": must be an integer from 0 to 2147483647`},
		},
		"only keys with the prefix are copied, and recorded": {
			gs: &gamev1alpha1.GameServer{ObjectMeta: metav1.ObjectMeta{
				Labels:      map[string]string{"gs-sync/pre-deleting": "false", "region": "eu"},
				Annotations: map[string]string{"gs-sync/match-id": "7", "meaningless-key": "x"},
			}},
			wantLabels:      with("gs-sync/pre-deleting", "false"),
			wantAnnotations: map[string]string{"gs-sync/match-id": "7", SyncedKeysKey: "annotations/match-id,labels/pre-deleting"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Of(tc.gs)
			if diff := cmp.Diff(tc.wantLabels, got.Labels); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
			if tc.wantAnnotations == nil {
				tc.wantAnnotations = map[string]string{}
			}
			if diff := cmp.Diff(tc.wantAnnotations, got.Annotations); diff != "" {
				t.Errorf("annotations (-want +got):\n%s", diff)
			}
			var invalid []string
			for _, err := range got.Invalid {
				invalid = append(invalid, err.Error())
			}
			if diff := cmp.Diff(tc.wantInvalid, invalid); diff != "" {
				t.Errorf("invalid (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOpsStateThatIsNoLabelValueIsLeftOut(t *testing.T) {
	t.Parallel()
	got := Of(spec(gamev1alpha1.GameServerSpec{OpsState: "in match/3"}))
	if _, ok := got.Labels[gamev1alpha1.GameServerOpsStateKey]; ok || len(got.Invalid) != 1 || got.Invalid[0].Field != "spec.opsState" {
		t.Errorf("labels %v, invalid %v", got.Labels, got.Invalid)
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	at := now().Format(time.RFC3339)
	settled := &corev1.Pod{}
	Stamp(settled, nil, now())
	cases := map[string]struct {
		gs              *gamev1alpha1.GameServer
		labels          map[string]string
		annotations     map[string]string
		wantLabels      map[string]*string
		wantAnnotations map[string]*string
	}{
		"nothing differs": {},
		"an opsState that changes takes its time along": {
			gs:              spec(gamev1alpha1.GameServerSpec{OpsState: gamev1alpha1.WaitToDelete}),
			wantLabels:      map[string]*string{gamev1alpha1.GameServerOpsStateKey: ptr.To("WaitToBeDeleted")},
			wantAnnotations: map[string]*string{opsTime: &at},
		},
		"G-12: copied keys that are gone from the GameServer are removed": {
			labels:          map[string]string{"gs-sync/hold": "true", "gs-sync/of-template": "x"},
			annotations:     map[string]string{"gs-sync/match-id": "7", SyncedKeysKey: "annotations/match-id,labels/hold"},
			wantLabels:      map[string]*string{"gs-sync/hold": nil},
			wantAnnotations: map[string]*string{"gs-sync/match-id": nil, SyncedKeysKey: nil},
		},
		"one of two copied keys is gone": {
			gs:              &gamev1alpha1.GameServer{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"gs-sync/a": "1"}}},
			labels:          map[string]string{"gs-sync/a": "1", "gs-sync/b": "2"},
			annotations:     map[string]string{SyncedKeysKey: "labels/a,labels/b"},
			wantLabels:      map[string]*string{"gs-sync/b": nil},
			wantAnnotations: map[string]*string{SyncedKeysKey: ptr.To("labels/a")},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := settled.DeepCopy()
			for key, value := range tc.labels {
				pod.Labels[key] = value
			}
			for key, value := range tc.annotations {
				pod.Annotations[key] = value
			}
			got := Of(tc.gs).Changes(pod, now())
			want := Changes{Labels: orEmpty(tc.wantLabels), Annotations: orEmpty(tc.wantAnnotations)}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

// A stamped pod needs no change, and leaves the maps of the pod it came from alone.
func TestStampSettlesAnyPod(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SampledFrom([]string{"gs-sync/a", "gs-sync/b", "other", gamev1alpha1.GameServerOpsStateKey})
		values := rapid.MapOf(keys, rapid.StringMatching(`[a-z]{1,3}`))
		gs := &gamev1alpha1.GameServer{ObjectMeta: metav1.ObjectMeta{Labels: values.Draw(t, "gsLabels"), Annotations: values.Draw(t, "gsAnnotations")}}
		gs.Spec.OpsState = gamev1alpha1.OpsState(rapid.StringMatching(`[a-z/]{0,3}`).Draw(t, "opsState"))
		given := map[string]string{"mine": "stays"}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: given}}

		Stamp(pod, gs, now())
		if len(given) != 1 {
			t.Fatalf("the map handed in was changed: %v", given)
		}
		if left := Of(gs).Changes(pod, now()); len(left.Labels)+len(left.Annotations) != 0 {
			t.Fatalf("a stamped pod still needs %v", left)
		}
		gs.Labels, gs.Annotations = nil, nil
		Stamp(pod, gs, now())
		for key := range pod.Labels {
			if key == "gs-sync/a" || key == "gs-sync/b" {
				t.Fatalf("%s stays without its source", key)
			}
		}
		if pod.Labels["mine"] != "stays" {
			t.Fatal("a foreign label is gone")
		}
	})
}

func TestG4SettingsOfAFormerPodDoNotReachTheNext(t *testing.T) {
	t.Parallel()
	owned := func(kind string) *gamev1alpha1.GameServer {
		return &gamev1alpha1.GameServer{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{Kind: kind, Controller: ptr.To(true)}}}}
	}
	if got := ForNewPod(owned("Pod")); got != nil {
		t.Errorf("a GameServer that goes with a former pod counts: %v", got)
	}
	for _, gs := range []*gamev1alpha1.GameServer{owned(gamev1alpha1.GameServerSetKind), {}, nil} {
		if got := ForNewPod(gs); got != gs {
			t.Errorf("got %v, want %v", got, gs)
		}
	}
}

func spec(s gamev1alpha1.GameServerSpec) *gamev1alpha1.GameServer {
	return &gamev1alpha1.GameServer{Spec: s}
}

func orEmpty(m map[string]*string) map[string]*string {
	if m == nil {
		return map[string]*string{}
	}
	return m
}
