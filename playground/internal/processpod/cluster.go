// SPDX-License-Identifier: Apache-2.0

package processpod

import (
	"context"
	"fmt"
	"net"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/berthgames/berth/playground/internal/serviceaccount"
)

// cluster is what process pods need to know of the cluster, kept up to date by watches.
type cluster struct {
	config     *rest.Config
	services   corelisters.ServiceLister
	configMaps corelisters.ConfigMapLister
	secrets    corelisters.SecretLister
}

var _ Sources = (*cluster)(nil)

// watch follows the cluster until ctx ends. changed is called for every ConfigMap and Secret that appears, changes or
// goes, with the name in the place of its kind and the other empty.
func watch(ctx context.Context, config *rest.Config, changed func(ctx context.Context, namespace, configMap, secret string)) (*cluster, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("building client: %w", err)
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	core := factory.Core().V1()
	c := &cluster{
		config: config, services: core.Services().Lister(),
		configMaps: core.ConfigMaps().Lister(), secrets: core.Secrets().Lister(),
	}
	notify := func(object any) {
		if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = gone.Obj
		}
		switch o := object.(type) {
		case *corev1.ConfigMap:
			changed(ctx, o.Namespace, o.Name, "")
		case *corev1.Secret:
			changed(ctx, o.Namespace, "", o.Name)
		}
	}
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc: notify, DeleteFunc: notify, UpdateFunc: func(_, object any) { notify(object) },
	}
	for _, informer := range []cache.SharedInformer{core.ConfigMaps().Informer(), core.Secrets().Informer()} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return nil, fmt.Errorf("watching: %w", err)
		}
	}
	factory.StartWithContext(ctx)
	if err := factory.WaitForCacheSyncWithContext(ctx).AsError(); err != nil {
		return nil, fmt.Errorf("reading services, config maps and secrets: %w", err)
	}
	return c, nil
}

// ConfigMap implements Sources.
func (c *cluster) ConfigMap(namespace, name string) (*corev1.ConfigMap, error) {
	return c.configMaps.ConfigMaps(namespace).Get(name)
}

// Secret implements Sources.
func (c *cluster) Secret(namespace, name string) (*corev1.Secret, error) {
	return c.secrets.Secrets(namespace).Get(name)
}

// Token implements Sources.
func (c *cluster) Token(ctx context.Context, namespace, account, audience string) (string, error) {
	var audiences []string
	if audience != "" {
		audiences = []string{audience}
	}
	return serviceaccount.Token(ctx, c.config, namespace, account, audiences)
}

// refresh writes the volumes of the pods that use the ConfigMap or Secret, and lets those try again that wait for it.
func (m *Manager) refresh(ctx context.Context, namespace, configMap, secret string) {
	for _, p := range m.all() {
		if p.identity.namespace != namespace || !refersTo(&p.template.Spec, configMap, secret) {
			continue
		}
		kubeconfig, err := p.kubeconfig(ctx)
		if err == nil {
			err = p.writeVolumes(ctx, kubeconfig)
		}
		if err != nil {
			// The files stay as they are, as with a kubelet; a start tries again.
			klog.FromContext(ctx).Error(err, "Refreshing volumes", "pod", p.component)
		}
		m.supervisor.Nudge(p.component)
	}
}

func (m *Manager) all() []*pod {
	m.mu.Lock()
	defer m.mu.Unlock()
	var pods []*pod
	for _, w := range m.workloads {
		pods = append(pods, w.pods...)
	}
	return pods
}

// Resolve returns the loopback addresses behind the address of a Service, which is its cluster IP and a port.
func (m *Manager) Resolve(address string) ([]string, error) {
	host, portText, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("reading address: %w", err)
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("reading address %s: %w", address, err)
	}
	services, err := m.services.List(labels.Everything())
	if err != nil {
		return nil, fmt.Errorf("listing services: %w", err)
	}
	for _, service := range services {
		if service.Spec.ClusterIP == host {
			return endpoints(service, int32(port), m.backends())
		}
	}
	return nil, fmt.Errorf("%s is not the address of a service", host)
}

func (m *Manager) backends() []backend {
	ready := map[string]bool{}
	for _, s := range m.supervisor.Status() {
		ready[s.Name] = s.Ready
	}
	var all []backend
	for _, p := range m.all() {
		all = append(all, backend{
			namespace: p.identity.namespace, labels: p.identity.labels, container: p.container(),
			ready: ready[p.component], local: p.localPort,
		})
	}
	return all
}
