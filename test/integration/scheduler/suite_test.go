// SPDX-License-Identifier: Apache-2.0

// Package scheduler tests our scheduler against a real API server, in the form and with the rights that
// manifests/scheduler give it. Nodes are plain objects; nothing runs the pods.
package scheduler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/berthgames/berth/scheduler"
	"github.com/berthgames/berth/test/apiserver"
	"github.com/berthgames/berth/test/expect"
	"github.com/berthgames/berth/test/manifests"
)

// suite starts what all tests of this package share. The first test does, not TestMain: go test takes an old result for
// good although a file has changed that was read before the tests run.
var suite = sync.OnceValues(start)

// asScheduler makes the test binary be the scheduler: a process of its own, which can be killed.
const asScheduler = "BERTH_TEST_AS_SCHEDULER"

func TestMain(m *testing.M) {
	if os.Getenv(asScheduler) != "" {
		var plugins []app.Option
		for name, factory := range scheduler.Plugins() {
			plugins = append(plugins, app.WithPlugin(name, factory))
		}
		os.Exit(cli.Run(app.NewSchedulerCommand(plugins...)))
	}
	code := m.Run()
	if os.Getenv("KUBEBUILDER_ASSETS") != "" {
		s, err := suite()
		if err == nil {
			err = s.stop()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "the API server and the scheduler:", err)
			code = 1
		}
	}
	os.Exit(code)
}

type shared struct {
	client   client.Client
	env      *envtest.Environment
	folder   string
	replicas []*replica
}

func start() (*shared, error) {
	scheme, err := manifests.Scheme()
	if err != nil {
		return nil, err
	}
	s := &shared{env: &envtest.Environment{Scheme: scheme}}
	config, err := s.env.Start()
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	if s.client, err = client.New(config, client.Options{Scheme: scheme}); err == nil {
		err = s.install(context.Background())
	}
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

// install applies manifests/scheduler and starts the replicas of its Deployment.
func (s *shared) install(ctx context.Context) error {
	objects, err := manifests.Render("scheduler")
	if err != nil {
		return err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kruise-game-system"}}
	for _, object := range append([]client.Object{namespace}, objects...) {
		if err := s.client.Create(ctx, object); err != nil {
			return fmt.Errorf("creating %T %s: %w", object, object.GetName(), err)
		}
	}
	configFile, err := s.files(objects)
	if err != nil {
		return err
	}
	for range 2 { // the first one leads
		r, err := startReplica(configFile)
		if err != nil {
			return err
		}
		s.replicas = append(s.replicas, r)
		if err := expect.Eventually(ctx, 60*time.Second, "the lease to be held", func(ctx context.Context) error {
			_, err := leader(ctx, s.client)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// leader returns who holds the lease.
func leader(ctx context.Context, c client.Client) (string, error) {
	var lease coordinationv1.Lease
	if err := c.Get(ctx, client.ObjectKey{Namespace: "kruise-game-system", Name: "index-offset-scheduler"}, &lease); err != nil {
		return "", err
	}
	if lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" {
		return "", errors.New("nobody holds the lease")
	}
	return *lease.Spec.HolderIdentity, nil
}

// files writes the configuration of the ConfigMap, with one line more: where the credentials of the ServiceAccount are.
func (s *shared) files(objects []client.Object) (string, error) {
	configMap, ok := manifests.Find[*corev1.ConfigMap](objects, "index-offset-scheduler-config")
	if !ok {
		return "", errors.New("manifests/scheduler has no configuration")
	}
	account, err := s.env.AddUser(envtest.User{
		Name:   "system:serviceaccount:kruise-game-system:index-offset-scheduler",
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:kruise-game-system", "system:authenticated"},
	}, nil)
	if err != nil {
		return "", err
	}
	kubeconfig, err := account.KubeConfig()
	if err != nil {
		return "", err
	}
	if s.folder, err = os.MkdirTemp("", "berth-scheduler-"); err != nil {
		return "", err
	}
	kubeconfigFile, configFile := filepath.Join(s.folder, "kubeconfig"), filepath.Join(s.folder, "scheduler-config.yaml")
	config := fmt.Sprintf("clientConnection: {kubeconfig: %q}\n%s", kubeconfigFile, configMap.Data["scheduler-config.yaml"])
	return configFile, errors.Join(os.WriteFile(kubeconfigFile, kubeconfig, 0o600), os.WriteFile(configFile, []byte(config), 0o600))
}

func (s *shared) stop() error {
	var errs []error
	for _, r := range s.replicas {
		errs = append(errs, r.stop())
	}
	return errors.Join(append(errs, s.env.Stop(), os.RemoveAll(s.folder))...)
}

// replica is one scheduler.
type replica struct {
	command *exec.Cmd
	log     bytes.Buffer // only to be read when the process has ended
	ended   bool
}

func startReplica(configFile string) (*replica, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	r := &replica{command: exec.Command(program, "--config="+configFile, "--secure-port=0", "--v=2")}
	r.command.Env = append(os.Environ(), asScheduler+"=1")
	r.command.Stderr = &r.log
	return r, r.command.Start()
}

func (r *replica) kill() error {
	if r.ended {
		return nil
	}
	r.ended = true
	if err := r.command.Process.Kill(); err != nil {
		return err
	}
	var exit *exec.ExitError
	if err := r.command.Wait(); !errors.As(err, &exit) {
		return err
	}
	return nil
}

// stop also looks for requests that the scheduler had no right to: the rights in manifests/scheduler are enough.
func (r *replica) stop() error {
	err := r.kill()
	for line := range strings.Lines(r.log.String()) {
		if strings.Contains(line, "forbidden") {
			return errors.Join(err, fmt.Errorf("the scheduler was denied: %s", line))
		}
	}
	return err
}

// world is one test's part of the cluster: a namespace, and nodes that only its pods may use.
type world struct {
	*testing.T
	client.Client
	shared    *shared
	namespace string
	profile   string
}

// newWorld makes ready nodes n0, n1, ...
func newWorld(t *testing.T, profile string, nodes int) *world {
	t.Helper()
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		t.Skip(apiserver.SkipReason)
	}
	s, err := suite()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, Client: s.client, shared: s, profile: profile}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "world-"}}
	w.must(w.Create(t.Context(), namespace))
	w.namespace = namespace.Name
	for i := range nodes {
		w.addNode(w.node(i))
	}
	return w
}

func (w *world) node(i int) string { return fmt.Sprintf("%s-n%d", w.namespace, i) }

func (w *world) addNode(name string) {
	w.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		corev1.LabelHostname: name, "world": w.namespace,
	}}}
	w.must(w.Create(w.Context(), node))
	node.Status.Capacity = corev1.ResourceList{corev1.ResourceCPU: quantity("64"), corev1.ResourceMemory: quantity("64Gi"), corev1.ResourcePods: quantity("500")}
	node.Status.Allocatable = node.Status.Capacity
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "Test"}}
	w.must(w.Status().Update(w.Context(), node))
	node.Spec.Taints = nil // admission adds "not ready", which a node controller would remove
	w.must(w.Update(w.Context(), node))
	w.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := w.Delete(ctx, node); err != nil {
			w.Errorf("removing node %s: %v", name, err)
		}
	})
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// shortName is the name of a node without the world's.
func (w *world) shortName(node string) string { return strings.TrimPrefix(node, w.namespace+"-") }
