// SPDX-License-Identifier: Apache-2.0

// Package gameserver tests the GameServer controller against a real API server. The tests play the parts of OpenKruise,
// scheduler, kubelet and network plugin. Every test has a namespace of its own; one controller serves them all, as in a
// cluster, through a cache and with its writes counted on the wire.
package gameserver

import (
	"os"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/berthgames/berth/controllers/gameserver"
	"github.com/berthgames/berth/test/apiserver"
)

// suite is what all tests of this package share; nil without an API server.
var suite *shared

type shared struct {
	client client.Client // reads and writes past every cache
	clock  *shiftedClock
	wire   *wire
}

func TestMain(m *testing.M) { os.Exit(apiserver.Main(m, start)) }

func start(server *apiserver.Server) error {
	s := &shared{client: server.Client, clock: &shiftedClock{}, wire: &wire{}}
	mgr, err := server.Manager(s.wire.wrap)
	if err != nil {
		return err
	}
	reconciler := gameserver.New(mgr.GetClient(), mgr.GetAPIReader(), s.clock, mgr.GetEventRecorder(gameserver.ControllerName), gameserver.Options{
		Workers: 10, NetworkWait: time.Minute, StartGrace: gameserver.DefaultStartGrace,
	})
	if err := reconciler.SetupWithManager(mgr); err != nil {
		return err
	}
	suite = s
	return server.Run(mgr)
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
