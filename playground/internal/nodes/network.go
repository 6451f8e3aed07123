// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// network knows the addresses of nodes and pods. KWOK has pools too, but they start empty: after a restart they hand out
// addresses that running pods have.
type network struct {
	client kubernetes.Interface
	nodes  corev1listers.NodeLister
	pool   *pool
}

// newNetwork returns a network that knows all pods, and goes on learning until ctx ends.
func newNetwork(ctx context.Context, client kubernetes.Interface) (*network, error) {
	factory := informers.NewSharedInformerFactory(client, 0)
	n := &network{client: client, nodes: factory.Core().V1().Nodes().Lister(), pool: newPool()}
	pods := factory.Core().V1().Pods().Informer()
	if err := pods.SetTransform(trimToAddresses); err != nil {
		return nil, fmt.Errorf("trimming pods: %w", err)
	}
	learned, err := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    n.observe,
		UpdateFunc: func(_, pod any) { n.observe(pod) },
		DeleteFunc: n.forget,
	})
	if err != nil {
		return nil, fmt.Errorf("watching pods: %w", err)
	}
	nodesSynced := factory.Core().V1().Nodes().Informer().HasSynced
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), learned.HasSynced, nodesSynced) {
		return nil, fmt.Errorf("learning addresses: %w", context.Cause(ctx))
	}
	return n, nil
}

func trimToAddresses(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
		},
		Spec:   corev1.PodSpec{HostNetwork: pod.Spec.HostNetwork},
		Status: corev1.PodStatus{PodIPs: pod.Status.PodIPs},
	}, nil
}

func (n *network) observe(object any) {
	pod, ok := object.(*corev1.Pod)
	if !ok || pod.Spec.HostNetwork {
		return
	}
	var addresses []netip.Addr
	for _, ip := range pod.Status.PodIPs {
		if address, err := netip.ParseAddr(ip.IP); err == nil {
			addresses = append(addresses, address)
		}
	}
	if len(addresses) > 0 {
		n.pool.observe(pod.UID, addresses)
	}
}

func (n *network) forget(object any) {
	if last, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = last.Obj
	}
	if pod, ok := object.(*corev1.Pod); ok {
		n.pool.free(pod.UID)
	}
}

// addresses returns the addresses of a pod's node and of the pod itself, one per family, the primary first.
func (n *network) addresses(ctx context.Context, pod *corev1.Pod) (hostIPs, podIPs []string, err error) {
	node, err := n.nodes.Get(pod.Spec.NodeName)
	if apierrors.IsNotFound(err) { // a pod can be faster on a new node than our watch
		node, err = n.client.CoreV1().Nodes().Get(ctx, pod.Spec.NodeName, metav1.GetOptions{})
	}
	if err != nil {
		return nil, nil, fmt.Errorf("getting node of pod %s: %w", pod.Name, err)
	}
	for _, address := range node.Status.Addresses {
		if address.Type == corev1.NodeInternalIP {
			hostIPs = append(hostIPs, address.Address)
		}
	}
	if pod.Spec.HostNetwork {
		return hostIPs, hostIPs, nil
	}
	blocks := make([]netip.Prefix, 0, len(node.Spec.PodCIDRs))
	for _, cidr := range node.Spec.PodCIDRs {
		block, err := netip.ParsePrefix(cidr)
		if err != nil {
			return nil, nil, fmt.Errorf("reading pod blocks of node %s: %w", node.Name, err)
		}
		blocks = append(blocks, block)
	}
	taken, err := n.pool.take(pod.UID, blocks)
	if err != nil {
		return nil, nil, fmt.Errorf("finding an address for pod %s: %w", pod.Name, err)
	}
	for _, address := range taken {
		podIPs = append(podIPs, address.String())
	}
	return hostIPs, podIPs, nil
}
