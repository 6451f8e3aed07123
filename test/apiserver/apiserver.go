// SPDX-License-Identifier: Apache-2.0

// Package apiserver starts a real API server with our kinds for the integration tests of one controller, and a manager
// for that controller as the product configures it. One server serves all tests of a package.
package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/berthgames/berth/internal/index"
	"github.com/berthgames/berth/test/manifests"
)

// binaries names the variable with the folder of etcd and kube-apiserver.
const binaries = "KUBEBUILDER_ASSETS"

// SkipReason is why tests skip when there is no API server.
const SkipReason = binaries + " is not set; run make test-unit, which builds etcd and the API server first"

// Server is a running API server.
type Server struct {
	// Config is the administrator's connection, without a limit of requests.
	Config *rest.Config
	// Client reads and writes past every cache.
	Client client.Client

	env     *envtest.Environment
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// Main is the body of a TestMain. use sets up what the tests share; without binaries it is not called, and every test has
// to skip with SkipReason. More kinds than ours are given by crds.
func Main(m *testing.M, use func(*Server) error, crds ...*apiextensionsv1.CustomResourceDefinition) int {
	log.SetLogger(logr.Discard())
	if os.Getenv(binaries) == "" {
		return m.Run()
	}
	server, err := start(crds)
	if err != nil {
		fmt.Fprintln(os.Stderr, "starting the API server:", err)
		return 1
	}
	code := 1
	if err := use(server); err != nil {
		fmt.Fprintln(os.Stderr, "setting up:", err)
	} else {
		code = m.Run()
	}
	if err := server.stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stopping the API server:", err)
		return 1
	}
	return code
}

func start(crds []*apiextensionsv1.CustomResourceDefinition) (*Server, error) {
	scheme, err := manifests.Scheme()
	if err != nil {
		return nil, err
	}
	env := &envtest.Environment{
		Scheme: scheme, CRDs: crds, CRDDirectoryPaths: []string{filepath.Join(manifests.Root(), "crd")}, ErrorIfCRDPathMissing: true,
	}
	// Nobody makes the service accounts that this admission plugin waits for.
	env.ControlPlane.GetAPIServer().Configure().Append("disable-admission-plugins", "ServiceAccount")
	config, err := env.Start()
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, errors.Join(err, env.Stop())
	}
	s := &Server{Config: config, Client: c, env: env}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s, nil
}

// Manager makes a manager with our indexes and the product's client settings. Its requests pass through wrap, if there is
// one, so that tests can count them.
func (s *Server) Manager(wrap func(http.RoundTripper) http.RoundTripper) (ctrl.Manager, error) {
	config := rest.CopyConfig(s.Config)
	if wrap != nil {
		config.Wrap(wrap)
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  s.env.Scheme,
		Client:  client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: ptr.To(true)}},
		Metrics: metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		return nil, err
	}
	return mgr, index.Register(s.ctx, mgr.GetFieldIndexer())
}

// Run starts a manager, which runs until the tests are over, and waits until its cache is full.
func (s *Server) Run(mgr ctrl.Manager) error {
	s.Go(mgr.Start)
	if !mgr.GetCache().WaitForCacheSync(s.ctx) {
		return errors.New("the cache did not fill")
	}
	return nil
}

// Go runs something until the tests are over.
func (s *Server) Go(run func(context.Context) error) {
	s.running.Go(func() {
		if err := run(s.ctx); err != nil {
			fmt.Fprintln(os.Stderr, "running:", err)
		}
	})
}

func (s *Server) stop() error {
	s.cancel()
	s.running.Wait()
	return s.env.Stop()
}
