// SPDX-License-Identifier: Apache-2.0

// Package indexoffset is a score plugin for kube-scheduler that spreads the pods of one set so that the index numbers
// on each node lie as far apart as possible. Servers that open one after another are busiest when new, and neighbours
// in number are new at the same time. It only scores: which nodes a pod may use is for the other plugins to say.
package indexoffset

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/berthgames/berth/api/schedulerconfig"
	configv1 "github.com/berthgames/berth/api/schedulerconfig/v1"
	"github.com/berthgames/berth/api/schedulerconfig/validation"
)

const (
	// Name is the name of the plugin, which takes IndexOffsetArgs.
	Name = "IndexOffset"
	// SeedName is the name that OpenKruiseGame's scheduler gives the plugin. It takes no arguments.
	SeedName = "index-offset-scheduler"
)

// Plugin scores nodes by the distance between a pod's index and those of its peers there. It works wherever it is
// enabled: by multiPoint, or, as OpenKruiseGame's configuration does, under score alone, where the framework does not
// call PreScore and the first Score of a cycle does its work.
type Plugin struct {
	name     string
	stateKey fwk.StateKey
	args     schedulerconfig.IndexOffsetArgs
	handle   fwk.Handle
	clock    clock.PassiveClock
	index    *index
	latest   atomic.Pointer[cycle] // of the last cycle
	starting sync.Mutex            // held while the state of a cycle is made
}

var (
	_ fwk.PreScorePlugin  = (*Plugin)(nil)
	_ fwk.ScorePlugin     = (*Plugin)(nil)
	_ fwk.ScoreExtensions = (*Plugin)(nil)
	_ fwk.SignPlugin      = (*Plugin)(nil)
)

// New is the factory of the plugin under Name. obj holds the user's IndexOffsetArgs, or nothing.
func New(_ context.Context, obj runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	path := field.NewPath("args")
	args, err := configv1.DecodeIndexOffsetArgs(path, obj)
	if err != nil {
		return nil, err
	}
	return newPlugin(Name, args, handle, clock.RealClock{})
}

// NewSeed is the factory of the plugin under SeedName, with the defaults of IndexOffsetArgs.
func NewSeed(_ context.Context, obj runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
	if unknown, ok := obj.(*runtime.Unknown); obj != nil && (!ok || len(unknown.Raw) > 0) {
		return nil, field.Forbidden(field.NewPath("args"), fmt.Sprintf("plugin %s takes none; plugin %s does", SeedName, Name))
	}
	args, err := configv1.DecodeIndexOffsetArgs(nil, nil)
	if err != nil {
		return nil, err
	}
	return newPlugin(SeedName, args, handle, clock.RealClock{})
}

func newPlugin(name string, args *schedulerconfig.IndexOffsetArgs, handle fwk.Handle, c clock.PassiveClock) (*Plugin, error) {
	if errs := validation.ValidateIndexOffsetArgs(field.NewPath("args"), args); len(errs) > 0 {
		return nil, errs.ToAggregate()
	}
	snapshot := func() fwk.NodeInfoLister { return handle.SnapshotSharedLister().NodeInfos() }
	return &Plugin{
		name:     name,
		stateKey: fwk.StateKey(name),
		args:     *args,
		handle:   handle,
		clock:    c,
		index: newIndex(reader{
			keepTerminating: args.Distance == schedulerconfig.DistancePreceding,
			window:          ptr.Deref(args.RecentWindow, 0),
			topologyKey:     args.TopologyKey,
		}, snapshot),
	}, nil
}

// Name implements fwk.Plugin. The framework looks the weight up by it, so it is the name used in the configuration.
func (p *Plugin) Name() string { return p.name }

// PreScore finds out, once per pod, who its peers are. Without any it asks to be skipped, so that all nodes score alike.
func (p *Plugin) PreScore(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, _ []fwk.NodeInfo) *fwk.Status {
	c, err := p.start(ctx, pod)
	if err != nil {
		return fwk.AsStatus(err)
	}
	if c.neutral {
		return fwk.NewStatus(fwk.Skip)
	}
	p.keep(state, c)
	return nil
}

// Score returns the raw score of one node: the distance of the pod's index to its peers there, or noPeers.
func (p *Plugin) Score(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, info fwk.NodeInfo) (int64, *fwk.Status) {
	c, err := p.cycleOf(ctx, state, pod)
	if err != nil {
		return 0, fwk.AsStatus(err)
	}
	if c.neutral {
		return 0, nil
	}
	r, err := p.index.at(info, c.now)
	if err != nil {
		return 0, fwk.AsStatus(err)
	}
	here, ok := around{}, false
	if r.placed {
		here, ok = c.places[r.place]
	}
	if !ok { // places are nodes, or this one is in none and so a place of its own
		here = c.around(r)
	}
	return here.distance(p.args.Distance, c.ordinal), nil
}

// ScoreExtensions implements fwk.ScorePlugin.
func (p *Plugin) ScoreExtensions() fwk.ScoreExtensions { return p }

// NormalizeScore brings the raw scores of a pod's nodes to 0..100.
func (p *Plugin) NormalizeScore(_ context.Context, _ fwk.CycleState, _ *corev1.Pod, scores fwk.NodeScoreList) *fwk.Status {
	normalize(scores)
	return nil
}

// SignPod lets the scheduler reuse results between alike pods if they are none of this plugin's business. Two pods of
// one set never score alike, since their indexes differ.
func (p *Plugin) SignPod(_ context.Context, pod *corev1.Pod) ([]fwk.SignFragment, *fwk.Status) {
	_, ok, err := identify(pod)
	if ok {
		return nil, fwk.NewStatus(fwk.Unschedulable, "pods are scored by their own index")
	}
	if err != nil {
		return nil, fwk.NewStatus(fwk.Unschedulable, err.Error()) // so that PreScore runs, and tells the user
	}
	return nil, nil
}
