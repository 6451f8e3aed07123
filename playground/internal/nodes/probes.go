// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"fmt"
	"strings"

	kruisev1alpha1 "github.com/openkruise/kruise-api/apps/v1alpha1"
	kruiseclient "github.com/openkruise/kruise-api/client/clientset/versioned"
	kruiseinformers "github.com/openkruise/kruise-api/client/informers/externalversions"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

const (
	probeWorkers = 4

	// indexNode indexes pods by the name of their node.
	indexNode = "node"
)

// ProbeReporter stands in for the kruise-daemon of every node: it writes the probe results that pods ask for by
// annotation into the status of the NodePodProbes, from which OpenKruise makes conditions, labels and annotations of
// the pods. It looks at every NodePodProbe whose pods or probes change and writes only when a result has changed.
type ProbeReporter struct {
	kube   kubernetes.Interface
	kruise kruiseclient.Interface
	clock  clock.PassiveClock

	pods   cache.SharedIndexInformer
	probes cache.SharedIndexInformer
	// queue holds names of nodes, which are also the names of their NodePodProbes.
	queue workqueue.TypedRateLimitingInterface[string]
}

// NewProbeReporter returns a reporter that talks to the API server of config. clock dates the results.
func NewProbeReporter(config *rest.Config, clock clock.PassiveClock) (*ProbeReporter, error) {
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("building client: %w", err)
	}
	kruise, err := kruiseclient.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("building client of OpenKruise: %w", err)
	}
	return &ProbeReporter{
		kube:   kube,
		kruise: kruise,
		clock:  clock,
		queue:  workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()),
	}, nil
}

// Run blocks until ctx ends, or returns an error when it cannot start. OpenKruise's CRDs must exist. A reporter runs
// once.
func (r *ProbeReporter) Run(ctx context.Context) error {
	defer r.queue.ShutDown()
	kubeFactory := informers.NewSharedInformerFactory(r.kube, 0)
	kruiseFactory := kruiseinformers.NewSharedInformerFactory(r.kruise, 0)
	r.pods = kubeFactory.Core().V1().Pods().Informer()
	r.probes = kruiseFactory.Apps().V1alpha1().NodePodProbes().Informer()
	if err := r.watch(); err != nil {
		return err
	}
	kubeFactory.Start(ctx.Done())
	kruiseFactory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), r.pods.HasSynced, r.probes.HasSynced) {
		return nil // ctx ended
	}
	for range probeWorkers {
		go r.work(ctx)
	}
	<-ctx.Done()
	return nil
}

// watch wires the informers to the queue.
func (r *ProbeReporter) watch() error {
	if err := r.pods.SetTransform(trimPod); err != nil {
		return fmt.Errorf("trimming pods: %w", err)
	}
	err := r.pods.AddIndexers(cache.Indexers{indexNode: func(object any) ([]string, error) {
		return []string{object.(*corev1.Pod).Spec.NodeName}, nil
	}})
	if err != nil {
		return fmt.Errorf("indexing pods: %w", err)
	}
	_, err = r.pods.AddEventHandler(handler(func(object any) {
		if pod, ok := object.(*corev1.Pod); ok && answersProbes(pod) {
			r.queue.Add(pod.Spec.NodeName)
		}
	}))
	if err != nil {
		return fmt.Errorf("watching pods: %w", err)
	}
	_, err = r.probes.AddEventHandler(handler(func(object any) {
		if probes, ok := object.(*kruisev1alpha1.NodePodProbe); ok {
			r.queue.Add(probes.Name)
		}
	}))
	if err != nil {
		return fmt.Errorf("watching NodePodProbes: %w", err)
	}
	return nil
}

// handler calls enqueue for every object that appears or changes, with the state before and after. Objects that go
// away need no answer.
func handler(enqueue func(object any)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    enqueue,
		UpdateFunc: func(before, after any) { enqueue(before); enqueue(after) },
	}
}

// trimPod keeps what a NodePodProbe's status depends on.
func trimPod(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	trimmed := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
	}}
	for key, value := range pod.Annotations {
		if strings.HasPrefix(key, AnnotationProbePrefix) {
			metav1.SetMetaDataAnnotation(&trimmed.ObjectMeta, key, value)
		}
	}
	trimmed.Spec.NodeName = pod.Spec.NodeName
	trimmed.Status.Phase = pod.Status.Phase
	return trimmed, nil
}

// answersProbes tells whether a trimmed pod has anything to report.
func answersProbes(pod *corev1.Pod) bool { return pod.Spec.NodeName != "" && len(pod.Annotations) > 0 }

func (r *ProbeReporter) work(ctx context.Context) {
	for {
		name, shutdown := r.queue.Get()
		if shutdown {
			return
		}
		if err := r.sync(ctx, name); err != nil {
			klog.FromContext(ctx).Error(err, "Probe results not reported, will retry", "node", name)
			r.queue.AddRateLimited(name)
		} else {
			r.queue.Forget(name)
		}
		r.queue.Done(name)
	}
}

// sync brings the status of one NodePodProbe up to date.
func (r *ProbeReporter) sync(ctx context.Context, name string) error {
	object, exists, err := r.probes.GetIndexer().GetByKey(name)
	if err != nil || !exists {
		return err // OpenKruise makes the NodePodProbe soon; its event brings us back
	}
	probes := object.(*kruisev1alpha1.NodePodProbe)
	onNode, err := r.pods.GetIndexer().ByIndex(indexNode, name)
	if err != nil {
		return fmt.Errorf("listing pods of the node: %w", err)
	}
	pods := make(map[types.UID]*corev1.Pod, len(onNode))
	for _, object := range onNode {
		pod := object.(*corev1.Pod)
		pods[pod.UID] = pod
	}
	next := NextProbeStatus(probes, pods, r.clock.Now())
	if apiequality.Semantic.DeepEqual(next, probes.Status) {
		return nil
	}
	changed := probes.DeepCopy()
	changed.Status = next
	_, err = r.kruise.AppsV1alpha1().NodePodProbes().UpdateStatus(ctx, changed, metav1.UpdateOptions{FieldManager: fieldManager})
	if err != nil {
		return fmt.Errorf("updating status of NodePodProbe %s: %w", name, err)
	}
	return nil
}

// ApplyProbes makes sure that the nodes of one group, which must exist, have NodePodProbes. OpenKruise makes them too,
// but some seconds later, and until then it passes over the pods on such a node for good when it looks at a
// PodProbeMarker (version 1.8.0, updateNodePodProbes). Where OpenKruise is not installed there is nothing to do.
// config should have no rate limit.
func ApplyProbes(ctx context.Context, config *rest.Config, o Options) error {
	kruise, err := kruiseclient.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("building client of OpenKruise: %w", err)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for i := range o.Count {
		group.Go(func() error {
			probes := &kruisev1alpha1.NodePodProbe{ObjectMeta: metav1.ObjectMeta{Name: plan{options: o}.name(i)}}
			_, err := kruise.AppsV1alpha1().NodePodProbes().Create(ctx, probes, metav1.CreateOptions{FieldManager: fieldManager})
			if err != nil && !apierrors.IsAlreadyExists(err) && !apierrors.IsNotFound(err) {
				return fmt.Errorf("creating NodePodProbe %s: %w", probes.Name, err)
			}
			return nil
		})
	}
	return group.Wait()
}
