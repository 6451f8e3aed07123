// SPDX-License-Identifier: Apache-2.0

package gameserverset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appspub "github.com/openkruise/kruise-api/apps/pub"
	kruisev1beta1 "github.com/openkruise/kruise-api/apps/v1beta1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/internal/idset"
	"github.com/berthgames/berth/test/build"
)

func mustManaged(t *testing.T, set *gamev1alpha1.GameServerSet) kruisev1beta1.StatefulSetSpec {
	t.Helper()
	managed, err := managedSpec(set)
	if err != nil {
		t.Fatalf("managedSpec: %v", err)
	}
	return managed
}

func mustHash(t *testing.T, set *gamev1alpha1.GameServerSet) string {
	t.Helper()
	hash, err := hashOf(mustManaged(t, set))
	if err != nil {
		t.Fatalf("hashOf: %v", err)
	}
	return hash
}

// byPriority is the rolling-update block of a set that leaves all of it open.
func byPriority() *kruisev1beta1.RollingUpdateStatefulSetStrategy {
	return &kruisev1beta1.RollingUpdateStatefulSetStrategy{
		UnorderedUpdate: &kruisev1beta1.UnorderedUpdateStrategy{PriorityStrategy: &appspub.UpdatePriorityStrategy{
			OrderPriority: []appspub.UpdatePriorityOrderTerm{{OrderedKey: "game.kruise.io/gs-update-priority"}},
		}},
	}
}

