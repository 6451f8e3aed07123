// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/internal/gamepod"
)

func TestIsRefused(t *testing.T) {
	t.Parallel()
	pods := schema.GroupResource{Resource: "pods"}
	cases := map[string]struct {
		err  error
		want bool
	}{
		"no error":                  {nil, false},
		"no answer":                 {errors.New("connection refused"), false},
		"a policy that forbids":     {fmt.Errorf("patching: %w", apierrors.NewForbidden(pods, "arena-0", errors.New("image"))), true},
		"a pod that is not valid":   {apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "arena-0", nil), true},
		"a request that is too big": {apierrors.NewRequestEntityTooLargeError("3 MiB"), true},
		"a bad request":             {apierrors.NewBadRequest("denied"), true},
		"a pod that is gone":        {apierrors.NewNotFound(pods, "arena-0"), false},
		"a conflict":                {apierrors.NewConflict(pods, "arena-0", errors.New("uid")), false},
		"too much at once":          {apierrors.NewTooManyRequests("wait", 1), false},
		"credentials that ran out":  {apierrors.NewUnauthorized("expired"), false},
		"a webhook that is down":    {apierrors.NewInternalError(errors.New("webhook")), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := isRefused(tc.err); got != tc.want {
				t.Errorf("got %t, want %t", got, tc.want)
			}
		})
	}
}

// strictClient refuses, as an image policy does, every patch that holds a text.
type strictClient struct {
	client.Client
	against string
	patches []string
}

func (c *strictClient) Patch(_ context.Context, obj client.Object, patch client.Patch, _ ...client.PatchOption) error {
	data, err := patch.Data(obj)
	if err != nil {
		return err
	}
	if strings.Contains(string(data), c.against) {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, obj.GetName(), errors.New("policy"))
	}
	c.patches = append(c.patches, string(data))
	return nil
}

func TestRefusedPodChanges(t *testing.T) {
	t.Parallel()
	patched, unpatched := &gamev1alpha1.GameServerStatus{DesiredState: "patched"}, &gamev1alpha1.GameServerStatus{DesiredState: "unpatched"}
	state := map[string]*string{gamev1alpha1.GameServerStateKey: ptr.To("Crash")}
	synced := map[string]*string{gamev1alpha1.GameServerSyncPrefix + "match": ptr.To("m"), gamepod.SyncedKeysKey: ptr.To("annotations/match")}
	const all, rest = `{"metadata":{"uid":"pod-1","labels":{"game.kruise.io/gs-state":"Crash"},"annotations":{"game.kruise.io/gs-sync-keys":"annotations/match",` +
		`"gs-sync/match":"m"}},"spec":{"containers":[{"name":"A","image":"evil"}]}}`,
		`{"metadata":{"uid":"pod-1","labels":{"game.kruise.io/gs-state":"Crash"}}}`
	cases := map[string]struct {
		against     string
		wantPatches []string
		wantStatus  *gamev1alpha1.GameServerStatus
		wantEvents  int
		wantTrouble bool
	}{
		"nothing is refused":                      {against: "nothing", wantPatches: []string{all}, wantStatus: patched, wantEvents: 1},
		"an image is refused":                     {against: "evil", wantPatches: []string{rest}, wantStatus: patched, wantEvents: 1, wantTrouble: true},
		"a gs-sync key is refused":                {against: "gs-sync/match", wantPatches: []string{rest}, wantStatus: patched, wantEvents: 1, wantTrouble: true},
		"every change is refused, status goes on": {against: "uid", wantStatus: unpatched, wantTrouble: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &strictClient{against: tc.against}
			p := plan{
				pod:    podChanges{Changes: gamepod.Changes{Labels: state, Annotations: synced}, images: map[string]string{"A": "evil"}},
				status: patched, statusUnpatched: unpatched, podEvents: []event{{}},
			}
			gone, err := (&Reconciler{client: c}).bringToPod(t.Context(), aPod(), &p)
			if gone || err != nil {
				t.Fatalf("gone %t, error %v", gone, err)
			}
			if diff := cmp.Diff(tc.wantPatches, c.patches); diff != "" {
				t.Errorf("patches (-want +got):\n%s", diff)
			}
			trouble := len(p.troubles) == 1 && p.recheckAfter == recheckRefused
			if p.status != tc.wantStatus || len(p.podEvents) != tc.wantEvents || trouble != tc.wantTrouble {
				t.Errorf("status %v, events %v, troubles %v, again after %s", p.status, p.podEvents, p.troubles, p.recheckAfter)
			}
		})
	}
}

func TestStatusWithoutThePodsChangesSaysWhatIsOnThePod(t *testing.T) {
	t.Parallel()
	s := settled(t)
	s.gameServer.Spec.UpdatePriority = ptr.To(intstr.FromInt32(7))
	s.pod.Status.Conditions = append(s.pod.Status.Conditions, corev1.PodCondition{Type: "somebody", LastTransitionTime: metav1.NewTime(noon())})
	p := mustDecide(t, s)
	if p.status == nil || p.statusUnpatched == nil {
		t.Fatalf("status %v, unpatched %v", p.status, p.statusUnpatched)
	}
	if with, without := p.status.UpdatePriority.String(), p.statusUnpatched.UpdatePriority.String(); with != "7" || without != "0" {
		t.Errorf("update priority with the changes %s, without %s; want 7 and 0", with, without)
	}
}
