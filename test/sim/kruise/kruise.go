// SPDX-License-Identifier: Apache-2.0

// Package kruise stands in for the OpenKruise manager and a kubelet where a test has an API server and nothing behind it.
// It keeps the contract of core-controllers.md section 1: which pods an Advanced StatefulSet has, how condemned and
// outdated ones go, hooks, and what the status says. Its pods become ready at once, unless they ask not to.
package kruise

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	appspub "github.com/openkruise/kruise-api/apps/pub"
	kruisev1alpha1 "github.com/openkruise/kruise-api/apps/v1alpha1"
	kruisev1beta1 "github.com/openkruise/kruise-api/apps/v1beta1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/berthgames/berth/test/manifests"
)

// NeverReadyKey is a pod annotation; with any value the pod stays unready. A test puts it into the pod template.
const NeverReadyKey = "sim.berth/never-ready"

// Pace is the pause between two steps of Run.
const Pace = 25 * time.Millisecond

// Simulator is safe for concurrent use.
type Simulator struct {
	client client.Client

	mu   sync.Mutex
	held map[string]bool
}

// New returns a simulator that reads and writes with c, which should not be behind a cache.
func New(c client.Client) *Simulator {
	return &Simulator{client: c, held: map[string]bool{}}
}

// Hold stops the simulator in one namespace, as if OpenKruise were down there; Release starts it again.
func (s *Simulator) Hold(namespace string) { s.setHeld(namespace, true) }

// Release undoes Hold.
func (s *Simulator) Release(namespace string) { s.setHeld(namespace, false) }

func (s *Simulator) setHeld(namespace string, held bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[namespace] = held
}

func (s *Simulator) isHeld(namespace string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held[namespace]
}

// Run steps until ctx ends. What fails is tried again with the next step; the errors are only interesting when a test
// fails, so onError gets them.
func (s *Simulator) Run(ctx context.Context, onError func(error)) {
	ticker := time.NewTicker(Pace)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := s.Step(ctx); err != nil && ctx.Err() == nil {
			onError(err)
		}
	}
}

// Step looks once at every workload and every PodProbeMarker.
func (s *Simulator) Step(ctx context.Context) error {
	var workloads kruisev1beta1.StatefulSetList
	if err := s.client.List(ctx, &workloads); err != nil {
		return fmt.Errorf("listing workloads: %w", err)
	}
	var errs []error
	for i := range workloads.Items {
		if workload := &workloads.Items[i]; !s.isHeld(workload.Namespace) && workload.DeletionTimestamp == nil {
			errs = append(errs, ignoreRaces(s.stepWorkload(ctx, workload)))
		}
	}
	var markers kruisev1alpha1.PodProbeMarkerList
	if err := s.client.List(ctx, &markers); err != nil {
		return fmt.Errorf("listing probes: %w", err)
	}
	for i := range markers.Items {
		marker := &markers.Items[i]
		if s.isHeld(marker.Namespace) || marker.Status.ObservedGeneration == marker.Generation {
			continue
		}
		marker.Status.ObservedGeneration = marker.Generation
		errs = append(errs, ignoreRaces(s.client.Status().Update(ctx, marker)))
	}
	return errors.Join(errs...)
}

func (s *Simulator) stepWorkload(ctx context.Context, workload *kruisev1beta1.StatefulSet) error {
	pods, err := s.claim(ctx, workload)
	if err != nil {
		return err
	}
	for _, action := range Plan(workload, pods) {
		if err := s.do(ctx, workload, action); err != nil {
			return fmt.Errorf("workload %s, pod %d: %w", client.ObjectKeyFromObject(workload), action.Ordinal, err)
		}
	}
	status := Status(workload, pods)
	if equality.Semantic.DeepEqual(status, workload.Status) {
		return nil
	}
	workload.Status = status
	if err := s.client.Status().Update(ctx, workload); err != nil {
		return fmt.Errorf("status of workload %s: %w", client.ObjectKeyFromObject(workload), err)
	}
	return nil
}

// do carries out one action.
func (s *Simulator) do(ctx context.Context, workload *kruisev1beta1.StatefulSet, action Action) error {
	switch action.Kind {
	case Create:
		return s.client.Create(ctx, newPod(workload, action.Ordinal))
	case Delete:
		return s.client.Delete(ctx, action.Pod)
	case Hold:
		return s.edit(ctx, action.Pod, func(pod *corev1.Pod) {
			pod.Labels[appspub.LifecycleStateKey] = string(appspub.LifecycleStatePreparingDelete)
		})
	case UpdateInPlace:
		return s.edit(ctx, action.Pod, func(pod *corev1.Pod) {
			for i := range pod.Spec.Containers {
				pod.Spec.Containers[i].Image = workload.Spec.Template.Spec.Containers[i].Image
			}
			pod.Labels[appsv1.ControllerRevisionHashLabelKey] = Revision(workload)
		})
	case MakeReady:
		pod := action.Pod.DeepCopy()
		pod.Status.Phase = corev1.PodRunning
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
		return s.client.Status().Patch(ctx, pod, client.MergeFrom(action.Pod))
	default:
		return fmt.Errorf("unknown action %d", action.Kind)
	}
}

func (s *Simulator) edit(ctx context.Context, pod *corev1.Pod, change func(*corev1.Pod)) error {
	after := pod.DeepCopy()
	change(after)
	return s.client.Patch(ctx, after, client.MergeFrom(pod))
}

// claim returns the pods of the workload, orphans included, which it adopts.
func (s *Simulator) claim(ctx context.Context, workload *kruisev1beta1.StatefulSet) ([]corev1.Pod, error) {
	var all corev1.PodList
	err := s.client.List(ctx, &all, client.InNamespace(workload.Namespace), client.MatchingLabels(workload.Spec.Selector.MatchLabels))
	if err != nil {
		return nil, fmt.Errorf("listing pods: %w", err)
	}
	var pods []corev1.Pod
	for i := range all.Items {
		pod := &all.Items[i]
		if ordinal(workload, pod) < 0 {
			continue
		}
		switch controller := metav1.GetControllerOf(pod); {
		case controller == nil && pod.DeletionTimestamp == nil:
			pod.OwnerReferences = append(pod.OwnerReferences, ownerOf(workload))
			if err := s.client.Update(ctx, pod); err != nil {
				return nil, fmt.Errorf("adopting pod %s: %w", pod.Name, err)
			}
		case controller == nil || controller.UID != workload.UID:
			continue
		}
		pods = append(pods, *pod)
	}
	return pods, nil
}

func ownerOf(workload *kruisev1beta1.StatefulSet) metav1.OwnerReference {
	return *metav1.NewControllerRef(workload, kruisev1beta1.SchemeGroupVersion.WithKind("StatefulSet"))
}

// ignoreRaces drops what the next step will see right.
func ignoreRaces(err error) error {
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// CRDs are those of OpenKruise as the playground installs them, without conversion, which would need its webhook.
func CRDs() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	data, err := os.ReadFile(filepath.Join(manifests.Root(), "..", "playground", "internal", "kruiseassets", "kruise.yaml"))
	if err != nil {
		return nil, fmt.Errorf("reading OpenKruise's manifests: %w", err)
	}
	var crds []*apiextensionsv1.CustomResourceDefinition
	for document := range bytes.SplitSeq(data, []byte("\n---\n")) {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(document, crd); err != nil || crd.Kind != "CustomResourceDefinition" {
			continue // objects of other kinds
		}
		crd.Spec.Conversion = nil
		crds = append(crds, crd)
	}
	return crds, nil
}
