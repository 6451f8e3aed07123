// SPDX-License-Identifier: Apache-2.0

// Package testcluster drives the real scheduler over a cluster that exists in memory only. One pod is placed at a time,
// by the scheduler's own scheduling cycle with every plugin of a profile; chosen pods stay assumed, as they are between
// the choice and the answer to the binding. Nothing is written anywhere.
package testcluster

import (
	"context"
	"fmt"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/profile"
)

// Cluster is a scheduler with its cache. Use it from one goroutine.
type Cluster struct {
	// Scheduler is the scheduler that places the pods.
	Scheduler *scheduler.Scheduler
	// Snapshot is what the plugins see; Refresh brings it up to date.
	Snapshot *internalcache.Snapshot
	// Events receives what the scheduler's plugins tell users.
	Events *events.FakeRecorder

	logger klog.Logger
	pods   map[string]*corev1.Pod // by namespace/name
	nodes  map[string]*corev1.Node
}

// Load reads a KubeSchedulerConfiguration as the command does.
func Load(tb testing.TB, data []byte) *config.KubeSchedulerConfiguration {
	tb.Helper()
	obj, _, err := scheme.Codecs.UniversalDecoder().Decode(data, nil, nil)
	if err != nil {
		tb.Fatalf("Decoding the configuration: %v", err)
	}
	cfg, ok := obj.(*config.KubeSchedulerConfiguration)
	if !ok {
		tb.Fatalf("The configuration is a %T", obj)
	}
	return cfg
}

// New starts a scheduler with the stock plugins and ours on an empty cluster.
func New(tb testing.TB, cfg *config.KubeSchedulerConfiguration, plugins runtime.Registry) *Cluster {
	tb.Helper()
	c, err := Start(tb, cfg, plugins)
	if err != nil {
		tb.Fatalf("Starting the scheduler: %v", err)
	}
	return c
}

// Start is New for configurations that may be refused.
func Start(tb testing.TB, cfg *config.KubeSchedulerConfiguration, plugins runtime.Registry) (*Cluster, error) {
	tb.Helper()
	c := &Cluster{
		Snapshot: internalcache.NewEmptySnapshot(),
		Events:   events.NewFakeRecorder(1000),
		logger:   logr.Discard(),
		pods:     map[string]*corev1.Pod{},
		nodes:    map[string]*corev1.Node{},
	}
	ctx := c.context(tb)
	client := fake.NewClientset()
	factory := informers.NewSharedInformerFactory(client, 0)
	recorder := profile.RecorderFactory(func(string) events.EventRecorderLogger { return c.Events })
	var err error
	c.Scheduler, err = scheduler.New(ctx, client, factory, nil, recorder,
		scheduler.WithProfiles(cfg.Profiles...),
		scheduler.WithFrameworkOutOfTreeRegistry(plugins),
		scheduler.WithNodeInfoSnapshot(c.Snapshot),
		scheduler.WithPercentageOfNodesToScore(cfg.PercentageOfNodesToScore),
		scheduler.WithParallelism(cfg.Parallelism))
	if err != nil {
		return nil, err
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	return c, nil
}

// Framework returns the plugins of a profile.
func (c *Cluster) Framework(tb testing.TB, profileName string) framework.Framework {
	tb.Helper()
	f, ok := c.Scheduler.Profiles[profileName]
	if !ok {
		tb.Fatalf("There is no profile %q", profileName)
	}
	return f
}

// AddNodes makes nodes known to the scheduler.
func (c *Cluster) AddNodes(nodes ...*corev1.Node) {
	for _, node := range nodes {
		c.nodes[node.Name] = node
		c.Scheduler.Cache.AddNode(c.logger, node)
	}
}

// AddPods puts pods where their spec.nodeName says.
func (c *Cluster) AddPods(tb testing.TB, pods ...*corev1.Pod) {
	tb.Helper()
	for _, pod := range pods {
		if err := c.Scheduler.Cache.AddPod(c.logger, pod); err != nil {
			tb.Fatalf("Adding pod %s: %v", pod.Name, err)
		}
		c.pods[key(pod)] = pod
	}
}

// Place runs one scheduling cycle for the pod and returns the node it is assumed on.
func (c *Cluster) Place(tb testing.TB, pod *corev1.Pod) string {
	tb.Helper()
	result, err := c.Try(tb, pod)
	if err != nil {
		tb.Fatalf("Scheduling pod %s: %v", pod.Name, err)
	}
	c.Assume(tb, pod, result.SuggestedHost)
	return result.SuggestedHost
}

// Try runs one scheduling cycle for the pod, without any consequence, and returns the node that is chosen.
func (c *Cluster) Try(tb testing.TB, pod *corev1.Pod) (scheduler.ScheduleResult, error) {
	tb.Helper()
	c.Refresh(tb)
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		return scheduler.ScheduleResult{}, fmt.Errorf("reading pod: %w", err)
	}
	f := c.Framework(tb, pod.Spec.SchedulerName)
	return c.Scheduler.SchedulePod(c.context(tb), f, framework.NewCycleState(), &framework.QueuedPodInfo{PodInfo: info})
}

