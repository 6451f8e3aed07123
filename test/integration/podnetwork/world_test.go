// SPDX-License-Identifier: Apache-2.0

package podnetwork

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/test/apiserver"
	"github.com/berthgames/berth/test/expect"
)

// limit is how long anything may take on a busy machine.
const limit = time.Minute

// address is where pods of the tests are reached. The texts are byte for byte those of network-framework.md, section 2.3.
const (
	address      = "203.0.113.9"
	readyText    = `{"externalAddresses":[{"ip":"203.0.113.9"}],"currentNetworkState":"Ready","createTime":null,"lastTransitionTime":null}`
	notReadyText = `{"currentNetworkState":"NotReady","createTime":null,"lastTransitionTime":null}`
)

// world is a namespace of one test.
type world struct {
	*testing.T
	namespace string
}

func newWorld(t *testing.T, namespace string, answer say) world {
	t.Helper()
	if suite == nil {
		t.Skip(apiserver.SkipReason)
	}
	suite.plugin.answer(namespace, answer)
	suite.slow.answer(namespace, answer)
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

// eventually waits until check answers nil.
func (w world) eventually(what string, check func(context.Context) error) {
	w.Helper()
	w.must(expect.Eventually(w.Context(), limit, what, check))
}

// pod creates a pod of a network type.
func (w world) pod(name, networkType string, annotations map[string]string) *corev1.Pod {
	w.Helper()
	pod := newPod(w.namespace, name, networkType)
	maps.Copy(pod.Annotations, annotations)
	w.must(suite.client.Create(w.Context(), pod))
	return pod
}

func newPod(namespace, name, networkType string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name,
			Labels:      map[string]string{gamev1alpha1.GameServerOwnerGssKey: "set"},
			Annotations: map[string]string{gamev1alpha1.GameServerNetworkType: networkType},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "game", Image: "example.com/game:1"}}},
	}
}

// bind plays the scheduler.
func (w world) bind(pod *corev1.Pod, node string) {
	w.Helper()
	w.must(suite.client.SubResource("binding").Create(w.Context(), pod, &corev1.Binding{
		Target: corev1.ObjectReference{Kind: "Node", Name: node},
	}))
}

// run plays the kubelet.
func (w world) run(pod *corev1.Pod, ip string) {
	w.Helper()
	patch := fmt.Appendf(nil, `{"status":{"phase":"Running","podIP":%q,"podIPs":[{"ip":%q}]}}`, ip, ip)
	w.must(suite.client.Status().Patch(w.Context(), pod.DeepCopy(), client.RawPatch(client.Merge.Type(), patch)))
}

func (w world) annotate(pod *corev1.Pod, key, value string) {
	w.Helper()
	patch := client.RawPatch(client.Merge.Type(), fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, key, value))
	w.must(suite.client.Patch(w.Context(), pod.DeepCopy(), patch))
}

// trigger asks for a look at a pod, as people do who know upstream.
func (w world) trigger(pod *corev1.Pod, at string) {
	w.Helper()
	w.annotate(pod, gamev1alpha1.GameServerNetworkTriggerTime, at)
}

func (w world) statusIs(pod *corev1.Pod, want string) {
	w.Helper()
	w.eventually("the network status of "+pod.Name, func(ctx context.Context) error {
		var now corev1.Pod
		if err := suite.client.Get(ctx, client.ObjectKeyFromObject(pod), &now); err != nil {
			return err
		}
		if got := now.Annotations[gamev1alpha1.GameServerNetworkStatus]; got != want {
			return fmt.Errorf("it is %q, want %q", got, want)
		}
		return nil
	})
}

// asked waits until a plugin was asked about a pod at least that often.
func (w world) asked(p *plugin, pod *corev1.Pod, times int) {
	w.Helper()
	w.eventually(fmt.Sprintf("the plugin to be asked %d times about %s", times, pod.Name), func(context.Context) error {
		if got := p.timesAsked(pod); got < times {
			return fmt.Errorf("it was asked %d times", got)
		}
		return nil
	})
}

// warned waits for a Warning event on a pod, with a text in its note.
func (w world) warned(pod *corev1.Pod, reason, text string) {
	w.Helper()
	w.eventually("an event "+reason, func(ctx context.Context) error {
		var list eventsv1.EventList
		if err := suite.client.List(ctx, &list, client.InNamespace(w.namespace)); err != nil {
			return err
		}
		for _, e := range list.Items {
			if e.Regarding.UID == pod.UID && e.Reason == reason && e.Type == corev1.EventTypeWarning && strings.Contains(e.Note, text) {
				return nil
			}
		}
		return fmt.Errorf("there are %d other events", len(list.Items))
	})
}

// sent checks what the controller has sent for the namespace of the test so far.
func (w world) sent(wantWrites, wantEvents int) {
	w.Helper()
	if writes, events := suite.wire.counts(w.namespace); writes != wantWrites || events != wantEvents {
		w.Errorf("%d writes and %d events were sent, want %d and %d", writes, events, wantWrites, wantEvents)
	}
}
