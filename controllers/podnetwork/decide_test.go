// SPDX-License-Identifier: Apache-2.0

package podnetwork

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/network/framework"
)

const (
	readyText    = `{"externalAddresses":[{"ip":"203.0.113.9"}],"currentNetworkState":"Ready","createTime":null,"lastTransitionTime":null}`
	notReadyText = `{"currentNetworkState":"NotReady","createTime":null,"lastTransitionTime":null}`
)

func ready() gamev1alpha1.NetworkStatus {
	return gamev1alpha1.NetworkStatus{
		ExternalAddresses:   []gamev1alpha1.NetworkAddress{{IP: "203.0.113.9"}},
		CurrentNetworkState: gamev1alpha1.NetworkReady,
	}
}

func reported(status gamev1alpha1.NetworkStatus) *framework.Pod {
	return &framework.Pod{Pod: &corev1.Pod{}, Type: "Test", Status: &status}
}

func unreported() *framework.Pod { return &framework.Pod{Pod: &corev1.Pod{}, Type: "Test"} }

func on(node string, pod *framework.Pod) *framework.Pod {
	pod.Spec.NodeName = node
	return pod
}

func deleted(pod *framework.Pod) *framework.Pod {
	pod.DeletionTimestamp = ptr.To(metav1.Unix(1, 0))
	return pod
}

func finished(pod *framework.Pod) *framework.Pod {
	pod.Pod.Status.Phase = corev1.PodFailed
	return pod
}

