// SPDX-License-Identifier: Apache-2.0

// Package gameserverset tests the GameServerSet controller against a real API server, with a simulator in place of
// OpenKruise. Every test has a namespace of its own; one controller serves them all, as in a cluster.
package gameserverset

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/berthgames/berth/controllers/gameserverset"
	"github.com/berthgames/berth/test/apiserver"
	"github.com/berthgames/berth/test/sim/kruise"
)

// suite is what all tests of this package share; nil without an API server.
var suite *shared

type shared struct {
	client client.Client // reads and writes past every cache
	kruise *kruise.Simulator
	spy    *spy
	clock  clock.PassiveClock
	events *recorder
}

func TestMain(m *testing.M) {
	crds, err := kruise.CRDs()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(apiserver.Main(m, start, crds...))
}

func start(server *apiserver.Server) error {
	mgr, err := server.Manager(nil)
	if err != nil {
		return err
	}
	s := &shared{
		client: server.Client, kruise: kruise.New(server.Client), clock: clock.RealClock{}, events: &recorder{},
		spy: &spy{Client: mgr.GetClient(), live: mgr.GetAPIReader(), namespaces: map[string]*ledger{}},
	}
	if err := s.reconciler().SetupWithManager(mgr, 10); err != nil {
		return err
	}
	server.Go(func(ctx context.Context) error {
		s.kruise.Run(ctx, func(err error) { fmt.Fprintln(os.Stderr, "simulator:", err) })
		return nil
	})
	suite = s
	return server.Run(mgr)
}

func (s *shared) reconciler() *gameserverset.Reconciler {
	return gameserverset.New(gameserverset.Options{Client: s.spy, Live: s.spy.live, Clock: s.clock, Events: s.events})
}

// lateClock is the real time plus a fixed time.
type lateClock struct {
	clock.RealClock
	by time.Duration
}

func (c lateClock) Now() time.Time { return c.RealClock.Now().Add(c.by) }

// write is one request of the controller that would change something.
type write struct {
	verb, kind, name string
	obj              client.Object
}

func (w write) String() string { return w.verb + " " + w.kind + " " + w.name }

// ledger holds the writes to one namespace, and the trouble a test makes there.
type ledger struct {
	mu     sync.Mutex
	writes []write
	// before is asked before each write; an error is what the API server answers.
	before func(write) error
}

func (l *ledger) all() []write {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.writes)
}

func (l *ledger) onWrite(before func(write) error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.before = before
}

func (l *ledger) note(w write) error {
	l.mu.Lock()
	l.writes = append(l.writes, w)
	before := l.before
	l.mu.Unlock()
	if before == nil {
		return nil
	}
	return before(w)
}

// spy is the client of the controller. It notes every write.
type spy struct {
	client.Client
	live client.Reader

	mu         sync.Mutex
	namespaces map[string]*ledger
}

func (s *spy) ledger(namespace string) *ledger {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.namespaces[namespace] == nil {
		s.namespaces[namespace] = &ledger{}
	}
	return s.namespaces[namespace]
}

func (s *spy) note(verb string, obj client.Object) error {
	kind := fmt.Sprintf("%T", obj)
	return s.ledger(obj.GetNamespace()).note(write{verb: verb, kind: kind[strings.LastIndexByte(kind, '.')+1:], name: obj.GetName(), obj: obj})
}

func (s *spy) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	if err := s.note("create", obj); err != nil {
		return err
	}
	return s.Client.Create(ctx, obj, opts...)
}

func (s *spy) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	if err := s.note("patch", obj); err != nil {
		return err
	}
	return s.Client.Patch(ctx, obj, patch, opts...)
}

func (s *spy) Update(_ context.Context, obj client.Object, _ ...client.UpdateOption) error {
	return fmt.Errorf("an update of all of %T %s; only patches of what changed are allowed", obj, obj.GetName())
}

func (s *spy) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	if err := s.note("delete", obj); err != nil {
		return err
	}
	return s.Client.Delete(ctx, obj, opts...)
}

func (s *spy) Status() client.SubResourceWriter { return spiedStatus{s.Client.Status(), s} }

type spiedStatus struct {
	client.SubResourceWriter
	spy *spy
}

func (s spiedStatus) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	if err := s.spy.note("patch status", obj); err != nil {
		return err
	}
	return s.SubResourceWriter.Patch(ctx, obj, patch, opts...)
}

// recorder keeps events instead of sending them.
type recorder struct {
	mu     sync.Mutex
	events map[string][]string // by namespace
}

func (r *recorder) Eventf(regarding, _ runtime.Object, eventType, reason, _, note string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	obj, err := meta.Accessor(regarding)
	if err != nil {
		return
	}
	if r.events == nil {
		r.events = map[string][]string{}
	}
	r.events[obj.GetNamespace()] = append(r.events[obj.GetNamespace()], eventType+" "+reason+" "+fmt.Sprintf(note, args...))
}

func (r *recorder) of(namespace string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events[namespace])
}
