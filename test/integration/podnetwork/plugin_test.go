// SPDX-License-Identifier: Apache-2.0

package podnetwork

import (
	"context"
	"errors"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/network/framework"
)

// Network types of the test plugins.
const (
	pluginName = "Test-Network"
	slowName   = "Test-Slow" // its Restore ends as allow says
	muteName   = "Test-Mute" // it has nothing to say of pods that exist
)

// poison is the name of a ConfigMap that makes a plugin panic where events are delivered.
const poison = "poison"

// say is what a plugin answers for a pod.
type say func(*framework.Pod) (framework.Result, error)

// plugin answers what a test set for the namespace of the pod.
type plugin struct {
	name    string
	restore func(context.Context, *plugin) error
	allow   chan error

	mu       sync.Mutex
	answers  map[string]say
	asked    map[types.NamespacedName]int
	restored bool
}

var (
	_ framework.Reconciler = (*plugin)(nil)
	_ framework.Restorer   = (*plugin)(nil)
	_ framework.Watcher    = (*plugin)(nil)
)

func newPlugin(name string, restore func(context.Context, *plugin) error) *plugin {
	return &plugin{name: name, restore: restore, allow: make(chan error), answers: map[string]say{}, asked: map[types.NamespacedName]int{}}
}

func atOnce(context.Context, *plugin) error { return nil }

func whenAllowed(ctx context.Context, p *plugin) error {
	select {
	case err := <-p.allow:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *plugin) Name() string                                        { return p.name }
func (*plugin) Alias() string                                         { return "" }
func (*plugin) Validate(framework.ValidateRequest) framework.Findings { return framework.Findings{} }

// Watches has a ConfigMap wake the pod of its name, and a Service its owner.
func (*plugin) Watches() []framework.Watch {
	return []framework.Watch{
		{Object: &corev1.ConfigMap{}, Pods: func(_ context.Context, obj client.Object) []types.NamespacedName {
			if obj.GetName() == poison {
				panic("nil map")
			}
			return []types.NamespacedName{client.ObjectKeyFromObject(obj)}
		}},
		{Object: &corev1.Service{}},
	}
}

func (p *plugin) Restore(ctx context.Context) error {
	err := p.restore(ctx, p)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.restored = err == nil
	return err
}

func (p *plugin) Reconcile(_ context.Context, pod *framework.Pod) (framework.Result, error) {
	p.mu.Lock()
	if !p.restored {
		p.mu.Unlock()
		return framework.Result{}, errors.New("asked before it was restored")
	}
	p.asked[client.ObjectKeyFromObject(pod)]++
	answer := p.answers[pod.Namespace]
	p.mu.Unlock()
	return answer(pod)
}

// answer sets what the plugin says of all pods of a namespace.
func (p *plugin) answer(namespace string, say say) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answers[namespace] = say
}

func (p *plugin) timesAsked(pod *corev1.Pod) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked[client.ObjectKeyFromObject(pod)]
}

func readyAt(ip string) (framework.Result, error) {
	return framework.Result{Status: gamev1alpha1.NetworkStatus{
		ExternalAddresses:   []gamev1alpha1.NetworkAddress{{IP: ip}},
		CurrentNetworkState: gamev1alpha1.NetworkReady,
	}}, nil
}

// ready says that a pod is reached at address.
func ready(*framework.Pod) (framework.Result, error) { return readyAt(address) }

// mute is a plugin that does nothing for pods that exist.
type mute struct{}

func (mute) Name() string                                          { return muteName }
func (mute) Alias() string                                         { return "" }
func (mute) Validate(framework.ValidateRequest) framework.Findings { return framework.Findings{} }
