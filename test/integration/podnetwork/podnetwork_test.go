// SPDX-License-Identifier: Apache-2.0

package podnetwork

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/network/framework"
	"github.com/berthgames/berth/test/apiserver"
	"github.com/berthgames/berth/test/expect"
)

const limit = time.Minute

type world struct {
	*testing.T
	namespace string
}

func newWorld(t *testing.T, namespace string, say func(*framework.Pod) (framework.Result, error)) world {
	t.Helper()
	if suite == nil {
		t.Skip(apiserver.SkipReason)
	}
	suite.plugin.answer(namespace, say)
	w := world{T: t, namespace: namespace}
	w.must(suite.client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))
	return w
}

func (w world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// pod creates a pod of a network type.
func (w world) pod(name, networkType string, annotations map[string]string) *corev1.Pod {
	w.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.namespace, Name: name,
			Labels:      map[string]string{gamev1alpha1.GameServerOwnerGssKey: "set"},
			Annotations: map[string]string{gamev1alpha1.GameServerNetworkType: networkType},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "game", Image: "example.com/game:1"}}},
	}
	for key, value := range annotations {
		pod.Annotations[key] = value
	}
	w.must(suite.client.Create(w.Context(), pod))
	return pod
}

func (w world) statusIs(pod *corev1.Pod, want string) {
	w.Helper()
	w.must(expect.Eventually(w.Context(), limit, "the network status of "+pod.Name, func(ctx context.Context) error {
		var now corev1.Pod
		if err := suite.client.Get(ctx, client.ObjectKeyFromObject(pod), &now); err != nil {
			return err
		}
		if got := now.Annotations[gamev1alpha1.GameServerNetworkStatus]; got != want {
			return fmt.Errorf("it is %q, want %q", got, want)
		}
		return nil
	}))
}

// warning waits for an event on the pod and returns how often events of that reason were sent.
func (w world) warning(pod *corev1.Pod, reason, text string) int {
	w.Helper()
	count := 0
	w.must(expect.Eventually(w.Context(), limit, "an event "+reason, func(ctx context.Context) error {
		var list eventsv1.EventList
		if err := suite.client.List(ctx, &list, client.InNamespace(w.namespace)); err != nil {
			return err
		}
		count = 0
		for _, e := range list.Items {
			if e.Regarding.Name == pod.Name && e.Reason == reason && e.Type == corev1.EventTypeWarning && strings.Contains(e.Note, text) {
				count++
				if e.Series != nil {
					count += int(e.Series.Count) - 1
				}
			}
		}
		if count == 0 {
			return fmt.Errorf("there are %d other events", len(list.Items))
		}
		return nil
	}))
	return count
}

func annotate(pod *corev1.Pod, key, value string) error {
	patch := client.RawPatch(client.Merge.Type(), fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, key, value))
	return suite.client.Patch(context.Background(), pod.DeepCopy(), patch)
}

const readyText = `{"externalAddresses":[{"ip":"203.0.113.9"}],"currentNetworkState":"Ready","createTime":null,"lastTransitionTime":null}`
const notReadyText = `{"currentNetworkState":"NotReady","createTime":null,"lastTransitionTime":null}`

func TestAnswerIsWrittenOnceAndAsSpecified(t *testing.T) {
	w := newWorld(t, "written-once", func(*framework.Pod) (framework.Result, error) { return readyAt("203.0.113.9") })
	before := suite.writes.Load()
	pod := w.pod("a-0", pluginName, nil)
	w.statusIs(pod, readyText)

	t.Log("asking again writes nothing")
	asked := suite.plugin.timesAsked(client.ObjectKeyFromObject(pod))
	w.must(annotate(pod, gamev1alpha1.GameServerNetworkTriggerTime, "2026-01-01T00:00:00Z"))
	w.must(expect.Eventually(t.Context(), limit, "the plugin to be asked again", func(context.Context) error {
		if now := suite.plugin.timesAsked(client.ObjectKeyFromObject(pod)); now == asked {
			return fmt.Errorf("it was asked %d times", now)
		}
		return nil
	}))
	if writes := suite.writes.Load() - before; writes != 1 {
		t.Errorf("%d writes from nothing to Ready, want 1", writes)
	}

	t.Log("a foreign edit is set right")
	w.must(annotate(pod, gamev1alpha1.GameServerNetworkStatus, "{}"))
	w.statusIs(pod, readyText)
}