func notReady(waiting string) answer {
	return answer{result: framework.Result{Status: gamev1alpha1.NetworkStatus{CurrentNetworkState: gamev1alpha1.NetworkNotReady}, Waiting: waiting}}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	bad := framework.AsParameterError(field.ErrorList{field.Invalid(field.NewPath("conf"), "80/XYZ", "no such protocol")})
	cases := map[string]struct {
		pod  *framework.Pod
		give answer
		want plan
	}{
		"the first answer is written": {
			pod: unreported(), give: answer{result: framework.Result{Status: ready()}},
			want: plan{status: ptr.To(readyText)},
		},
		"an answer that stands there already is not written": {
			pod: reported(ready()), give: answer{result: framework.Result{Status: ready()}},
		},
		"fields of the GameServer controller in the annotation make no difference": {
			pod:  reported(gamev1alpha1.NetworkStatus{NetworkType: "Test", DesiredNetworkState: gamev1alpha1.NetworkReady, ExternalAddresses: ready().ExternalAddresses, CurrentNetworkState: gamev1alpha1.NetworkReady}),
			give: answer{result: framework.Result{Status: ready()}},
		},
		"nothing to report yet writes nothing and tells nothing": {
			pod: unreported(), give: answer{result: framework.Result{Waiting: "the pod has no node", RecheckAfter: time.Minute}},
			want: plan{recheckAfter: time.Minute},
		},
		"what a network that is not ready waits for is told": {
			pod: reported(ready()), give: notReady("node n1 has no address"),
			want: plan{status: ptr.To(notReadyText), trouble: trouble{"NetworkNotReady", "node n1 has no address"}},
		},
		"what a ready network lacks is told": {
			pod: reported(ready()), give: answer{result: framework.Result{Status: ready(), Waiting: "it cannot be cut off"}},
			want: plan{trouble: trouble{"NetworkNotReady", "it cannot be cut off"}},
		},
		"NotReady is not the first that is said of a pod without a node (F13)": {
			pod: unreported(), give: notReady("the pod has no node"),
		},
		"NotReady is said of a pod with a node": {
			pod: on("n1", unreported()), give: notReady("node n1 has no address"),
			want: plan{status: ptr.To(notReadyText), trouble: trouble{"NetworkNotReady", "node n1 has no address"}},
		},
		"Ready falls back to NotReady though the pod lost its node": {
			pod: reported(ready()), give: notReady(""),
			want: plan{status: ptr.To(notReadyText)},
		},
		"Waiting is more than a missing report says": {
			pod:  unreported(),
			give: answer{result: framework.Result{Status: gamev1alpha1.NetworkStatus{CurrentNetworkState: gamev1alpha1.NetworkWaiting}}},
			want: plan{status: ptr.To(`{"currentNetworkState":"Waiting","createTime":null,"lastTransitionTime":null}`)},
		},
		"a pod that was never reported and is being deleted is not reported any more": {
			pod: deleted(on("n1", unreported())), give: notReady("the pod has no address"),
		},
		"a pod that ends is told another answer, but nobody is warned": {
			pod: finished(on("n1", reported(ready()))), give: notReady("the pod has no address"),
			want: plan{status: ptr.To(notReadyText)},
		},
		"a pod that ends keeps its report though its parameters are wrong": {
			pod: deleted(reported(ready())), give: answer{err: bad},
			want: plan{trouble: trouble{"parameterError", `conf: Invalid value: "80/XYZ": no such protocol`}},
		},
		"a plugin that cannot put away what it made is asked again (F20)": {
			pod: deleted(reported(ready())), give: answer{err: errors.New("boom")},
			want: plan{trouble: trouble{"internalError", "boom"}, next: afterFault},
		},
		"a time to look again in the past is none": {
			pod: unreported(), give: answer{result: framework.Result{RecheckAfter: -time.Second}},
		},
		"wrong parameters are NotReady until they change": {
			pod: unreported(), give: answer{err: bad},
			want: plan{status: ptr.To(notReadyText), trouble: trouble{"parameterError", `conf: Invalid value: "80/XYZ": no such protocol`}},
		},
		"an unknown type is NotReady and names the known ones (F12)": {
			pod: unreported(), give: answer{err: &unknownTypeError{name: "Cloud-X", known: []string{"A", "B"}}},
			want: plan{status: ptr.To(notReadyText), trouble: trouble{"NetworkPluginNotFound", `network type "Cloud-X" is not available; available are: A, B`}},
		},
		"an unknown type where nothing is enabled": {
			pod: reported(ready()), give: answer{err: &unknownTypeError{name: "Cloud-X"}},
			want: plan{status: ptr.To(notReadyText), trouble: trouble{"NetworkPluginNotFound", `network type "Cloud-X" is not available; no network provider is enabled`}},
		},
		"a fault keeps the last status and is tried again": {
			pod: reported(ready()), give: answer{err: errors.New("boom")},
			want: plan{trouble: trouble{"internalError", "boom"}, next: afterFault},
		},
		"a plugin that waits is asked again when it says": {
			pod: reported(ready()), give: answer{err: &framework.RetryError{Err: errors.New("not yet"), After: 3 * time.Second}},
			want: plan{trouble: trouble{"retryError", "not yet"}, recheckAfter: 3 * time.Second},
		},
		"a plugin that waits and does not say how long": {
			pod: reported(ready()), give: answer{err: framework.Retryf("not yet")},
			want: plan{trouble: trouble{"retryError", "not yet"}, next: afterWait},
		},
		"too few ports are told and looked at again": {
			pod: unreported(), give: answer{err: fmt.Errorf("choosing: %w", &framework.ExhaustedError{Kind: "host port", Want: 1})},
			want: plan{trouble: trouble{"portsExhausted", "choosing: 1 host port in 0 wanted, 0 free"}, next: afterWait},
		},
		"a panic is a fault of the plugin (F4)": {
			pod: unreported(), give: answer{err: &framework.PanicError{Plugin: "Test", Value: "index out of range"}},
			want: plan{trouble: trouble{"internalError", "network plugin Test panicked: index out of range"}, next: afterFault},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := decide(tc.pod, tc.give)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(plan{}, trouble{})); diff != "" {
				t.Errorf("decide() (-want +got):\n%s", diff)
			}
		})
	}
}