// Assume has the scheduler count the pod on a node.
func (c *Cluster) Assume(tb testing.TB, pod *corev1.Pod, node string) {
	tb.Helper()
	placed := pod.DeepCopy()
	placed.Spec.NodeName = node
	if err := c.Scheduler.Cache.AssumePod(c.logger, placed); err != nil {
		tb.Fatalf("Assuming pod %s: %v", pod.Name, err)
	}
	c.pods[key(pod)] = placed
}

// Remove takes pods off their nodes.
func (c *Cluster) Remove(tb testing.TB, pods ...*corev1.Pod) {
	tb.Helper()
	for _, pod := range pods {
		placed := c.pods[key(pod)]
		assumed, err := c.Scheduler.Cache.IsAssumedPod(placed)
		if err == nil && assumed {
			err = c.Scheduler.Cache.ForgetPod(c.logger, placed)
		} else if err == nil {
			err = c.Scheduler.Cache.RemovePod(c.logger, placed)
		}
		if err != nil {
			tb.Fatalf("Removing pod %s: %v", pod.Name, err)
		}
		delete(c.pods, key(pod))
	}
}

// Clear removes all pods and nodes.
func (c *Cluster) Clear(tb testing.TB) {
	tb.Helper()
	for _, pod := range c.pods {
		c.Remove(tb, pod)
	}
	for name, node := range c.nodes {
		if err := c.Scheduler.Cache.RemoveNode(c.logger, node); err != nil {
			tb.Fatalf("Removing node %s: %v", name, err)
		}
		delete(c.nodes, name)
	}
}

// Refresh brings the snapshot up to date, as the scheduler does before each pod.
func (c *Cluster) Refresh(tb testing.TB) []fwk.NodeInfo {
	tb.Helper()
	if err := c.Scheduler.Cache.UpdateSnapshot(c.logger, c.Snapshot); err != nil {
		tb.Fatalf("Updating the snapshot: %v", err)
	}
	infos, err := c.Snapshot.NodeInfos().List()
	if err != nil {
		tb.Fatalf("Listing the snapshot: %v", err)
	}
	return infos
}

// Scores returns the final score that one plugin gives each node for the pod; nil if it has asked to be skipped.
func (c *Cluster) Scores(tb testing.TB, pod *corev1.Pod, plugin string) map[string]int64 {
	tb.Helper()
	infos := c.Refresh(tb)
	f, state := c.Framework(tb, pod.Spec.SchedulerName), framework.NewCycleState()
	ctx := c.context(tb)
	if _, status, _ := f.RunPreFilterPlugins(ctx, state, pod); !status.IsSuccess() {
		tb.Fatalf("PreFilter of pod %s: %v", pod.Name, status)
	}
	if status := f.RunPreScorePlugins(ctx, state, pod, infos); !status.IsSuccess() {
		tb.Fatalf("PreScore of pod %s: %v", pod.Name, status)
	}
	all, status := f.RunScorePlugins(ctx, state, pod, infos)
	if !status.IsSuccess() {
		tb.Fatalf("Score of pod %s: %v", pod.Name, status)
	}
	weight := c.Weights(tb, pod.Spec.SchedulerName)[plugin]
	var scores map[string]int64
	for _, node := range all {
		for _, score := range node.Scores {
			if score.Name != plugin {
				continue
			}
			if scores == nil {
				scores = map[string]int64{}
			}
			scores[node.Name] = score.Score / weight
		}
	}
	return scores
}

// Weights returns the weight of each score plugin of a profile.
func (c *Cluster) Weights(tb testing.TB, profileName string) map[string]int64 {
	tb.Helper()
	weights := map[string]int64{}
	for _, plugin := range c.Framework(tb, profileName).ListPlugins().Score.Enabled {
		weights[plugin.Name] = int64(plugin.Weight)
	}
	return weights
}

func (c *Cluster) context(tb testing.TB) context.Context {
	return klog.NewContext(tb.Context(), c.logger)
}

func key(pod *corev1.Pod) string { return pod.Namespace + "/" + pod.Name }
