// SPDX-License-Identifier: Apache-2.0

// Package podnetwork tests the controller that drives network plugins against a real API server, with a plugin whose
// answers the tests choose: late, failing, panicking.
package podnetwork

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/controllers/podnetwork"
	"github.com/berthgames/berth/network/framework"
	"github.com/berthgames/berth/test/apiserver"
)

// suite is what all tests share; nil without an API server.
var suite *shared

type shared struct {
	client client.Client // reads and writes past every cache
	plugin *plugin
	writes atomic.Int64 // of the controller, events aside
}

func TestMain(m *testing.M) { os.Exit(apiserver.Main(m, start)) }

func start(server *apiserver.Server) error {
	s := &shared{client: server.Client, plugin: newPlugin()}
	mgr, err := server.Manager(func(next http.RoundTripper) http.RoundTripper { return &counter{next: next, writes: &s.writes} })
	if err != nil {
		return err
	}
	registry, err := framework.NewRegistry(s.plugin)
	if err != nil {
		return err
	}
	reconciler := podnetwork.New(mgr.GetClient(), registry, mgr.GetEventRecorder(podnetwork.ControllerName), podnetwork.Options{Workers: 4})
	if err := reconciler.SetupWithManager(mgr); err != nil {
		return err
	}
	suite = s
	return server.Run(mgr)
}

// counter counts write requests on the wire, those for events aside.
type counter struct {
	next   http.RoundTripper
	writes *atomic.Int64
}

func (c *counter) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodGet && !strings.Contains(request.URL.Path, "/events") {
		c.writes.Add(1)
	}
	return c.next.RoundTrip(request)
}

// pluginName is the network type of the test plugin.
const pluginName = "Test-Network"

// plugin answers what a test set for the namespace of the pod. Its Restore fails twice before it succeeds.
type plugin struct {
	mu       sync.Mutex
	answers  map[string]func(*framework.Pod) (framework.Result, error)
	asked    map[types.NamespacedName]int
	restores int
}

var (
	_ framework.Reconciler = (*plugin)(nil)
	_ framework.Restorer   = (*plugin)(nil)
	_ framework.Watcher    = (*plugin)(nil)
)

func newPlugin() *plugin {
	return &plugin{answers: map[string]func(*framework.Pod) (framework.Result, error){}, asked: map[types.NamespacedName]int{}}
}

func (*plugin) Name() string                                          { return pluginName }
func (*plugin) Alias() string                                         { return "" }
func (*plugin) Validate(framework.ValidateRequest) framework.Findings { return framework.Findings{} }

// Watches has a ConfigMap wake the pod of its name.
func (*plugin) Watches() []framework.Watch {
	return []framework.Watch{
		{Object: &corev1.ConfigMap{}, Pods: func(_ context.Context, obj client.Object) []types.NamespacedName {
			return []types.NamespacedName{client.ObjectKeyFromObject(obj)}
		}},
		{Object: &corev1.Service{}}, // by owner
	}
}

func (p *plugin) Restore(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.restores++
	if p.restores <= 2 {
		return fmt.Errorf("restore %d fails", p.restores)
	}
	return nil
}

func (p *plugin) Reconcile(_ context.Context, pod *framework.Pod) (framework.Result, error) {
	p.mu.Lock()
	if p.restores <= 2 {
		p.mu.Unlock()
		return framework.Result{}, errors.New("asked before it was restored")
	}
	p.asked[client.ObjectKeyFromObject(pod)]++
	answer := p.answers[pod.Namespace]
	p.mu.Unlock()
	return answer(pod)
}

// answer sets what the plugin says of all pods of a namespace.
func (p *plugin) answer(namespace string, say func(*framework.Pod) (framework.Result, error)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answers[namespace] = say
}

func (p *plugin) timesAsked(pod types.NamespacedName) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked[pod]
}

func readyAt(ip string) (framework.Result, error) {
	return framework.Result{Status: gamev1alpha1.NetworkStatus{
		ExternalAddresses:   []gamev1alpha1.NetworkAddress{{IP: ip}},
		CurrentNetworkState: gamev1alpha1.NetworkReady,
	}}, nil
}
