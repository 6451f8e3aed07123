// SPDX-License-Identifier: Apache-2.0

package podnetwork

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// Faults F7 and F8: upstream asks plugins that know nothing of the cluster yet. Here their pods wait, hold no worker, and
// are told why once a try has failed.
func TestPodsWaitForTheirPluginAndNobodyElseDoes(t *testing.T) {
	w := newWorld(t, "slow-restore", ready)
	waiting := make([]*corev1.Pod, 2*workers)
	for i := range waiting {
		waiting[i] = w.pod(fmt.Sprintf("a-%d", i), slowName, nil)
	}
	w.statusIs(w.pod("other-0", pluginName, nil), readyText)
	w.sent(1, 0)

	suite.slow.allow <- errors.New("no such list")
	for _, pod := range waiting {
		w.warned(pod, "retryError", "network plugin Test-Slow cannot rebuild what it knows of the cluster: no such list")
		if asked := suite.slow.timesAsked(pod); asked != 0 {
			t.Errorf("the plugin was asked %d times about %s before it was restored", asked, pod.Name)
		}
	}
	w.sent(1, len(waiting))

	suite.slow.allow <- nil
	for _, pod := range waiting {
		w.statusIs(pod, readyText)
	}
	w.sent(1+len(waiting), len(waiting))
}
