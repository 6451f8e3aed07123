// SPDX-License-Identifier: Apache-2.0

// Package podnetwork tests the controller that drives network plugins against a real API server, with plugins whose
// answers the tests choose: late, failing, panicking. Every test has a namespace of its own; one controller serves them all.
package podnetwork

import (
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/berthgames/berth/controllers/podnetwork"
	"github.com/berthgames/berth/network/framework"
	"github.com/berthgames/berth/test/apiserver"
)

// suite is what all tests share; nil without an API server.
var suite *shared

type shared struct {
	client client.Client // reads and writes past every cache
	plugin *plugin
	slow   *plugin
	wire   *wire
}

func TestMain(m *testing.M) { os.Exit(apiserver.Main(m, start)) }

func start(server *apiserver.Server) error {
	s := &shared{client: server.Client, wire: newWire(), plugin: newPlugin(pluginName, atOnce), slow: newPlugin(slowName, whenAllowed)}
	mgr, err := server.Manager(s.wire.wrap)
	if err != nil {
		return err
	}
	registry, err := framework.NewRegistry(s.plugin, s.slow, mute{})
	if err != nil {
		return err
	}
	reconciler := podnetwork.New(mgr.GetClient(), registry, mgr.GetEventRecorder(podnetwork.ControllerName), podnetwork.Options{Workers: workers})
	if err := reconciler.SetupWithManager(mgr); err != nil {
		return err
	}
	suite = s
	return server.Run(mgr)
}

// workers is how many pods the controller works on at the same time.
const workers = 4

// wire counts the requests of the controller that would change something, also those that fail, by namespace.
type wire struct {
	mu             sync.Mutex
	writes, events map[string]int
}

func newWire() *wire { return &wire{writes: map[string]int{}, events: map[string]int{}} }

func (w *wire) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		if request.Method != http.MethodGet {
			w.note(request.URL.Path)
		}
		return next.RoundTrip(request)
	})
}

// note counts a path such as /api/v1/namespaces/<namespace>/pods/<name>.
func (w *wire) note(path string) {
	_, rest, _ := strings.Cut(path, "/namespaces/")
	namespace, resource, _ := strings.Cut(rest, "/")
	w.mu.Lock()
	defer w.mu.Unlock()
	if strings.HasPrefix(resource, "events") {
		w.events[namespace]++
		return
	}
	w.writes[namespace]++
}

// counts says how many writes, events aside, and how many events concerned a namespace.
func (w *wire) counts(namespace string) (writes, events int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.writes[namespace], w.events[namespace]
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }
