// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	kruisev1alpha1 "github.com/openkruise/kruise-api/apps/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestNextProbeStatus(t *testing.T) {
	t.Parallel()
	now, before := metav1.NewTime(start), metav1.NewTime(start.Add(-time.Minute))
	state := func(s kruisev1alpha1.ProbeState, message string, probed, changed metav1.Time) []kruisev1alpha1.ContainerProbeState {
		return []kruisev1alpha1.ContainerProbeState{{
			Name: "arena#healthy", State: s, Message: message, LastProbeTime: probed, LastTransitionTime: changed,
		}}
	}
	cases := map[string]struct {
		annotation string
		// pending leaves the pod before its start; gone leaves it out.
		pending, gone bool
		old, want     []kruisev1alpha1.ContainerProbeState
	}{
		"no annotation, no result":           {},
		"a result that was withdrawn":        {old: state(kruisev1alpha1.ProbeFailed, "", before, before)},
		"success":                            {annotation: "true", want: state(kruisev1alpha1.ProbeSucceeded, "", now, now)},
		"failure with a message":             {annotation: "false:no players: 0", want: state(kruisev1alpha1.ProbeFailed, "no players: 0", now, now)},
		"unknown":                            {annotation: "unknown:timeout", want: state(kruisev1alpha1.ProbeUnknown, "timeout", now, now)},
		"any other word is unknown":          {annotation: "yes", want: state(kruisev1alpha1.ProbeUnknown, "", now, now)},
		"a pod that has not started answers": {annotation: "true", pending: true},
		"a pod that is gone":                 {annotation: "true", gone: true, old: state(kruisev1alpha1.ProbeSucceeded, "", before, before)},
		"the same result keeps its times": {
			annotation: "true:1", old: state(kruisev1alpha1.ProbeSucceeded, "1", before, before),
			want: state(kruisev1alpha1.ProbeSucceeded, "1", before, before),
		},
		"a new message is a new probe": {
			annotation: "true:2", old: state(kruisev1alpha1.ProbeSucceeded, "1", before, before),
			want: state(kruisev1alpha1.ProbeSucceeded, "2", now, before),
		},
		"a new state is a transition": {
			annotation: "false:1", old: state(kruisev1alpha1.ProbeSucceeded, "1", before, before),
			want: state(kruisev1alpha1.ProbeFailed, "1", now, now),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := newLife(t).pod
			if tc.annotation != "" {
				pod.Annotations[AnnotationProbePrefix+"healthy"] = tc.annotation
			}
			if !tc.pending {
				pod.Status.Phase = corev1.PodRunning
			}
			pods := map[types.UID]*corev1.Pod{pod.UID: pod}
			if tc.gone {
				clear(pods)
			}
			asked := &kruisev1alpha1.NodePodProbe{
				Spec: kruisev1alpha1.NodePodProbeSpec{PodProbes: []kruisev1alpha1.PodProbe{{
					Namespace: pod.Namespace, Name: pod.Name, UID: string(pod.UID),
					Probes: []kruisev1alpha1.ContainerProbe{{Name: "arena#healthy"}, {Name: "arena#idle"}},
				}}},
				Status: probeStatus(pod, tc.old),
			}
			if diff := cmp.Diff(probeStatus(pod, tc.want), NextProbeStatus(asked, pods, start)); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
		})
	}
}

func probeStatus(pod *corev1.Pod, states []kruisev1alpha1.ContainerProbeState) kruisev1alpha1.NodePodProbeStatus {
	if len(states) == 0 {
		return kruisev1alpha1.NodePodProbeStatus{}
	}
	return kruisev1alpha1.NodePodProbeStatus{PodProbeStatuses: []kruisev1alpha1.PodProbeStatus{{
		Namespace: pod.Namespace, Name: pod.Name, UID: string(pod.UID), ProbeStates: states,
	}}}
}
