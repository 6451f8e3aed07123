// SPDX-License-Identifier: Apache-2.0

package indexoffset

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
)

// cycle is what the plugin keeps for the scheduling of one pod. It does not change once made.
type cycle struct {
	subject
	state   fwk.CycleState // whose state this is
	now     int64          // nanoseconds
	neutral bool           // nothing to score
	// places holds what lies around the pod's index in each place that spans several nodes, by the value of the
	// topology label; nil if places are nodes.
	places map[string]around
}

// Clone implements fwk.StateData.
func (c *cycle) Clone() fwk.StateData { return c }

// cycleOf returns the state that PreScore left, or makes it if PreScore is not enabled.
func (p *Plugin) cycleOf(ctx context.Context, state fwk.CycleState, pod *corev1.Pod) (*cycle, error) {
	if c := p.latest.Load(); c != nil && c.state == state {
		return c, nil
	}
	if c, ok, err := p.read(state); ok || err != nil {
		return c, err
	}
	// Nodes are scored in parallel: one goroutine does the work and tells the user, the others wait for it.
	p.starting.Lock()
	defer p.starting.Unlock()
	if c, ok, err := p.read(state); ok || err != nil {
		return c, err
	}
	c, err := p.start(ctx, pod)
	if err != nil {
		return nil, err
	}
	p.keep(state, c)
	return c, nil
}

// keep stores the state of a cycle, and remembers it as the latest one: looking that up costs less than reading from the
// cycle state, which is done for every node.
func (p *Plugin) keep(state fwk.CycleState, c *cycle) {
	c.state = state
	state.Write(p.stateKey, c)
	p.latest.Store(c)
}

// read returns the state of the cycle; false if there is none yet.
func (p *Plugin) read(state fwk.CycleState) (*cycle, bool, error) {
	data, err := state.Read(p.stateKey)
	switch {
	case errors.Is(err, fwk.ErrNotFound):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("reading cycle state %s: %w", p.stateKey, err)
	}
	c, ok := data.(*cycle)
	if !ok {
		return nil, false, fmt.Errorf("cycle state %s holds a %T", p.stateKey, data)
	}
	return c, true, nil
}

// start makes the state of a cycle. Whatever is wrong with the pod leaves it neutral: a score must not keep a pod from
// being scheduled.
func (p *Plugin) start(ctx context.Context, pod *corev1.Pod) (*cycle, error) {
	s, ok, err := identify(pod)
	if err != nil {
		p.tellBadSelector(pod, err)
	}
	if !ok {
		klog.FromContext(ctx).V(5).Info("Pod has no peers or no index, all nodes score alike", "pod", klog.KObj(pod))
		return &cycle{neutral: true}, nil
	}
	if err := p.index.tidy(); err != nil {
		return nil, err
	}
	c := &cycle{subject: s, now: p.clock.Now().UnixNano()}
	if p.args.TopologyKey == corev1.LabelHostname {
		return c, nil
	}
	c.places, err = p.collect(c)
	return c, err
}

// collect goes over all nodes, not only the feasible ones: any of them can hold a peer of a place.
func (p *Plugin) collect(c *cycle) (map[string]around, error) {
	infos, err := p.handle.SnapshotSharedLister().NodeInfos().List()
	if err != nil {
		return nil, fmt.Errorf("listing the nodes of the snapshot: %w", err)
	}
	places := map[string]around{}
	for _, info := range infos {
		r, err := p.index.at(info, c.now)
		if err != nil {
			return nil, err
		}
		if !r.placed {
			continue
		}
		here := c.around(r)
		if sum, ok := places[r.place]; ok {
			here = around{recent: here.recent.merge(sum.recent), established: here.established.merge(sum.established)}
		}
		places[r.place] = here
	}
	return places, nil
}

// around looks up the pod's neighbours on one node.
func (c *cycle) around(r *reading) around {
	found := r.peersOf(&c.subject, c.now)
	return around{
		recent:      findNeighbours(found.recent, c.ordinal),
		established: findNeighbours(found.established, c.ordinal),
	}
}
