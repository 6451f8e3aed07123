// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"maps"

	kruisev1alpha1 "github.com/openkruise/kruise-api/apps/v1alpha1"
	kruisev1beta1 "github.com/openkruise/kruise-api/apps/v1beta1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/webhook/certs"
)

// newScheme knows every kind that the manager reads or writes.
func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, gamev1alpha1.AddToScheme, kruisev1alpha1.AddToScheme, kruisev1beta1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("collecting kinds: %w", err)
		}
	}
	return scheme, nil
}

// cacheOptions keep the caches small: no managedFields, no more of other people's pods and of nodes than is read.
func cacheOptions(o *Options) cache.Options {
	options := cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}:  {Transform: slimPod},
			&corev1.Node{}: {Transform: slimNode},
		},
	}
	maps.Copy(options.ByObject, certs.CacheByObject(o.certs()))
	if o.Namespace != "" {
		options.DefaultNamespaces = map[string]cache.Config{o.Namespace: {}}
	}
	if o.SyncPeriod > 0 {
		options.SyncPeriod = &o.SyncPeriod
	}
	return options
}

// slimPod drops managedFields, and of pods that are no game servers everything but who they are, where they run or may
// run, and what they take of their node: host ports and resources. A cluster may have many times more of them than of ours.
func slimPod(obj any) (any, error) {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return obj, nil
	}
	pod.ManagedFields = nil
	if pod.Labels[gamev1alpha1.GameServerOwnerGssKey] != "" {
		return pod, nil
	}
	pod.Annotations = nil
	slim := corev1.PodSpec{
		NodeName:       pod.Spec.NodeName,
		HostNetwork:    pod.Spec.HostNetwork,
		Overhead:       pod.Spec.Overhead,
		Resources:      pod.Spec.Resources,
		InitContainers: takenBy(pod.Spec.InitContainers),
		Containers:     takenBy(pod.Spec.Containers),
	}
	if slim.NodeName == "" {
		slim.NodeSelector = pod.Spec.NodeSelector
		slim.Affinity = pod.Spec.Affinity
		slim.Tolerations = pod.Spec.Tolerations
	}
	pod.Spec = slim
	pod.Status = corev1.PodStatus{Phase: pod.Status.Phase}
	return pod, nil
}

// takenBy keeps host ports and requests, and of init containers whether they keep running.
func takenBy(containers []corev1.Container) []corev1.Container {
	var kept []corev1.Container
	for i := range containers {
		c := corev1.Container{
			Name:          containers[i].Name,
			RestartPolicy: containers[i].RestartPolicy,
			Resources:     corev1.ResourceRequirements{Requests: containers[i].Resources.Requests},
		}
		for _, port := range containers[i].Ports {
			if port.HostPort != 0 {
				c.Ports = append(c.Ports, port)
			}
		}
		if len(c.Ports) > 0 || len(c.Resources.Requests) > 0 {
			kept = append(kept, c)
		}
	}
	return kept
}

// slimNode drops managedFields and the lists of images and volumes, which are most of a node.
func slimNode(obj any) (any, error) {
	node, ok := obj.(*corev1.Node)
	if !ok {
		return obj, nil
	}
	node.ManagedFields = nil
	node.Status.Images = nil
	node.Status.VolumesInUse = nil
	node.Status.VolumesAttached = nil
	return node, nil
}
