// SPDX-License-Identifier: Apache-2.0

package indexoffset

import (
	"math"
	"slices"
	"sync/atomic"
	"time"
	"unique"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	fwk "k8s.io/kube-scheduler/framework"
)

// forever is a point in time, in nanoseconds, that never comes.
const forever int64 = math.MaxInt64

// reader reads nodes.
type reader struct {
	keepTerminating bool
	window          time.Duration // 0: all peers count as recent
	topologyKey     string
}

// reading is what a node holds at one generation. It is immutable but for the memory of the last selector.
type reading struct {
	generation int64
	expires    int64        // when a recent peer turns into an established one
	groups     []groupPeers // a handful, so that a walk beats a map
	placed     bool         // has the topology label
	place      string       // its value
	pods       []seenPod    // in the order of the node's pods, those that do not count included
	selected   atomic.Pointer[selection]
}

// seenPod is what matters of a pod. It is not read again while the scheduler keeps the same record of it: a pod that
// changes gets a new one.
type seenPod struct {
	record  fwk.PodInfo
	group   unique.Handle[group]
	until   int64 // when it stops being recent
	ordinal int32
	counts  bool // is a peer of somebody
	grouped bool // has a group; without one, only a selector can ask for it
}

// groupPeers are the pods of one group on a node.
type groupPeers struct {
	group unique.Handle[group]
	peers
}

// selection remembers the answer for one selector. One is enough: a set asks with the same one for each of its pods.
type selection struct {
	namespace, key string
	peers          peers
}

// peers are the indexes of one group's pods on a node, ascending. Established ones are older than the window.
type peers struct {
	recent, established []int32
}

// holds reports whether the reading is still right for a node that has this generation now.
func (r *reading) holds(generation, now int64) bool {
	return r != nil && r.generation == generation && now < r.expires
}

// read collects the peers of all groups on a node. last is the former reading of it, nil if there is none.
func (rd reader) read(info fwk.NodeInfo, last *reading, now int64) *reading {
	records := info.GetPods()
	r := &reading{generation: info.GetGeneration(), expires: forever, pods: make([]seenPod, len(records))}
	r.place, r.placed = info.Node().Labels[rd.topologyKey]
	for i, record := range records {
		if last != nil && i < len(last.pods) && last.pods[i].record == record {
			r.pods[i] = last.pods[i]
		} else {
			r.pods[i] = rd.see(record)
		}
		r.add(&r.pods[i], now)
	}
	for i := range r.groups {
		r.groups[i].sort()
	}
	return r
}

// see reads a pod. A finished one does not count as a peer, an ending one only on request.
func (rd reader) see(record fwk.PodInfo) seenPod {
	pod, seen := record.GetPod(), seenPod{record: record, until: forever}
	switch {
	case pod.Status.Phase == corev1.PodSucceeded, pod.Status.Phase == corev1.PodFailed:
		return seen
	case pod.DeletionTimestamp != nil && !rd.keepTerminating:
		return seen
	}
	if seen.ordinal, seen.counts = ordinalOf(pod); !seen.counts {
		return seen
	}
	seen.group, seen.grouped = groupOf(pod)
	if rd.window > 0 {
		seen.until = pod.CreationTimestamp.Add(rd.window).UnixNano()
	}
	return seen
}

// add counts a pod.
func (r *reading) add(pod *seenPod, now int64) {
	if !pod.counts {
		return
	}
	if now < pod.until {
		r.expires = min(r.expires, pod.until)
	}
	if !pod.grouped {
		return
	}
	i := r.find(pod.group)
	if i < 0 {
		i = len(r.groups)
		r.groups = append(r.groups, groupPeers{group: pod.group})
	}
	r.groups[i].add(pod, now)
}

// find returns where the group is in r.groups, negative if nowhere.
func (r *reading) find(g unique.Handle[group]) int {
	for i := range r.groups {
		if r.groups[i].group == g {
			return i
		}
	}
	return -1
}

// peersOf returns the peers of s on the node.
func (r *reading) peersOf(s *subject, now int64) peers {
	if s.selector == nil {
		if i := r.find(s.group); i >= 0 {
			return r.groups[i].peers
		}
		return peers{}
	}
	sel := r.selected.Load()
	if sel == nil || sel.key != s.key || sel.namespace != s.namespace {
		sel = r.selectPeers(s, now)
		r.selected.Store(sel)
	}
	return sel.peers
}

// selectPeers collects the peers of a pod that brings a selector.
func (r *reading) selectPeers(s *subject, now int64) *selection {
	sel := &selection{namespace: s.namespace, key: s.key}
	for i := range r.pods {
		if !r.pods[i].counts {
			continue
		}
		if pod := r.pods[i].record.GetPod(); pod.Namespace == s.namespace && s.selector.Matches(labels.Set(pod.Labels)) {
			sel.peers.add(&r.pods[i], now)
		}
	}
	sel.peers.sort()
	return sel
}

func (p *peers) add(pod *seenPod, now int64) {
	if now < pod.until {
		p.recent = append(p.recent, pod.ordinal)
		return
	}
	p.established = append(p.established, pod.ordinal)
}

func (p *peers) sort() {
	slices.Sort(p.recent)
	slices.Sort(p.established)
}
