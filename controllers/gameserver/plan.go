// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

// seen is all that one pass looks at. The objects may be shared with the cache; nobody changes them.
type seen struct {
	// pod, gameServer and set are nil when they do not exist.
	pod        *corev1.Pod
	gameServer *gamev1alpha1.GameServer
	set        *gamev1alpha1.GameServerSet
	// node is that of the pod, nil when it has none or when the node is not in the cluster.
	node *corev1.Node
	// claims are the volume claims of the pod.
	claims []claim
	now    time.Time
}

// timing are the durations by which a pass decides.
type timing struct {
	networkWait, startGrace time.Duration
}

// recheckVolumes is how soon a finding on claims or volumes, which nobody watches, is looked at again (fault G-5).
const recheckVolumes = 30 * time.Second

// plan is what one pass does. Nothing in it is done when fate says leave.
type plan struct {
	fate fate
	// gameServer has the wanted metadata and spec. Its status is the stored one.
	gameServer *gamev1alpha1.GameServer
	pod        podChanges
	// status is the wanted status, nil when there is nothing to write.
	status *gamev1alpha1.GameServerStatus
	// statusUnpatched is the wanted status when the pod does not take its changes.
	statusUnpatched *gamev1alpha1.GameServerStatus

	// Each list of events is sent after the write it tells of.
	gameServerEvents, podEvents, statusEvents []event
	// troubles are told once for as long as they last.
	troubles []event
	// recheckAfter is when to look again without an event; zero means never.
	recheckAfter time.Duration
}

// decide is the whole judgement of the controller: plain values in, plan out.
func decide(s seen, t timing) (plan, error) {
	p := plan{fate: fateOf(s)}
	switch p.fate {
	case create, replace:
		if later := createLater(s, t.startGrace); p.fate == create && later > 0 {
			return plan{fate: leave, recheckAfter: later}, nil
		}
		return decideWithPod(s, t, p, newGameServer(s.pod))
	case keep:
		return decideWithPod(s, t, p, s.gameServer)
	case await:
		return decideWithoutPod(s, p)
	default:
		return p, nil
	}
}

func decideWithPod(s seen, t timing, p plan, stored *gamev1alpha1.GameServer) (plan, error) {
	now := metav1.NewTime(s.now)
	// Qualities come first, so that what they set reaches the pod and the status in this pass.
	outcome := p.withGameServer(s, stored, now)
	p.pod = syncToPod(s.pod, p.gameServer, s.set, s.now)
	h := healthOf(s)
	conditions, conditionEvents := h.conditions(stored.Status.Conditions, now)
	in := statusInput{stored: stored.Status, pod: s.pod, changes: p.pod, records: outcome.records, conditions: conditions, now: now}
	wanted := syncFromPod(in)

	if held := hold(s, stored.Status, h, t.startGrace); held > 0 && !outcome.acted {
		p.recheckAfter = held
		if p.pod.onlyState() {
			p.pod = podChanges{invalid: p.pod.invalid}
		}
	} else {
		var err error
		if p.status, err = settle(stored.Status, wanted, now); err != nil {
			return plan{}, err
		}
		if p.statusUnpatched, err = settleUnpatched(in); err != nil {
			return plan{}, err
		}
		p.statusEvents = conditionEvents
	}
	p.gameServerEvents = outcome.events
	p.podEvents = changeEvents(s.pod, p.pod)
	p.watchTroubles(wanted.NetworkStatus, t.networkWait, s.now)
	if len(h.volumes) > 0 {
		p.recheckAfter = sooner(p.recheckAfter, recheckVolumes)
	}
	return p, nil
}

// withGameServer fills in the wanted metadata and spec. Without the set, which may be gone already, nothing is known about
// template, qualities and owner: they stay as they are.
func (p *plan) withGameServer(s seen, stored *gamev1alpha1.GameServer, now metav1.Time) qualityOutcome {
	p.gameServer = stored.DeepCopy()
	outcome := qualityOutcome{records: stored.Status.ServiceQualitiesCondition}
	if s.set != nil {
		mergeTemplate(p.gameServer, &s.set.Spec.GameServerTemplate)
		outcome = runQualities(s.set.Spec.ServiceQualities, s.pod, p.gameServer, now)
		setOwner(p.gameServer, s.pod, s.set)
	}
	setLabels(p.gameServer, s.pod.Labels[gamev1alpha1.GameServerOwnerGssKey], s.pod.Spec.NodeName)
	return outcome
}

func decideWithoutPod(s seen, p plan) (plan, error) {
	p.gameServer = s.gameServer.DeepCopy()
	delete(p.gameServer.Labels, gamev1alpha1.GameServerNodeNameKey)
	now := metav1.NewTime(s.now)
	var err error
	p.status, err = settle(s.gameServer.Status, statusWithoutPod(s.gameServer.Status, now), now)
	return p, err
}

// watchTroubles collects what is told once for as long as it lasts, and the time at which the network will be late.
func (p *plan) watchTroubles(network gamev1alpha1.NetworkStatus, total time.Duration, now time.Time) {
	for _, err := range p.pod.invalid {
		p.troubles = append(p.troubles, invalidFieldEvent(err))
	}
	late, d := networkWait(network, total, now)
	if late {
		p.troubles = append(p.troubles, networkLateEvent(network, d, total))
		return
	}
	p.recheckAfter = sooner(p.recheckAfter, d)
}

// sooner is the smaller of two waiting times, of which zero is none.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
