// SPDX-License-Identifier: Apache-2.0

package hostport

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	podresources "k8s.io/component-helpers/resource"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	"github.com/berthgames/berth/internal/ports"
)

// selector says which nodes a pod may use: those that its node selector, required node affinity, tolerations and bound
// volumes allow. What depends on other pods (affinity between them, spreading) is left to the scheduler.
type selector struct {
	key         string
	nodeName    string
	affinity    nodeaffinity.RequiredNodeAffinity
	tolerations []corev1.Toleration
	volumes     []*nodeaffinity.LazyErrorNodeSelector
}

var _ ports.Selector = (*selector)(nil)

// rules are the parts of a pod that choose nodes; pods with equal rules share one answer.
type rules struct {
	NodeName     string                 `json:",omitempty"`
	NodeSelector map[string]string      `json:",omitempty"`
	Required     *corev1.NodeSelector   `json:",omitempty"`
	Tolerations  []corev1.Toleration    `json:",omitempty"`
	Volumes      []*corev1.NodeSelector `json:",omitempty"`
}

// selectorOf reads the rules of a pod, those of its bound volumes included.
func (p *Plugin) selectorOf(ctx context.Context, pod *corev1.Pod) (ports.Selector, error) {
	volumes, err := p.volumeRules(ctx, pod)
	if err != nil {
		return nil, err
	}
	return newSelector(pod, volumes)
}

func newSelector(pod *corev1.Pod, volumes []*corev1.NodeSelector) (ports.Selector, error) {
	r := rules{NodeName: pod.Spec.NodeName, NodeSelector: pod.Spec.NodeSelector, Tolerations: pod.Spec.Tolerations, Volumes: volumes}
	if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil {
		r.Required = a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	key, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encoding which nodes pod %s may use: %w", pod.Name, err)
	}
	s := &selector{
		key: string(key), nodeName: r.NodeName, tolerations: r.Tolerations,
		affinity: nodeaffinity.GetRequiredNodeAffinity(pod),
	}
	for _, v := range volumes {
		s.volumes = append(s.volumes, nodeaffinity.NewLazyErrorNodeSelector(v))
	}
	return s, nil
}

// Key implements ports.Selector.
func (s *selector) Key() string { return s.key }

// Matches implements ports.Selector. It follows the scheduler's filters NodeName, NodeAffinity, NodeUnschedulable,
// TaintToleration and VolumeBinding. A rule that cannot be evaluated matches nothing there, and here.
func (s *selector) Matches(node *corev1.Node) bool {
	if s.nodeName != "" && s.nodeName != node.Name {
		return false
	}
	if ok, err := s.affinity.Match(node); err != nil || !ok {
		return false
	}
	if node.Spec.Unschedulable && !s.tolerates(&corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}) {
		return false
	}
	for i := range node.Spec.Taints {
		if taint := &node.Spec.Taints[i]; taint.Effect != corev1.TaintEffectPreferNoSchedule && !s.tolerates(taint) {
			return false
		}
	}
	for _, volume := range s.volumes {
		if ok, err := volume.Match(node); err != nil || !ok {
			return false
		}
	}
	return true
}

func (s *selector) tolerates(taint *corev1.Taint) bool {
	return schedulinghelpers.TolerationsTolerateTaint(klog.Logger{}, s.tolerations, taint, false)
}

// volumeRules are the node rules of the persistent volumes that the pod's claims are bound to.
func (p *Plugin) volumeRules(ctx context.Context, pod *corev1.Pod) ([]*corev1.NodeSelector, error) {
	var found []*corev1.NodeSelector
	for i := range pod.Spec.Volumes {
		source := pod.Spec.Volumes[i].PersistentVolumeClaim
		if source == nil {
			continue
		}
		claim := &corev1.PersistentVolumeClaim{}
		err := p.reader.Get(ctx, types.NamespacedName{Namespace: pod.Namespace, Name: source.ClaimName}, claim)
		if apierrors.IsNotFound(err) || err == nil && claim.Spec.VolumeName == "" {
			continue // made, or bound, when the node is known
		}
		if err != nil {
			return nil, fmt.Errorf("reading claim %s of the pod: %w", source.ClaimName, err)
		}
		volume := &corev1.PersistentVolume{}
		err = p.reader.Get(ctx, types.NamespacedName{Name: claim.Spec.VolumeName}, volume)
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("reading volume %s of the pod: %w", claim.Spec.VolumeName, err)
		}
		if affinity := volume.Spec.NodeAffinity; affinity != nil && affinity.Required != nil {
			found = append(found, affinity.Required)
		}
	}
	return found, nil
}

// requestsOf is the room that a pod takes of its node.
func requestsOf(pod *corev1.Pod) ports.Resources {
	requests := podresources.PodRequests(pod, podresources.PodResourcesOptions{})
	return ports.Resources{MilliCPU: requests.Cpu().MilliValue(), Memory: requests.Memory().Value(), Pods: 1}
}
