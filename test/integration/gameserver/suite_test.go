// SPDX-License-Identifier: Apache-2.0

// Package gameserver tests the GameServer controller against a real API server. The tests play the parts of OpenKruise,
// scheduler, kubelet and network plugin. Every test has a namespace of its own; one controller serves them all, as in a
// cluster, through a cache and with its writes counted on the wire.
package gameserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/berthgames/berth/controllers/gameserver"
	"github.com/berthgames/berth/internal/index"
	"github.com/berthgames/berth/test/manifests"
)

// suite is what all tests of this package share; nil without an API server.
var suite *shared

type shared struct {
	client client.Client // reads and writes past every cache
	clock  *shiftedClock
	wire   *wire

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
	if err := suite.stop(); err != nil {
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
	s := &shared{clock: &shiftedClock{}, wire: &wire{}, env: &envtest.Environment{
		Scheme: scheme, CRDDirectoryPaths: []string{filepath.Join(manifests.Root(), "crd")}, ErrorIfCRDPathMissing: true,
	}}
	s.env.ControlPlane.GetAPIServer().Configure().Append("disable-admission-plugins", "ServiceAccount")
	config, err := s.env.Start()
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	if err := s.run(config, scheme); err != nil {
		return nil, errors.Join(err, s.env.Stop())
	}
	return s, nil
}

func (s *shared) run(config *rest.Config, scheme *runtime.Scheme) error {
	var err error
	if s.client, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	counted := rest.CopyConfig(config)
	counted.Wrap(s.wire.wrap)
	mgr, err := ctrl.NewManager(counted, ctrl.Options{
		Scheme:  scheme,
		Client:  client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: ptr.To(true)}},
		Metrics: metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	if err := index.Register(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	reconciler := gameserver.New(mgr.GetClient(), mgr.GetAPIReader(), s.clock, mgr.GetEventRecorder(gameserver.ControllerName), gameserver.Options{
		Workers: 10, NetworkWait: time.Minute, StartGrace: gameserver.DefaultStartGrace,
	})
	if err := reconciler.SetupWithManager(mgr); err != nil {
		return err
	}
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

func (s *shared) stop() error {
	s.cancel()
	s.done.Wait()
	return s.env.Stop()
}

// shiftedClock is the real time plus what a test added.
type shiftedClock struct {
	clock.RealClock
	mu    sync.Mutex
	shift time.Duration
}

func (c *shiftedClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.RealClock.Now().Add(c.shift)
}

func (c *shiftedClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

func (c *shiftedClock) set(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shift = d
}
