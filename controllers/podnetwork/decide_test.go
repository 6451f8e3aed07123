// SPDX-License-Identifier: Apache-2.0

package podnetwork

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
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
			pod:  reported(ready()),
			give: answer{result: framework.Result{Status: gamev1alpha1.NetworkStatus{CurrentNetworkState: gamev1alpha1.NetworkNotReady}, Waiting: "node n1 has no address"}},
			want: plan{status: ptr.To(notReadyText), trouble: trouble{"NetworkNotReady", "node n1 has no address"}},
		},
		"wrong parameters are NotReady until they change": {
			pod: unreported(), give: answer{err: bad},
			want: plan{status: ptr.To(notReadyText), trouble: trouble{"parameterError", `conf: Invalid value: "80/XYZ": no such protocol`}},
		},
		"an unknown type is NotReady and names the known ones (F12)": {
			pod: unreported(), give: answer{err: &unknownTypeError{name: "Cloud-X", known: []string{"A", "B"}}},
			want: plan{status: ptr.To(notReadyText), trouble: trouble{"NetworkPluginNotFound", `network type "Cloud-X" is not available; available are: A, B`}},
		},
		"a fault keeps the last status and is tried again": {
			pod: reported(ready()), give: answer{err: errors.New("boom")},
			want: plan{trouble: trouble{"internalError", "boom"}, retry: true},
		},
		"a plugin that waits is asked again when it says": {
			pod: reported(ready()), give: answer{err: &framework.RetryError{Err: errors.New("not yet"), After: 3 * time.Second}},
			want: plan{trouble: trouble{"retryError", "not yet"}, recheckAfter: 3 * time.Second},
		},
		"too few ports are told and looked at again": {
			pod: unreported(), give: answer{err: fmt.Errorf("choosing: %w", &framework.ExhaustedError{Kind: "host port", Want: 1})},
			want: plan{trouble: trouble{"portsExhausted", "choosing: 1 host port in 0 wanted, 0 free"}, recheckAfter: recheck},
		},
		"a panic is a fault of the plugin (F4)": {
			pod: unreported(), give: answer{err: &framework.PanicError{Plugin: "Test", Value: "index out of range"}},
			want: plan{trouble: trouble{"internalError", "network plugin Test panicked: index out of range"}, retry: true},
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

func TestNotesAreBounded(t *testing.T) {
	t.Parallel()
	if got := troubleOf(errors.New(strings.Repeat("x", 2000))).note; len(got) != mostNote || !strings.HasSuffix(got, "...") {
		t.Errorf("a note of %d characters ending in %q, want %d ending in dots", len(got), got[len(got)-5:], mostNote)
	}
}

func TestTroubleIsToldOncePerChange(t *testing.T) {
	t.Parallel()
	pod := types.NamespacedName{Namespace: "ns", Name: "a-0"}
	first, second := trouble{"r", "one"}, trouble{"r", "two"}
	steps := []struct {
		name string
		uid  types.UID
		now  trouble
		want bool
	}{
		{"no trouble", "1", trouble{}, false},
		{"new trouble", "1", first, true},
		{"the same again", "1", first, false},
		{"another one", "1", second, true},
		{"the trouble ends", "1", trouble{}, false},
		{"it comes back", "1", second, true},
		{"the next pod of that name has it too", "2", second, true},
	}
	told := newTold()
	for _, step := range steps {
		if got := told.isNew(pod, step.uid, step.now); got != step.want {
			t.Errorf("%s: isNew() = %t, want %t", step.name, got, step.want)
		}
	}
	told.forget(pod)
	if len(told.last) != 0 {
		t.Errorf("a pod that is gone leaves %v behind", told.last)
	}
}
