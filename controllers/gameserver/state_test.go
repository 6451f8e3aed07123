// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	"testing"

	appspub "github.com/openkruise/kruise-api/apps/pub"
	corev1 "k8s.io/api/core/v1"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

func TestStateOf(t *testing.T) {
	t.Parallel()
	notReady := podCond(corev1.PodReady, corev1.ConditionFalse, "", "")
	cases := map[string]struct {
		pod  *corev1.Pod
		want gamev1alpha1.GameServerState
	}{
		"no pod waits for the next one":                  {nil, gamev1alpha1.Creating},
		"running and being deleted":                      {aPod(isDeleted), gamev1alpha1.Deleting},
		"G-7: pending and being deleted":                 {aPod(phase(corev1.PodPending), isDeleted), gamev1alpha1.Deleting},
		"G-7: failed and being deleted":                  {aPod(phase(corev1.PodFailed), isDeleted), gamev1alpha1.Deleting},
		"deletion wins over a lifecycle state":           {aPod(lifecycle(appspub.LifecycleStateUpdating), isDeleted), gamev1alpha1.Deleting},
		"updated in place":                               {aPod(lifecycle(appspub.LifecycleStateUpdating)), gamev1alpha1.Updating},
		"held before an update":                          {aPod(lifecycle(appspub.LifecycleStatePreparingUpdate)), gamev1alpha1.PreUpdate},
		"held before a deletion":                         {aPod(lifecycle(appspub.LifecycleStatePreparingDelete)), gamev1alpha1.PreDelete},
		"updated and not normal yet counts by readiness": {aPod(lifecycle(appspub.LifecycleStateUpdated), notReady), gamev1alpha1.NotReady},
		"running and ready":                              {aPod(), gamev1alpha1.Ready},
		"running and not ready":                          {aPod(notReady), gamev1alpha1.NotReady},
		"G-7: running without a Ready condition":         {aPod(func(p *corev1.Pod) { p.Status.Conditions = nil }), gamev1alpha1.NotReady},
		"failed":                                         {aPod(phase(corev1.PodFailed)), gamev1alpha1.Crash},
		"a lifecycle state says nothing of a failed pod": {aPod(phase(corev1.PodFailed), lifecycle(appspub.LifecycleStateUpdating)), gamev1alpha1.Crash},
		"pending":                    {aPod(phase(corev1.PodPending)), gamev1alpha1.Creating},
		"succeeded stays unknown":    {aPod(phase(corev1.PodSucceeded)), gamev1alpha1.Unknown},
		"a phase that the node lost": {aPod(phase(corev1.PodUnknown)), gamev1alpha1.Unknown},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := stateOf(tc.pod); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}
