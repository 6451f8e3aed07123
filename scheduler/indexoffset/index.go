// SPDX-License-Identifier: Apache-2.0

package indexoffset

import (
	"fmt"
	"sync"
	"sync/atomic"

	fwk "k8s.io/kube-scheduler/framework"
)

// index remembers what it has read of each node, so that a pod of a large set is scored without walking its peers. It is
// derived from the scheduler's snapshot alone, which has pods that are chosen but not bound yet. The scheduler gives
// every change of any node a number of its own, the generation, so a reading holds good for as long as that stays: only
// nodes that changed since they were last looked at are read again, usually the one that got the previous pod.
// Safe for concurrent use; looking up takes no lock.
type index struct {
	reader   reader
	snapshot func() fwk.NodeInfoLister // the nodes that the scheduler knows now

	// latest finds a reading by its generation, which is all that is needed as long as nothing changes, and the fastest
	// way there is. Readings whose generations fall into one slot replace one another; nodes then has them still.
	latest [1 << 14]atomic.Pointer[reading]
	nodes  atomic.Pointer[map[string]*node]
	mu     sync.Mutex // held while nodes is replaced
}

// node holds the last reading of one node.
type node struct {
	last atomic.Pointer[reading]
}

func newIndex(r reader, snapshot func() fwk.NodeInfoLister) *index {
	x := &index{reader: r, snapshot: snapshot}
	x.nodes.Store(&map[string]*node{})
	return x
}

// at returns what is on a node of the snapshot. now is the time in nanoseconds.
func (x *index) at(info fwk.NodeInfo, now int64) (*reading, error) {
	generation := info.GetGeneration()
	slot := &x.latest[uint64(generation)%uint64(len(x.latest))]
	if r := slot.Load(); r.holds(generation, now) {
		return r, nil
	}
	n, err := x.node(info.Node().Name)
	if err != nil {
		return nil, err
	}
	r := n.last.Load()
	if !r.holds(generation, now) {
		r = x.reader.read(info, r, now)
		n.last.Store(r)
	}
	slot.Store(r)
	return r, nil
}

// node returns the memory of a node.
func (x *index) node(name string) (*node, error) {
	if n, ok := (*x.nodes.Load())[name]; ok {
		return n, nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if n, ok := (*x.nodes.Load())[name]; ok {
		return n, nil // somebody was faster
	}
	infos, err := x.list()
	if err != nil {
		return nil, err
	}
	if n, ok := x.follow(infos)[name]; ok {
		return n, nil
	}
	return &node{}, nil // asked about by somebody who only simulates: nothing to remember
}

// tidy forgets nodes that are gone, if there are fewer nodes than before.
func (x *index) tidy() error {
	infos, err := x.list()
	if err != nil {
		return err
	}
	if len(infos) < len(*x.nodes.Load()) {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.follow(infos)
		for i := range x.latest {
			x.latest[i].Store(nil)
		}
	}
	return nil
}

func (x *index) list() ([]fwk.NodeInfo, error) {
	infos, err := x.snapshot().List()
	if err != nil {
		return nil, fmt.Errorf("listing the nodes of the snapshot: %w", err)
	}
	return infos, nil
}

// follow makes room for all nodes the scheduler knows, and forgets all others. x.mu must be held.
func (x *index) follow(infos []fwk.NodeInfo) map[string]*node {
	old, next := *x.nodes.Load(), make(map[string]*node, len(infos))
	for _, info := range infos {
		name := info.Node().Name
		if next[name] = old[name]; next[name] == nil {
			next[name] = &node{}
		}
	}
	x.nodes.Store(&next)
	return next
}