func TestAnswerOfUpstreamIsNotRewritten(t *testing.T) {
	w := newWorld(t, "upstream", func(*framework.Pod) (framework.Result, error) { return readyAt("203.0.113.9") })
	theirs := `{"currentNetworkState":"Ready","externalAddresses":[{"ip":"203.0.113.9"}]}`
	pod := w.pod("a-0", pluginName, map[string]string{gamev1alpha1.GameServerNetworkStatus: theirs})
	w.must(expect.Eventually(t.Context(), limit, "the plugin to be asked", func(context.Context) error {
		if suite.plugin.timesAsked(client.ObjectKeyFromObject(pod)) == 0 {
			return errors.New("it was not asked")
		}
		return nil
	}))
	w.statusIs(pod, theirs)
}

func TestObjectsOfThePluginWakeThePod(t *testing.T) {
	address := make(chan string, 1)
	address <- "203.0.113.9"
	w := newWorld(t, "watches", func(*framework.Pod) (framework.Result, error) {
		ip := <-address
		address <- ip
		return readyAt(ip)
	})
	pod := w.pod("a-0", pluginName, nil)
	w.statusIs(pod, readyText)

	<-address
	address <- "203.0.113.10"
	w.must(suite.client.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "a-0"}}))
	w.statusIs(pod, strings.Replace(readyText, ".9", ".10", 1))

	<-address
	address <- "203.0.113.11"
	owner := metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID}
	w.must(suite.client.Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "any", OwnerReferences: []metav1.OwnerReference{owner}},
		Spec:       corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone},
	}))
	w.statusIs(pod, strings.Replace(readyText, ".9", ".11", 1))
}

func TestUnknownTypeIsToldAndNotReady(t *testing.T) {
	w := newWorld(t, "unknown-type", nil)
	pod := w.pod("a-0", "Cloud-X", nil)
	w.statusIs(pod, notReadyText)
	w.warning(pod, "NetworkPluginNotFound", pluginName)
}

func TestUnreadableParametersAreToldAndNotReady(t *testing.T) {
	w := newWorld(t, "bad-conf", func(*framework.Pod) (framework.Result, error) { return readyAt("203.0.113.9") })
	pod := w.pod("a-0", pluginName, map[string]string{gamev1alpha1.GameServerNetworkConf: "not-json"})
	w.statusIs(pod, notReadyText)
	w.warning(pod, "parameterError", "not-json")
}

func TestPanicsAndFaultsAreToldOnceAndSurvived(t *testing.T) {
	for name, say := range map[string]func(*framework.Pod) (framework.Result, error){
		"panic": func(*framework.Pod) (framework.Result, error) { panic("index out of range") },
		"fault": func(*framework.Pod) (framework.Result, error) {
			return framework.Result{}, errors.New("index out of range")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "survives-"+name, say)
			pod := w.pod("a-0", pluginName, nil)
			w.warning(pod, "internalError", "index out of range")
			w.must(expect.Eventually(t.Context(), limit, "several tries", func(context.Context) error {
				if tries := suite.plugin.timesAsked(client.ObjectKeyFromObject(pod)); tries < 4 {
					return fmt.Errorf("%d tries", tries)
				}
				return nil
			}))
			if told := w.warning(pod, "internalError", "index out of range"); told != 1 {
				t.Errorf("the fault was told %d times, want once", told)
			}
			suite.plugin.answer(w.namespace, func(*framework.Pod) (framework.Result, error) { return readyAt("203.0.113.9") })
			w.must(annotate(pod, gamev1alpha1.GameServerNetworkTriggerTime, "now"))
			w.statusIs(pod, readyText)
		})
	}
}

func TestPluginIsAskedAgainWhenItSaysSo(t *testing.T) {
	w := newWorld(t, "recheck", func(*framework.Pod) (framework.Result, error) {
		return framework.Result{RecheckAfter: 100 * time.Millisecond}, nil
	})
	pod := w.pod("a-0", pluginName, nil)
	w.must(expect.Eventually(t.Context(), limit, "three looks without an event", func(context.Context) error {
		if looks := suite.plugin.timesAsked(client.ObjectKeyFromObject(pod)); looks < 3 {
			return fmt.Errorf("%d looks", looks)
		}
		return nil
	}))
	w.statusIs(pod, "") // nothing was reported, so nothing was written
}