// The first two rows of core-controllers.md 5.7.
func TestNewWorkload(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		set         *gamev1alpha1.GameServerSet
		replicas    int32
		wantReserve []intstr.IntOrString
	}{
		"case0": {set: build.GameServerSet("case0").UID("u0").Replicas(5).Obj(), replicas: 5},
		"case1": {set: build.GameServerSet("case1").UID("u1").Replicas(4).Reserve("0").Obj(), replicas: 4, wantReserve: build.IDs("0")},
		"a range is written in normal form": {
			set:         build.GameServerSet("case2").UID("u2").Replicas(4).Reserve("6", "0-1", "7-8").Obj(),
			replicas:    4,
			wantReserve: build.IDs("0", "1", "6-8"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &pass{set: tc.set}
			in, _, err := scaleInput(p)
			if err != nil {
				t.Fatal(err)
			}
			got, err := newWorkload(tc.set, mustManaged(t, tc.set), mustPlan(t, in))
			if err != nil {
				t.Fatal(err)
			}
			label := map[string]string{"game.kruise.io/owner-gss": tc.set.Name}
			want := &kruisev1beta1.StatefulSet{
				ObjectMeta: metav1.ObjectMeta{
					Namespace: "default", Name: tc.set.Name,
					Annotations: map[string]string{"game.kruise.io/asts-hash": mustHash(t, tc.set)},
					OwnerReferences: []metav1.OwnerReference{{
						APIVersion: "game.kruise.io/v1alpha1", Kind: "GameServerSet", Name: tc.set.Name, UID: tc.set.UID,
						Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
					}},
				},
				Spec: kruisev1beta1.StatefulSetSpec{
					Replicas: &tc.replicas, ReserveOrdinals: tc.wantReserve, ServiceName: tc.set.Name,
					Selector:            &metav1.LabelSelector{MatchLabels: label},
					PodManagementPolicy: appsv1.ParallelPodManagement,
					Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: label}, Spec: corev1.PodSpec{
						Containers:     []corev1.Container{{Name: "game", Image: "game:v1"}},
						ReadinessGates: []corev1.PodReadinessGate{{ConditionType: "InPlaceUpdateReady"}},
					}},
					ScaleStrategy:  &kruisev1beta1.StatefulSetScaleStrategy{},
					UpdateStrategy: kruisev1beta1.StatefulSetUpdateStrategy{Type: "RollingUpdate", RollingUpdate: byPriority()},
				},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("workload (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWorkloadFollowsTheSet(t *testing.T) {
	t.Parallel()
	everything := &gamev1alpha1.RollingUpdateStatefulSetStrategy{
		Partition: ptr.To[int32](2), MaxUnavailable: ptr.To(intstr.FromString("20%")), PodUpdatePolicy: "InPlaceIfPossible",
		Paused: true, InPlaceUpdateStrategy: &appspub.InPlaceUpdateStrategy{GracePeriodSeconds: 7}, MinReadySeconds: ptr.To[int32](9),
	}
	blocked := map[string]string{"game.kruise.io/inplace-update-not-ready-blocker": "true"}
	for name, tc := range map[string]struct {
		edit func(*gamev1alpha1.GameServerSet)
		want func(*kruisev1beta1.StatefulSetSpec)
	}{
		"A-5: without rollingUpdate the update still goes by priority": {
			edit: func(*gamev1alpha1.GameServerSet) {},
			want: func(s *kruisev1beta1.StatefulSetSpec) {},
		},
		"A-5: OnDelete has no rolling-update block": {
			edit: func(s *gamev1alpha1.GameServerSet) { s.Spec.UpdateStrategy.Type = "OnDelete" },
			want: func(s *kruisev1beta1.StatefulSetSpec) {
				s.UpdateStrategy = kruisev1beta1.StatefulSetUpdateStrategy{Type: "OnDelete"}
			},
		},
		"all fields of rollingUpdate are copied": {
			edit: func(s *gamev1alpha1.GameServerSet) { s.Spec.UpdateStrategy.RollingUpdate = everything },
			want: func(s *kruisev1beta1.StatefulSetSpec) {
				s.UpdateStrategy.RollingUpdate = &kruisev1beta1.RollingUpdateStatefulSetStrategy{
					Partition: ptr.To[int32](2), MaxUnavailable: ptr.To(intstr.FromString("20%")), PodUpdatePolicy: "InPlaceIfPossible",
					Paused: true, InPlaceUpdateStrategy: &appspub.InPlaceUpdateStrategy{GracePeriodSeconds: 7},
					MinReadySeconds: ptr.To[int32](9), UnorderedUpdate: byPriority().UnorderedUpdate,
				}
			},
		},
		"the network stands in the annotations of the pods, as upstream writes it": {
			edit: func(s *gamev1alpha1.GameServerSet) {
				s.Spec.GameServerTemplate.Annotations = map[string]string{"a": "b"}
				s.Spec.Network = build.GameServerSet("x").Network("Kubernetes-HostPort", "ContainerPorts", "game:80<&>", "Fixed", "").Obj().Spec.Network
			},
			want: func(s *kruisev1beta1.StatefulSetSpec) {
				s.Template.Annotations = map[string]string{
					"a":                           "b",
					"game.kruise.io/network-type": "Kubernetes-HostPort",
					"game.kruise.io/network-conf": `[{"name":"ContainerPorts","value":"game:80\u003c\u0026\u003e"},{"name":"Fixed"}]`,
				}
			},
		},
		"a network without parameters": {
			edit: func(s *gamev1alpha1.GameServerSet) { s.Spec.Network = &gamev1alpha1.Network{NetworkType: "T"} },
			want: func(s *kruisev1beta1.StatefulSetSpec) {
				s.Template.Annotations = map[string]string{"game.kruise.io/network-type": "T", "game.kruise.io/network-conf": "null"}
			},
		},
		"AllowNotReadyContainers holds in-place updates, whatever its value": {
			edit: func(s *gamev1alpha1.GameServerSet) {
				s.Spec.Network = build.GameServerSet("x").Network("T", "AllowNotReadyContainers", "").Obj().Spec.Network
			},
			want: func(s *kruisev1beta1.StatefulSetSpec) {
				s.Template.Annotations = map[string]string{
					"game.kruise.io/network-type": "T", "game.kruise.io/network-conf": `[{"name":"AllowNotReadyContainers"}]`}
				s.Lifecycle = &appspub.Lifecycle{InPlaceUpdate: &appspub.LifecycleHook{LabelsHandler: blocked}}
			},
		},
		"AllowNotReadyContainers adds to the hooks of the user": {
			edit: func(s *gamev1alpha1.GameServerSet) {
				s.Spec.Network = build.GameServerSet("x").Network("T", "AllowNotReadyContainers", "side").Obj().Spec.Network
				s.Spec.Lifecycle = &appspub.Lifecycle{
					PreDelete:     &appspub.LifecycleHook{FinalizersHandler: []string{"f/x"}},
					InPlaceUpdate: &appspub.LifecycleHook{LabelsHandler: map[string]string{"mine": "x"}, MarkPodNotReady: true},
				}
			},
			want: func(s *kruisev1beta1.StatefulSetSpec) {
				s.Template.Annotations = map[string]string{
					"game.kruise.io/network-type": "T", "game.kruise.io/network-conf": `[{"name":"AllowNotReadyContainers","value":"side"}]`}
				s.Lifecycle = &appspub.Lifecycle{
					PreDelete: &appspub.LifecycleHook{FinalizersHandler: []string{"f/x"}},
					InPlaceUpdate: &appspub.LifecycleHook{MarkPodNotReady: true, LabelsHandler: map[string]string{
						"mine": "x", "game.kruise.io/inplace-update-not-ready-blocker": "true"}},
				}
			},
		},
		"S-14: a readiness gate of the user is not doubled": {
			edit: func(s *gamev1alpha1.GameServerSet) {
				s.Spec.GameServerTemplate.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "InPlaceUpdateReady"}, {ConditionType: "x"}}
			},
			want: func(s *kruisev1beta1.StatefulSetSpec) {
				s.Template.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "InPlaceUpdateReady"}, {ConditionType: "x"}}
			},
		},
		"claims, claim policy, hooks and the scale limit": {
			edit: func(s *gamev1alpha1.GameServerSet) {
				s.Spec.GameServerTemplate.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
				s.Spec.PersistentVolumeClaimRetentionPolicy = &kruisev1beta1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenScaled: "Delete"}
				s.Spec.ScaleStrategy.MaxUnavailable = ptr.To(intstr.FromInt32(10))
				s.Spec.Lifecycle = &appspub.Lifecycle{PreNormal: &appspub.LifecycleHook{}}
			},
			want: func(s *kruisev1beta1.StatefulSetSpec) {
				s.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
				s.PersistentVolumeClaimRetentionPolicy = &kruisev1beta1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenScaled: "Delete"}
				s.ScaleStrategy.MaxUnavailable = ptr.To(intstr.FromInt32(10))
				s.Lifecycle = &appspub.Lifecycle{PreNormal: &appspub.LifecycleHook{}}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := build.GameServerSet("arena").Obj()
			want := mustManaged(t, set)
			tc.want(&want)
			tc.edit(set)
			before := set.DeepCopy()
			if diff := cmp.Diff(want, mustManaged(t, set)); diff != "" {
				t.Errorf("managed spec (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, set); diff != "" {
				t.Errorf("S-15: the set was changed (-before +after):\n%s", diff)
			}
		})
	}
}

