// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

func resources(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}

// Source of the first three: core-webhook-and-scaler.md, section 1.6.
func TestOverride(t *testing.T) {
	t.Parallel()
	container := func(name, image string, limits, requests corev1.ResourceList) corev1.Container {
		return corev1.Container{Name: name, Image: image, Resources: corev1.ResourceRequirements{Limits: limits, Requests: requests}}
	}
	cases := map[string]struct {
		pod          corev1.PodSpec
		wanted       []gamev1alpha1.GameServerContainer
		want         corev1.PodSpec
		wantWarnings []string
		wantErrors   []string
	}{
		"no overrides leave the pod unchanged": {
			pod:  corev1.PodSpec{Containers: []corev1.Container{container("A", "A-v1", nil, nil)}},
			want: corev1.PodSpec{Containers: []corev1.Container{container("A", "A-v1", nil, nil)}},
		},
		"image, a request and a limit change, the other request and the other container stay": {
			pod: corev1.PodSpec{Containers: []corev1.Container{
				container("A", "A-v1", nil, resources("cpu", "500m", "memory", "1Gi")), container("B", "B-v1", nil, nil),
			}},
			wanted: []gamev1alpha1.GameServerContainer{{
				Name: "A", Image: "A-v2",
				Resources: corev1.ResourceRequirements{Requests: resources("memory", "2Gi"), Limits: resources("cpu", "1")},
			}},
			want: corev1.PodSpec{Containers: []corev1.Container{
				container("A", "A-v2", resources("cpu", "1"), resources("cpu", "500m", "memory", "2Gi")), container("B", "B-v1", nil, nil),
			}},
		},
		"a request alone leaves the image": {
			pod:    corev1.PodSpec{Containers: []corev1.Container{container("A", "A-v1", nil, nil)}},
			wanted: []gamev1alpha1.GameServerContainer{{Name: "A", Resources: corev1.ResourceRequirements{Requests: resources("cpu", "1")}}},
			want:   corev1.PodSpec{Containers: []corev1.Container{container("A", "A-v1", nil, resources("cpu", "1"))}},
		},
		"every resource name counts, and init containers too (W-10)": {
			pod: corev1.PodSpec{
				InitContainers: []corev1.Container{container("warmup", "w-v1", nil, nil)},
				Containers:     []corev1.Container{container("A", "A-v1", nil, nil)},
			},
			wanted: []gamev1alpha1.GameServerContainer{
				{Name: "warmup", Image: "w-v2", Resources: corev1.ResourceRequirements{Limits: resources("ephemeral-storage", "1Gi")}},
				{Name: "A", Resources: corev1.ResourceRequirements{Limits: resources("example.com/gpu", "2", "hugepages-2Mi", "4Mi")}},
			},
			want: corev1.PodSpec{
				InitContainers: []corev1.Container{container("warmup", "w-v2", resources("ephemeral-storage", "1Gi"), nil)},
				Containers:     []corev1.Container{container("A", "A-v1", resources("example.com/gpu", "2", "hugepages-2Mi", "4Mi"), nil)},
			},
		},
		"claims are refused (W-10)": {
			pod: corev1.PodSpec{Containers: []corev1.Container{container("A", "A-v1", nil, nil)}},
			wanted: []gamev1alpha1.GameServerContainer{{
				Name: "A", Resources: corev1.ResourceRequirements{Claims: []corev1.ResourceClaim{{Name: "gpu"}}},
			}},
			want: corev1.PodSpec{Containers: []corev1.Container{container("A", "A-v1", nil, nil)}},
			wantErrors: []string{"spec.containers[0].resources.claims: Forbidden: claims belong into the pod template; " +
				"a GameServer can only override limits and requests"},
		},
		"a name that is no container gives a warning": {
			pod:          corev1.PodSpec{Containers: []corev1.Container{container("A", "A-v1", nil, nil)}},
			wanted:       []gamev1alpha1.GameServerContainer{{Name: "C", Image: "C-v1"}},
			want:         corev1.PodSpec{Containers: []corev1.Container{container("A", "A-v1", nil, nil)}},
			wantWarnings: []string{`spec.containers[0].name: the pod has no container "C"`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := &corev1.Pod{Spec: tc.pod}
			warnings, errs := override(pod, tc.wanted)
			if diff := cmp.Diff(tc.want, pod.Spec); diff != "" {
				t.Errorf("pod (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantWarnings, warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			var got []string
			for _, err := range errs {
				got = append(got, err.Error())
			}
			if diff := cmp.Diff(tc.wantErrors, got); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
		})
	}
}
