// SPDX-License-Identifier: Apache-2.0

package podnetwork

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/network/framework"
)

func TestAnswerIsWrittenOnceAndAsSpecified(t *testing.T) {
	w := newWorld(t, "written-once", ready)
	pod := w.pod("a-0", pluginName, nil)
	w.statusIs(pod, readyText)

	t.Log("our own write asked nobody, and asking again writes nothing")
	w.trigger(pod, "2026-01-01T00:00:00Z")
	w.asked(suite.plugin, pod, 2)
	w.trigger(pod, "2026-01-01T00:00:05Z")
	w.asked(suite.plugin, pod, 3)
	if got := suite.plugin.timesAsked(pod); got != 3 {
		t.Errorf("the plugin was asked %d times, want once for the pod and once per trigger", got)
	}
	w.sent(1, 0)

	t.Log("a foreign edit is set right")
	w.annotate(pod, gamev1alpha1.GameServerNetworkStatus, "{}")
	w.statusIs(pod, readyText)
	w.sent(2, 0)
}

func TestAnswerOfUpstreamIsNotRewritten(t *testing.T) {
	w := newWorld(t, "upstream", ready)
	theirs := `{"currentNetworkState":"Ready","externalAddresses":[{"ip":"203.0.113.9"}]}`
	pod := w.pod("a-0", pluginName, map[string]string{gamev1alpha1.GameServerNetworkStatus: theirs})
	w.asked(suite.plugin, pod, 1)
	w.trigger(pod, "now")
	w.asked(suite.plugin, pod, 2)
	w.statusIs(pod, theirs)
	w.sent(0, 0)
}

func TestObjectsOfThePluginWakeThePod(t *testing.T) {
	var ip atomic.Value
	ip.Store(address)
	w := newWorld(t, "watches", func(*framework.Pod) (framework.Result, error) { return readyAt(ip.Load().(string)) })
	pod := w.pod("a-0", pluginName, nil)
	w.statusIs(pod, readyText)

	t.Log("a panic where events are delivered ends neither the process nor the events after it")
	w.must(suite.client.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: poison}}))
	ip.Store("203.0.113.10")
	w.must(suite.client.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "a-0"}}))
	w.statusIs(pod, strings.Replace(readyText, ".9", ".10", 1))

	ip.Store("203.0.113.11")
	owner := metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID}
	w.must(suite.client.Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "any", OwnerReferences: []metav1.OwnerReference{owner}},
		Spec:       corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone},
	}))
	w.statusIs(pod, strings.Replace(readyText, ".9", ".11", 1))
}

// Fault F12: upstream says nothing.
func TestUnknownTypeIsToldAndNotReady(t *testing.T) {
	w := newWorld(t, "unknown-type", nil)
	pod := w.pod("a-0", "Cloud-X", nil)
	w.statusIs(pod, notReadyText)
	w.warned(pod, "NetworkPluginNotFound", `"Cloud-X" is not available; available are: Test-Mute, Test-Network, Test-Slow`)

	t.Log("once, and without trying again")
	w.trigger(pod, "now")
	later := w.pod("later-0", "Cloud-X", nil) // its event comes after what the trigger brought
	w.warned(later, "NetworkPluginNotFound", "Cloud-X")
	w.sent(2, 2)
}

func TestUnreadableParametersAreToldAndNotReadyUntilTheyChange(t *testing.T) {
	w := newWorld(t, "bad-conf", ready)
	pod := w.pod("a-0", pluginName, map[string]string{gamev1alpha1.GameServerNetworkConf: "not-json"})
	w.statusIs(pod, notReadyText)
	w.warned(pod, "parameterError", "not-json")
	if asked := suite.plugin.timesAsked(pod); asked != 0 {
		t.Errorf("the plugin was asked %d times without parameters", asked)
	}
	w.annotate(pod, gamev1alpha1.GameServerNetworkConf, "[]")
	w.statusIs(pod, readyText)
	w.sent(2, 1)
}

// Faults F4 and F2: upstream dies, or refuses every change of the pod.
func TestPanicsAndFaultsAreToldOnceAndSurvived(t *testing.T) {
	for name, answer := range map[string]say{
		"panic": func(*framework.Pod) (framework.Result, error) { panic("index out of range") },
		"fault": func(*framework.Pod) (framework.Result, error) {
			return framework.Result{}, errors.New("index out of range")
		},
		"wait": func(*framework.Pod) (framework.Result, error) {
			return framework.Result{}, &framework.RetryError{Err: errors.New("index out of range"), After: time.Millisecond}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "survives-"+name, ready)
			pod := w.pod("a-0", pluginName, nil)
			w.statusIs(pod, readyText)
			suite.plugin.answer(w.namespace, answer)
			w.trigger(pod, "now")
			w.asked(suite.plugin, pod, 5)
			reason := map[string]string{"panic": "internalError", "fault": "internalError", "wait": "retryError"}[name]
			w.warned(pod, reason, "index out of range")
			w.statusIs(pod, readyText) // what was reported stays
			w.sent(1, 1)

			suite.plugin.answer(w.namespace, func(*framework.Pod) (framework.Result, error) { return readyAt("203.0.113.10") })
			w.statusIs(pod, strings.Replace(readyText, ".9", ".10", 1))
		})
	}
}

func TestPluginThatIsLateIsAskedAgainWhenItSays(t *testing.T) {
	var looks atomic.Int64
	w := newWorld(t, "late", func(*framework.Pod) (framework.Result, error) {
		if looks.Add(1) < 4 {
			return framework.Result{Waiting: "the balancer is being made", RecheckAfter: 50 * time.Millisecond}, nil
		}
		return readyAt(address)
	})
	pod := w.pod("a-0", pluginName, nil)
	w.statusIs(pod, readyText)
	if got := looks.Load(); got != 4 {
		t.Errorf("the plugin was asked %d times, want 4", got)
	}
	w.sent(1, 0) // nothing was reported before, so nothing was written or told
}

func TestPluginWithNothingToSayIsLeftAlone(t *testing.T) {
	w := newWorld(t, "mute", ready)
	quiet := w.pod("a-0", muteName, nil)
	none := w.pod("b-0", "", nil)
	w.statusIs(w.pod("c-0", pluginName, nil), readyText)
	w.statusIs(quiet, "")
	w.statusIs(none, "")
	w.sent(1, 0)
}
