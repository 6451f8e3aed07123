// SPDX-License-Identifier: Apache-2.0

package hostport

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/internal/index"
	"github.com/berthgames/berth/internal/ports"
	"github.com/berthgames/berth/network/framework"
)

// lookAgain is when a pod that no node can take is looked at again, to tell whether its ports are still the reason.
const lookAgain = 30 * time.Second

// Reconcile implements framework.Reconciler. It makes nothing: it says how the pod is reached. Cutting a server off is not
// supported, so a disabled network makes no difference.
func (p *Plugin) Reconcile(ctx context.Context, pod *framework.Pod) (framework.Result, error) {
	record := recordOf(pod.Pod, p.opts.Range)
	if len(record) == 0 {
		return notReady("the pod has no host port; it gets one when it is created anew"), nil
	}
	if pod.Spec.NodeName == "" {
		return p.withoutNode(ctx, pod.Pod, record)
	}
	node := &corev1.Node{}
	if err := p.reader.Get(ctx, types.NamespacedName{Name: pod.Spec.NodeName}, node); err != nil {
		if apierrors.IsNotFound(err) { // the node comes, or the pod goes; both are events (fault H20)
			return framework.Result{Waiting: fmt.Sprintf("node %s does not exist", pod.Spec.NodeName)}, nil
		}
		return framework.Result{}, fmt.Errorf("reading node %s: %w", pod.Spec.NodeName, err)
	}
	if pod.Pod.Status.PodIP == "" {
		if pod.Status == nil {
			return framework.Result{Waiting: "the pod has no address"}, nil
		}
		return notReady("the pod has no address"), nil
	}
	ip, endPoint := nodeAddress(node, pod.Pod.Status.PodIP)
	if ip == "" && endPoint == "" {
		return notReady(fmt.Sprintf("node %s has no address", node.Name)), nil
	}
	result := ready(record, pod.Pod.Status.PodIP, ip, endPoint)
	if pod.Disabled {
		result.Waiting = "the network is to be disabled, but " + Name + " cannot cut a server off: it stays reachable"
	}
	return result, nil
}

func notReady(waiting string) framework.Result {
	return framework.Result{Status: gamev1alpha1.NetworkStatus{CurrentNetworkState: gamev1alpha1.NetworkNotReady}, Waiting: waiting}
}

// ready lists the ports of the record inside and outside. Source: network-kubernetes.md, A5 "Pod updated".
func ready(record []given, podIP, nodeIP, endPoint string) framework.Result {
	internal := gamev1alpha1.NetworkAddress{IP: podIP}
	external := gamev1alpha1.NetworkAddress{IP: nodeIP, EndPoint: endPoint}
	for _, g := range record {
		name := g.Container + "-" + strconv.Itoa(int(g.ContainerPort))
		internal.Ports = append(internal.Ports, portEntry(name, g.Protocol, g.ContainerPort))
		external.Ports = append(external.Ports, portEntry(name, g.Protocol, g.HostPort))
	}
	return framework.Result{Status: gamev1alpha1.NetworkStatus{
		InternalAddresses:   []gamev1alpha1.NetworkAddress{internal},
		ExternalAddresses:   []gamev1alpha1.NetworkAddress{external},
		CurrentNetworkState: gamev1alpha1.NetworkReady,
	}}
}

func portEntry(name string, protocol corev1.Protocol, number int32) gamev1alpha1.NetworkPort {
	port := intstr.FromInt32(number)
	return gamev1alpha1.NetworkPort{Name: name, Protocol: protocol, Port: &port}
}

// withoutNode says nothing while the scheduler works. When it found no node, and the numbers of the pod are taken on every
// node that the pod may use, that is told with the counts (faults H13, S14).
func (p *Plugin) withoutNode(ctx context.Context, pod *corev1.Pod, record []given) (framework.Result, error) {
	if !unschedulable(pod) {
		return framework.Result{Waiting: "the pod has no node"}, nil
	}
	selector, err := p.selectorOf(ctx, pod)
	if err != nil {
		return framework.Result{}, err
	}
	held := heldBy(record)
	outlook := p.ledger.Outlook(selector, held)
	if outlook.Eligible == 0 || outlook.Fitting > 0 {
		return framework.Result{Waiting: "the pod has no node, for other reasons than its host ports", RecheckAfter: lookAgain}, nil
	}
	where := fmt.Sprintf("on any of the %d nodes it may use", outlook.Eligible)
	want, protocols := demandOf(held)
	if outlook.MostFree >= want {
		// Others are free, but the pod cannot change its numbers any more.
		return framework.Result{}, framework.Retryf("the host ports that the pod was given (%s) are in use %s; others are free there", list(held), where)
	}
	return framework.Result{}, &ports.ExhaustedError{
		Kind: kind, Protocols: protocols, Range: p.opts.Range, Want: want, Free: outlook.MostFree, Where: where,
	}
}

func unschedulable(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable
	})
}

// demandOf counts the different numbers and unites their protocols.
func demandOf(held []ports.Port) (int, ports.Protocols) {
	numbers := map[int32]bool{}
	var protocols ports.Protocols
	for _, port := range held {
		numbers[port.Number] = true
		protocols |= port.Protocol
	}
	return len(numbers), protocols
}

func list(held []ports.Port) string {
	text := ""
	for i, port := range held {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%d/%s", port.Number, port.Protocol)
	}
	return text
}

// Watches implements framework.Watcher: a node's addresses are those of its game servers.
func (p *Plugin) Watches() []framework.Watch {
	return []framework.Watch{{Object: &corev1.Node{}, Pods: p.podsOnNode, Relevant: addressesChanged}}
}

func addressesChanged(before, after client.Object) bool {
	old, okOld := before.(*corev1.Node)
	now, okNow := after.(*corev1.Node)
	return okOld && okNow && !slices.Equal(old.Status.Addresses, now.Status.Addresses)
}

// podsOnNode are the pods of this network type on a node. The cache does not fail to list what is in it; if it did, the next
// look at each pod would set it right.
func (p *Plugin) podsOnNode(ctx context.Context, node client.Object) []types.NamespacedName {
	var pods corev1.PodList
	if err := p.reader.List(ctx, &pods, client.MatchingFields{index.PodNodeName: node.GetName()}); err != nil {
		return nil
	}
	var names []types.NamespacedName
	for i := range pods.Items {
		if framework.TypeOf(&pods.Items[i]) == Name {
			names = append(names, client.ObjectKeyFromObject(&pods.Items[i]))
		}
	}
	return names
}
