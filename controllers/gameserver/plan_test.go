// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

func defaults() timing { return timing{networkWait: time.Minute, startGrace: time.Minute} }

func mustDecide(t *testing.T, s seen) plan {
	t.Helper()
	p, err := decide(s, defaults())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// wantNoWrites fails when the plan would write anything.
func wantNoWrites(t *testing.T, s seen, p plan) {
	t.Helper()
	if diff := cmp.Diff(withoutStatus(s.gameServer), withoutStatus(p.gameServer)); diff != "" {
		t.Errorf("the GameServer would be written (-stored +wanted):\n%s", diff)
	}
	if !p.pod.empty() {
		t.Errorf("the pod would be written: %+v", p.pod)
	}
	if p.status != nil {
		t.Errorf("the status would be written (-stored +wanted):\n%s", cmp.Diff(s.gameServer.Status, *p.status))
	}
	if n := len(p.gameServerEvents) + len(p.podEvents) + len(p.statusEvents); n > 0 {
		t.Errorf("%d events would be sent", n)
	}
}

func TestARestingServerIsNotWritten(t *testing.T) {
	t.Parallel()
	probedAgain := func(s *seen) {
		s.pod = s.pod.DeepCopy()
		for i := range s.pod.Status.Conditions {
			s.pod.Status.Conditions[i].LastProbeTime = stamp(s.now)
		}
	}
	cases := map[string]struct {
		given func(*seen)
		then  func(*seen)
	}{
		"a plain server": {},
		"much later":     {then: func(s *seen) { s.now = s.now.Add(time.Hour) }},
		"with a network": {given: func(s *seen) { s.pod = aPod(networked(readyReport)) }},
		"with a late network, G-2": {
			given: func(s *seen) { s.pod = aPod(networked("")) },
			then:  func(s *seen) { s.now = s.now.Add(time.Hour) },
		},
		"with a sick node": {given: func(s *seen) { s.node = nil }},
		"probes that find the same": {
			given: func(s *seen) {
				s.set = aSet(withQualities(healthy(false)))
				s.pod = aPod(probe("healthy", "True", ""))
			},
			then: func(s *seen) { s.now = s.now.Add(time.Minute); probedAgain(s) },
		},
		"a cleared quality list, G-1": {given: func(s *seen) { s.set = aSet(withQualities()) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := settled(t, func(s *seen) {
				if tc.given != nil {
					tc.given(s)
				}
			})
			if tc.then != nil {
				tc.then(&s)
			}
			wantNoWrites(t, s, mustDecide(t, s))
		})
	}
}

func TestG1WhatIsGoneLeavesTheStatus(t *testing.T) {
	t.Parallel()
	s := settled(t, func(s *seen) {
		s.set = aSet(withQualities(healthy(true)))
		s.pod = aPod(networked(readyReport), probe("healthy", "True", ""))
	})
	s.set, s.pod = aSet(), aPod()
	p := mustDecide(t, s)
	if p.status == nil || len(p.status.ServiceQualitiesCondition) != 0 || p.status.NetworkStatus.NetworkType != "" {
		t.Errorf("status %+v", p.status)
	}
	if now := stamp(noon()); p.status != nil && !p.status.LastTransitionTime.Equal(&now) {
		t.Errorf("lastTransitionTime %v", p.status.LastTransitionTime)
	}
}

func TestQualityReachesPodAndStatusInOnePass(t *testing.T) {
	t.Parallel()
	s := settled(t, func(s *seen) { s.set = aSet(withQualities(healthy(true))) })
	s.pod = aPod(probe("healthy", "True", ""))
	p := mustDecide(t, s)
	if p.gameServer.Spec.UpdatePriority.IntValue() != 20 {
		t.Errorf("spec %+v", p.gameServer.Spec)
	}
	if got := p.pod.Labels[gamev1alpha1.GameServerUpdatePriorityKey]; got == nil || *got != "20" {
		t.Errorf("pod labels %v", p.pod.Labels)
	}
	if p.status == nil || p.status.UpdatePriority.String() != "20" || p.status.ServiceQualitiesCondition[0].Status != "True" {
		t.Errorf("status %+v", p.status)
	}
}

func TestServerOfASetThatIsGoneKeepsWhatItHas(t *testing.T) {
	t.Parallel()
	s := settled(t, func(s *seen) {
		s.set = aSet(withQualities(healthy(true)), keepsGameServers)
		s.pod = aPod(probe("healthy", "True", ""))
	})
	s.set = nil
	wantNoWrites(t, s, mustDecide(t, s))
}

func TestServerThatOutlivedItsPod(t *testing.T) {
	t.Parallel()
	s := settled(t, func(s *seen) {
		s.set = aSet(keepsGameServers)
		s.pod = aPod(networked(readyReport))
	})
	s.gameServer.Spec.OpsState = gamev1alpha1.Maintaining
	s.pod, s.node, s.set = nil, nil, nil

	p := mustDecide(t, s)
	if p.fate != await || p.gameServer.Spec.OpsState != gamev1alpha1.Maintaining {
		t.Fatalf("fate %s, spec %+v", p.fate, p.gameServer.Spec)
	}
	if _, ok := p.gameServer.Labels[gamev1alpha1.GameServerNodeNameKey]; ok {
		t.Error("F01: the node of the former pod is still named")
	}
	want := gamev1alpha1.GameServerStatus{
		DesiredState: gamev1alpha1.Ready, CurrentState: gamev1alpha1.Creating,
		UpdatePriority: ptr.To(intstr.FromString("0")), DeletionPriority: ptr.To(intstr.FromString("0")),
		NetworkStatus: gamev1alpha1.NetworkStatus{
			NetworkType: "Some-Network", DesiredNetworkState: "Ready", CurrentNetworkState: "NotReady",
			CreateTime: stamp(noon()), LastTransitionTime: stamp(noon()),
		},
		LastTransitionTime: stamp(noon()),
	}
	if diff := cmp.Diff(&want, p.status); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	s.gameServer = p.gameServer
	s.gameServer.Status = *p.status
	wantNoWrites(t, s, mustDecide(t, s))

	s.pod, s.set = aPod(isNew, networked(""), func(p *corev1.Pod) { p.CreationTimestamp = stamp(noon().Add(time.Minute)) }), aSet(keepsGameServers)
	s.now = noon().Add(time.Minute)
	next := mustDecide(t, s)
	if got := next.pod.label(s.pod, gamev1alpha1.GameServerOpsStateKey); got != "Maintaining" {
		t.Errorf("B05: the next pod has opsState %s", got)
	}
}

func TestG15LateNetworkIsTroubleOncePerTransition(t *testing.T) {
	t.Parallel()
	s := settled(t, func(s *seen) { s.pod = aPod(networked("")) })
	if p := mustDecide(t, s); len(p.troubles) != 0 || p.recheckAfter != time.Minute {
		t.Errorf("in time: troubles %v, again after %s", p.troubles, p.recheckAfter)
	}
	told := newLasting()
	name := podName(s)
	var all []event
	for _, waited := range []time.Duration{61 * time.Second, 62 * time.Second, time.Hour} {
		s.now = noon().Add(waited)
		p := mustDecide(t, s)
		all = append(all, told.unsaid(name, p.troubles)...)
		if p.recheckAfter != 0 {
			t.Errorf("after the wait, again after %s", p.recheckAfter)
		}
	}
	if len(all) != 1 || all[0].reason != reasonNetworkState || all[0].eventType != corev1.EventTypeWarning ||
		!strings.Contains(all[0].note, "waited 1m1s, at most 1m0s") {
		t.Errorf("events %+v", all)
	}
	s.gameServer.Status.NetworkStatus.LastTransitionTime = metav1.NewTime(noon().Add(time.Minute))
	if again := told.unsaid(name, mustDecide(t, s).troubles); len(again) != 1 {
		t.Errorf("after another transition: %v", again)
	}
}

func TestA4BadFieldIsToldOnceForAsLongAsItLasts(t *testing.T) {
	t.Parallel()
	s := settled(t)
	s.gameServer.Spec.UpdatePriority = ptr.To(intstr.FromString("high"))
	told, name := newLasting(), podName(s)
	pass := func() int { return len(told.unsaid(name, mustDecide(t, s).troubles)) }
	if first, second := pass(), pass(); first != 1 || second != 0 {
		t.Errorf("told %d times, then %d", first, second)
	}
	s.gameServer.Spec.UpdatePriority = ptr.To(intstr.FromString("higher"))
	if changed := pass(); changed != 1 {
		t.Errorf("another bad value was told %d times", changed)
	}
	s.gameServer.Spec.UpdatePriority = number(0)
	if good := pass(); good != 0 || len(told.told) != 0 {
		t.Errorf("told %d, remembered %v", good, told.told)
	}
}

func TestG5VolumesAreLookedAtAgainWhileSomethingIsWrong(t *testing.T) {
	t.Parallel()
	s := settled(t, func(s *seen) { s.claims = []claim{{name: "save-arena-0"}} })
	if p := mustDecide(t, s); p.recheckAfter != 30*time.Second {
		t.Errorf("again after %s", p.recheckAfter)
	}
	if p := mustDecide(t, settled(t)); p.recheckAfter != 0 {
		t.Errorf("without a finding again after %s", p.recheckAfter)
	}
}
