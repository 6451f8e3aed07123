// SPDX-License-Identifier: Apache-2.0

// Package e2e tests Berth from outside: a real control plane, the real OpenKruise, our own programs as they are
// shipped, and fake nodes. Every test has a namespace of its own; they share one cluster and run one after another.
package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/test/cluster"
	"github.com/berthgames/berth/test/expect"
)

// Time limits are generous: they only bound a test that would fail anyway.
const (
	startLimit = 5 * time.Minute
	stepLimit  = 3 * time.Minute
)

// nodes is the number of fake nodes the tests run on.
const nodes = 10

// berth is the cluster all tests share; nil when there are no programs to test.
var berth *cluster.Cluster

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	root, err := filepath.Abs("../..")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	state, err := os.MkdirTemp("", "berth-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(state)

	started, err := cluster.Start(ctx, cluster.Options{Root: root, State: state, Log: os.Stderr, Nodes: nodes})
	if errors.Is(err, cluster.ErrNoPrograms) {
		return m.Run() // Every test skips and says why.
	}
	defer func() {
		if err := started.Stop(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, "stopping the cluster:", err)
		}
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "starting the cluster:", err)
		return 1
	}
	berth = started
	return m.Run()
}

// env is what one test works with.
type env struct {
	*testing.T
	namespace string
}

// newEnv makes a namespace for the test and removes it, with all game servers in it, at the end.
func newEnv(t *testing.T, namespace string) env {
	t.Helper()
	if berth == nil {
		t.Skip(cluster.ErrNoPrograms)
	}
	e := env{T: t, namespace: namespace}
	e.must(berth.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}), "creating the namespace")
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), stepLimit)
		defer cancel()
		if t.Failed() {
			e.dump(ctx)
		}
		if err := berth.Client.DeleteAllOf(ctx, &gamev1alpha1.GameServerSet{}, client.InNamespace(namespace)); err != nil {
			t.Errorf("removing the GameServerSets of %s: %v", namespace, err)
		}
		err := expect.Eventually(ctx, stepLimit, "pods and GameServers of "+namespace+" to go", func(ctx context.Context) error {
			var pods corev1.PodList
			var servers gamev1alpha1.GameServerList
			if err := errors.Join(berth.Client.List(ctx, &pods, client.InNamespace(namespace)), berth.Client.List(ctx, &servers, client.InNamespace(namespace))); err != nil {
				return err
			}
			if n, m := len(pods.Items), len(servers.Items); n+m > 0 {
				return fmt.Errorf("%d pods and %d GameServers remain", n, m)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	return e
}

func (e env) must(err error, doing string) {
	e.Helper()
	if err != nil {
		e.Fatalf("%s: %v", doing, err)
	}
}

func (e env) eventually(what string, check func(context.Context) error) {
	e.Helper()
	if err := expect.Eventually(e.Context(), stepLimit, what, check); err != nil {
		e.Fatal(err)
	}
}

func (e env) key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: e.namespace, Name: name}
}

// create creates a GameServerSet from YAML in the test's namespace.
func (e env) create(document string) *gamev1alpha1.GameServerSet {
	e.Helper()
	set := &gamev1alpha1.GameServerSet{}
	e.must(yaml.UnmarshalStrict([]byte(document), set), "reading the test's GameServerSet")
	set.Namespace = e.namespace
	e.must(berth.Client.Create(e.Context(), set), "creating the GameServerSet")
	return set
}

// patch merges a JSON patch into an object.
func (e env) patch(object client.Object, format string, args ...any) {
	e.Helper()
	patch := client.RawPatch(client.Merge.Type(), fmt.Appendf(nil, format, args...))
	e.must(berth.Client.Patch(e.Context(), object, patch), fmt.Sprintf("patching %s with %s", object.GetName(), fmt.Sprintf(format, args...)))
}

func (e env) servers(ctx context.Context, set string) ([]expect.Server, error) {
	return expect.Servers(ctx, berth.Client, e.key(set))
}

// allReady waits until the set has exactly these servers, all ready with an address.
func (e env) allReady(set string, ordinals ...int) []expect.Server {
	e.Helper()
	var servers []expect.Server
	e.eventually(fmt.Sprintf("%d servers of %s to be ready", len(ordinals), set), func(ctx context.Context) error {
		var err error
		if servers, err = e.servers(ctx, set); err != nil {
			return err
		}
		return expect.AllReady(servers, ordinals...)
	})
	return servers
}

// gameServer is an empty GameServer of that name, for patches.
func (e env) gameServer(name string) *gamev1alpha1.GameServer {
	return &gamev1alpha1.GameServer{ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: name}}
}

// dump logs what a person would look at first after a failure.
func (e env) dump(ctx context.Context) {
	for _, kind := range []string{"gss,gs,statefulsets.apps.kruise.io", "pods", "events"} {
		text, err := berth.Playground(ctx, "kubectl", "--", "get", kind, "-n", e.namespace, "-o", "wide")
		e.Logf("%s (%v):\n%s", kind, err, text)
	}
}