// The third row of core-controllers.md 5.7.
func TestWorkloadUpdateReplacesAllOfTheTemplate(t *testing.T) {
	t.Parallel()
	set := build.GameServerSet("arena").Obj()
	workload := &kruisev1beta1.StatefulSet{Spec: kruisev1beta1.StatefulSetSpec{
		Replicas: ptr.To[int32](7), ReserveOrdinals: build.IDs("3"), ServiceName: "other",
	}}
	workload.Spec.Template.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}}
	if err := setManaged(workload, mustManaged(t, set)); err != nil {
		t.Fatal(err)
	}
	want := mustManaged(t, set)
	want.Replicas, want.ReserveOrdinals, want.ServiceName = ptr.To[int32](7), build.IDs("3"), "other"
	if diff := cmp.Diff(want, workload.Spec); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
	if workload.Spec.Template.Spec.Affinity != nil || workload.Spec.ScaleStrategy.MaxUnavailable != nil {
		t.Errorf("the old affinity and no scale limit: got %v and %v", workload.Spec.Template.Spec.Affinity, workload.Spec.ScaleStrategy)
	}
}

func TestHashCoversWhatIsWrittenAndNothingElse(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		edit     func(*gamev1alpha1.GameServerSet)
		wantSame bool
	}{
		"nothing":     {edit: func(*gamev1alpha1.GameServerSet) {}, wantSame: true},
		"replicas":    {edit: func(s *gamev1alpha1.GameServerSet) { s.Spec.Replicas = ptr.To[int32](9) }, wantSame: true},
		"reserve ids": {edit: func(s *gamev1alpha1.GameServerSet) { s.Spec.ReserveGameServerIds = build.IDs("3") }, wantSame: true},
		"qualities": {edit: func(s *gamev1alpha1.GameServerSet) {
			s.Spec.ServiceQualities = []gamev1alpha1.ServiceQuality{{Name: "q"}}
		}, wantSame: true},
		"reclaim policy": {edit: func(s *gamev1alpha1.GameServerSet) { s.Spec.GameServerTemplate.ReclaimPolicy = "Delete" }, wantSame: true},
		"container name": {edit: func(s *gamev1alpha1.GameServerSet) { s.Spec.GameServerTemplate.Spec.Containers[0].Name = "x" }},
		"annotation": {edit: func(s *gamev1alpha1.GameServerSet) {
			s.Spec.GameServerTemplate.Annotations = map[string]string{"a": "c"}
		}},
		"label":        {edit: func(s *gamev1alpha1.GameServerSet) { s.Spec.GameServerTemplate.Labels = map[string]string{"l": "m"} }},
		"network conf": {edit: func(s *gamev1alpha1.GameServerSet) { s.Spec.Network.NetworkConf = nil }},
		"S-3: network type": {edit: func(s *gamev1alpha1.GameServerSet) {
			s.Spec.Network.NetworkType = "Other"
		}},
		"S-3: lifecycle": {edit: func(s *gamev1alpha1.GameServerSet) {
			s.Spec.Lifecycle = &appspub.Lifecycle{PreDelete: &appspub.LifecycleHook{MarkPodNotReady: true}}
		}},
		"S-3: scale strategy": {edit: func(s *gamev1alpha1.GameServerSet) {
			s.Spec.ScaleStrategy.MaxUnavailable = ptr.To(intstr.FromInt32(3))
		}},
		"S-3: claim policy": {edit: func(s *gamev1alpha1.GameServerSet) {
			s.Spec.PersistentVolumeClaimRetentionPolicy = &kruisev1beta1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenDeleted: "Delete"}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := build.GameServerSet("arena").TemplateLabel("l", "1").Network("T", "a", "b").Obj()
			before := mustHash(t, set)
			tc.edit(set)
			if same := before == mustHash(t, set); same != tc.wantSame {
				t.Errorf("same hash: %v, want %v", same, tc.wantSame)
			}
		})
	}
}

func TestHashIsStable(t *testing.T) {
	t.Parallel()
	set := build.GameServerSet("arena").Obj()
	set.Spec.GameServerTemplate.Labels = map[string]string{}
	for _, key := range []string{"z", "y", "x", "w", "v", "u", "t", "s"} {
		set.Spec.GameServerTemplate.Labels[key] = key
	}
	want := mustHash(t, set)
	for range 50 {
		if got := mustHash(t, set); got != want {
			t.Fatalf("hash %s became %s", want, got)
		}
	}
}

func TestOpenKruiseIsNotToldOfIDsFarAway(t *testing.T) {
	t.Parallel()
	plan := mustPlan(t, ScaleInput{Replicas: 3, Explicit: idset.Range(10, 2000000000)})
	if got, want := reserveOrdinals(plan), build.IDs("10-65538"); !cmp.Equal(got, want) {
		t.Errorf("reserveOrdinals() = %v, want %v", got, want)
	}
	last := mustPlan(t, ScaleInput{Replicas: 1, Explicit: idset.Range(0, 1<<20-1)})
	if got, want := reserveOrdinals(last), build.IDs("0-1048575"); !cmp.Equal(got, want) {
		t.Errorf("reserveOrdinals() = %v, want %v", got, want)
	}
}
