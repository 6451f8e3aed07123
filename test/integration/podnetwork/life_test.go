// SPDX-License-Identifier: Apache-2.0

package podnetwork

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/network/framework"
)

// whenRunning answers as most plugins do: NotReady, and why, until the pod has an address.
func whenRunning(pod *framework.Pod) (framework.Result, error) {
	if pod.Pod.Status.PodIP == "" {
		return framework.Result{
			Status:  gamev1alpha1.NetworkStatus{CurrentNetworkState: gamev1alpha1.NetworkNotReady},
			Waiting: "the pod has no address",
		}, nil
	}
	return readyAt(address)
}

// Fault F13: a pod that waits for its node costs nothing.
func TestPodIsWrittenOnceFromNothingToReady(t *testing.T) {
	w := newWorld(t, "once", whenRunning)
	pod := w.pod("a-0", pluginName, nil)
	w.asked(suite.plugin, pod, 1)
	w.trigger(pod, "now")
	w.asked(suite.plugin, pod, 2)
	w.sent(0, 0)
	w.run(pod, "10.0.0.1") // before the node is known here, so that the test does not depend on the order of events
	w.statusIs(pod, readyText)
	w.sent(1, 0)
}

func TestNetworkThatIsNotReadyThoughThePodHasANodeIsTold(t *testing.T) {
	w := newWorld(t, "told", whenRunning)
	pod := w.pod("a-0", pluginName, nil)
	w.bind(pod, "n1")
	w.statusIs(pod, notReadyText)
	w.warned(pod, "NetworkNotReady", "the pod has no address")
	w.run(pod, "10.0.0.1")
	w.statusIs(pod, readyText)
	w.sent(2, 1)
}

// Fault F20: upstream lets go of the network at the first request to delete, while players are on.
func TestPodThatIsBeingDeletedKeepsItsReport(t *testing.T) {
	var seen atomic.Bool
	w := newWorld(t, "deleted", func(pod *framework.Pod) (framework.Result, error) {
		if pod.DeletionTimestamp != nil {
			seen.Store(true)
		}
		return whenRunning(pod)
	})
	pod := w.pod("a-0", pluginName, nil)
	w.bind(pod, "n1")
	w.run(pod, "10.0.0.1")
	w.statusIs(pod, readyText)
	before, _ := suite.wire.counts(w.namespace)

	w.must(suite.client.Delete(t.Context(), pod.DeepCopy())) // a bound pod stays until its kubelet is done
	w.eventually("the plugin to see the deletion", func(context.Context) error {
		if !seen.Load() {
			return fmt.Errorf("asked %d times", suite.plugin.timesAsked(pod))
		}
		return nil
	})
	asked := suite.plugin.timesAsked(pod)
	w.trigger(pod, "now")
	w.asked(suite.plugin, pod, asked+1)
	w.statusIs(pod, readyText)
	if after, _ := suite.wire.counts(w.namespace); after != before {
		t.Errorf("%d writes to a pod that is being deleted", after-before)
	}
}

// A StatefulSet makes its pods anew under the same names, also while an answer for the old one is under way.
func TestAnswerNeverLandsOnTheNextPodOfThatName(t *testing.T) {
	var replaced atomic.Pointer[corev1.Pod]
	var old types.UID
	w := newWorld(t, "replaced", nil)
	suite.plugin.answer(w.namespace, func(pod *framework.Pod) (framework.Result, error) {
		if replaced.Load() != nil {
			return framework.Result{}, nil
		}
		old = pod.UID
		if err := suite.client.Delete(t.Context(), pod.Pod, client.GracePeriodSeconds(0)); err != nil {
			return framework.Result{}, err
		}
		next := newPod(w.namespace, pod.Name, pluginName)
		if err := suite.client.Create(t.Context(), next); err != nil {
			return framework.Result{}, err
		}
		replaced.Store(next)
		return readyAt(address)
	})
	pod := w.pod("a-0", pluginName, nil)
	w.asked(suite.plugin, pod, 2)
	next := replaced.Load()
	if next.UID == old {
		t.Fatal("the pod was not replaced")
	}
	w.trigger(next, "now")
	w.asked(suite.plugin, next, 3)
	w.statusIs(next, "")
	w.sent(1, 0) // the one that was refused
}

// Case F16: upstream touches pods over and over; here a burst costs one write and at most two looks a pod.
func TestBurstCostsOneWriteAPod(t *testing.T) {
	const pods = 300
	w := newWorld(t, "burst", ready)
	list := make([]*corev1.Pod, pods)
	for i := range list {
		list[i] = w.pod(fmt.Sprintf("a-%d", i), pluginName, nil)
	}
	w.eventually("all pods to be ready", func(ctx context.Context) error {
		var now corev1.PodList
		if err := suite.client.List(ctx, &now, client.InNamespace(w.namespace)); err != nil {
			return err
		}
		missing := 0
		for i := range now.Items {
			if !strings.Contains(now.Items[i].Annotations[gamev1alpha1.GameServerNetworkStatus], address) {
				missing++
			}
		}
		if missing > 0 {
			return fmt.Errorf("%d of %d are not", missing, pods)
		}
		return nil
	})
	w.sent(pods, 0)
	for _, pod := range list {
		if asked := suite.plugin.timesAsked(pod); asked > 2 {
			t.Errorf("the plugin was asked %d times about %s", asked, pod.Name)
		}
	}
}
