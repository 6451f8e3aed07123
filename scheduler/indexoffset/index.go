// SPDX-License-Identifier: Apache-2.0

package indexoffset

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	fwk "k8s.io/kube-scheduler/framework"
)

// index remembers, per node, the indexes of each group's pods, so that a pod of a large set is scored without walking
// its peers. It is derived from the scheduler's snapshot alone, which has pods that are chosen but not bound yet, and
// holds good for as long as the node's generation stays: the scheduler numbers every change of a node anew, across all
// nodes. So only nodes that changed since they were last looked at are read again, usually the one that got the
// previous pod. Safe for concurrent use; reading takes no lock.
type index struct {
	keepTerminating bool
	window          time.Duration // 0: all peers count as recent

	nodes atomic.Pointer[map[string]*node]
	mu    sync.Mutex // held while nodes is replaced
}

// node holds what is known of one node.
type node struct {
	peers atomic.Pointer[nodePeers]
}

// nodePeers are the peers on a node at one generation. It is immutable but for the memory of the last selector.
type nodePeers struct {
	generation int64
	expires    time.Time // when a recent peer turns into an established one; zero: never
	groups     map[group]*peers
	selected   atomic.Pointer[selection]
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

func newIndex(keepTerminating bool, window time.Duration) *index {
	x := &index{keepTerminating: keepTerminating, window: window}
	x.nodes.Store(&map[string]*node{})
	return x
}

// on returns the peers of s on a node, as of now.
func (x *index) on(s *subject, info fwk.NodeInfo, lister fwk.NodeInfoLister, now time.Time) (peers, error) {
	n, ok := (*x.nodes.Load())[info.Node().Name]
	if !ok {
		var err error
		if n, err = x.add(info.Node().Name, lister); err != nil {
			return peers{}, err
		}
	}
	p := n.peers.Load()
	if p == nil || p.generation != info.GetGeneration() || !(p.expires.IsZero() || now.Before(p.expires)) {
		p = x.read(info, now)
		n.peers.Store(p)
	}
	if s.selector == nil {
		if found := p.groups[s.group]; found != nil {
			return *found, nil
		}
		return peers{}, nil
	}
	sel := p.selected.Load()
	if sel == nil || sel.key != s.key || sel.namespace != s.namespace {
		sel = x.selectFrom(info, s, now)
		p.selected.Store(sel)
	}
	return sel.peers, nil
}

// add makes room for a node, for all others the scheduler knows, and forgets those it does not know any more.
func (x *index) add(name string, lister fwk.NodeInfoLister) (*node, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	old := *x.nodes.Load()
	if n, ok := old[name]; ok {
		return n, nil // somebody was faster
	}
	infos, err := lister.List()
	if err != nil {
		return nil, fmt.Errorf("listing the nodes of the snapshot: %w", err)
	}
	next := make(map[string]*node, len(infos)+1)
	next[name] = &node{}
	for _, info := range infos {
		known := info.Node().Name
		if n, ok := old[known]; ok {
			next[known] = n
		} else if known != name {
			next[known] = &node{}
		}
	}
	x.nodes.Store(&next)
	return next[name], nil
}

// read collects the peers of all groups on a node.
func (x *index) read(info fwk.NodeInfo, now time.Time) *nodePeers {
	p := &nodePeers{generation: info.GetGeneration(), groups: map[group]*peers{}}
	for _, podInfo := range info.GetPods() {
		pod := podInfo.GetPod()
		ordinal, ok := x.counts(pod)
		if !ok {
			continue
		}
		// A pod without a group counts here too: a selector may ask for it.
		recent, until := x.recent(pod, now)
		if recent && x.window > 0 && (p.expires.IsZero() || until.Before(p.expires)) {
			p.expires = until
		}
		g, ok := groupOf(pod)
		if !ok {
			continue
		}
		if p.groups[g] == nil {
			p.groups[g] = &peers{}
		}
		p.groups[g].add(ordinal, recent)
	}
	for g := range maps.Values(p.groups) {
		g.sort()
	}
	return p
}

// selectFrom collects the peers of a pod that brings a selector.
func (x *index) selectFrom(info fwk.NodeInfo, s *subject, now time.Time) *selection {
	sel := &selection{namespace: s.namespace, key: s.key}
	for _, podInfo := range info.GetPods() {
		pod := podInfo.GetPod()
		if pod.Namespace != s.namespace || !s.selector.Matches(labels.Set(pod.Labels)) {
			continue
		}
		if ordinal, ok := x.counts(pod); ok {
			recent, _ := x.recent(pod, now)
			sel.peers.add(ordinal, recent)
		}
	}
	sel.peers.sort()
	return sel
}

// counts returns the index of a pod that counts as a peer. A finished one does not, an ending one only on request.
func (x *index) counts(pod *corev1.Pod) (int32, bool) {
	switch {
	case pod.Status.Phase == corev1.PodSucceeded, pod.Status.Phase == corev1.PodFailed:
		return 0, false
	case pod.DeletionTimestamp != nil && !x.keepTerminating:
		return 0, false
	}
	return ordinalOf(pod)
}

// recent reports whether the pod counts as new, and until when.
func (x *index) recent(pod *corev1.Pod, now time.Time) (bool, time.Time) {
	until := pod.CreationTimestamp.Add(x.window)
	return x.window == 0 || now.Before(until), until
}

func (p *peers) add(ordinal int32, recent bool) {
	if recent {
		p.recent = append(p.recent, ordinal)
		return
	}
	p.established = append(p.established, ordinal)
}

func (p *peers) sort() {
	slices.Sort(p.recent)
	slices.Sort(p.established)
}
