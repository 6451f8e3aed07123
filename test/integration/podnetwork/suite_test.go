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
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/controllers/podnetwork"
	"github.com/berthgames/berth/network/framework"
	"github.com/berthgames/berth/test/manifests"
)

// suite is what all tests share; nil without an API server.
var suite *shared

type shared struct {
	client client.Client // reads and writes past every cache
	plugin *plugin
	writes atomic.Int64 // of the controller, events aside
	env    *envtest.Environment
	cancel context.CancelFunc
	done   sync.WaitGroup
}

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		os.Exit(m.Run()) // every test skips, and says why
	}
	var err error
	if suite, err = start(); err != nil {
		fmt.Fprintln(os.Stderr, "starting the API server and the controller:", err)
		os.Exit(1)
	}
	code := m.Run()
	suite.cancel()
	suite.done.Wait()
	if err := suite.env.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stopping:", err)
		code = 1
	}
	os.Exit(code)
}

func start() (*shared, error) {
	scheme, err := manifests.Scheme()
	if err != nil {
		return nil, err
	}
	s := &shared{plugin: newPlugin(), env: &envtest.Environment{
		Scheme: scheme, CRDDirectoryPaths: []string{filepath.Join(manifests.Root(), "crd")}, ErrorIfCRDPathMissing: true,
	}}
	s.env.ControlPlane.GetAPIServer().Configure().Append("disable-admission-plugins", "ServiceAccount")
	config, err := s.env.Start()
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	if err := s.run(config); err != nil {
		return nil, errors.Join(err, s.env.Stop())
	}
	return s, nil
}

func (s *shared) run(config *rest.Config) error {
	var err error
	if s.client, err = client.New(config, client.Options{Scheme: s.env.Scheme}); err != nil {
		return err
	}
	counted := rest.CopyConfig(config)
	counted.Wrap(func(next http.RoundTripper) http.RoundTripper { return &counter{next: next, writes: &s.writes} })
	mgr, err := ctrl.NewManager(counted, ctrl.Options{
		Scheme:  s.env.Scheme,
		Client:  client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: ptr.To(true)}},
		Metrics: metricsserver.Options{BindAddress: "0"},
	})
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
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.done.Go(func() {
		if err := mgr.Start(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "manager:", err)
		}
	})
	if !mgr.GetCache().WaitForCacheSync(ctx) {
		return errors.New("the cache did not fill")
	}
	return nil
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
