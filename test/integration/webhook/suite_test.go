// SPDX-License-Identifier: Apache-2.0

// Package webhook tests the whole manager program, its webhook above all, against a real API server: with the shipped
// manifests, and with no more rights than they give.
package webhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/berthgames/berth/cmd/manager/app"
	"github.com/berthgames/berth/test/apiserver"
	"github.com/berthgames/berth/test/expect"
	"github.com/berthgames/berth/test/manifests"
	"github.com/berthgames/berth/test/sim/kruise"
	"github.com/berthgames/berth/webhook/certs"
)

const (
	systemNamespace = "kruise-game-system"
	account         = "kruise-game-controller-manager"
	patience        = 30 * time.Second
	// Two host ports per node: few enough to see each of them.
	providerConfig = "[kubernetes]\nenable = true\n[kubernetes.hostPort]\nmin_port = 30000\nmax_port = 30001\n"
)

// cluster is the API server of all tests of this package, with the manager running.
var cluster *world

// asManager has this program be the manager instead of the tests, so that it can be killed and started again.
const asManager = "BERTH_TEST_AS_MANAGER"

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(asManager) != "":
		if err := app.Run(ctrl.SetupSignalHandler(), app.Process{Args: os.Args[1:], Getenv: os.Getenv, Stdout: os.Stdout}); err != nil {
			fmt.Fprintln(os.Stderr, "manager:", err)
			os.Exit(1)
		}
	case os.Getenv("KUBEBUILDER_ASSETS") == "":
		os.Exit(m.Run()) // every test skips, and says why
	default:
		os.Exit(runAll(m))
	}
}

func runAll(m *testing.M) int {
	w, err := start()
	if err != nil {
		fmt.Fprintln(os.Stderr, "starting the API server and the manager:", err)
		return 1
	}
	cluster = w
	code := m.Run()
	if err := w.stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stopping:", err)
		return 1
	}
	return code
}

func need(t *testing.T) *world {
	t.Helper()
	if cluster == nil {
		t.Skip(apiserver.SkipReason)
	}
	return cluster
}

// world is an API server with Berth's manifests, and one manager.
type world struct {
	env     *envtest.Environment
	client  client.Client
	config  *rest.Config
	manager *process
	dir     string
	health  string // address of the health server
	webhook string // address of the webhook server
	args    []string
}

// process is one running manager.
type process struct {
	command *exec.Cmd
	ended   chan error
}

// launch starts a manager with the arguments of w, and with others, which win.
func (w *world) launch(stderr io.Writer, args ...string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{command: exec.Command(self, slices.Concat(w.args, args)...), ended: make(chan error, 1)}
	p.command.Env = append(os.Environ(), asManager+"=1")
	p.command.Stdout, p.command.Stderr = stderr, stderr
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("starting the manager: %w", err)
	}
	go func() { p.ended <- p.command.Wait() }()
	return p, nil
}

// ready waits until the manager answers at its health address.
func (p *process) ready(ctx context.Context, health string) error {
	return expect.Eventually(ctx, patience, "the manager to be ready", func(ctx context.Context) error {
		select {
		case err := <-p.ended:
			p.ended <- err
			return fmt.Errorf("it ended: %w", err)
		default:
			return get(ctx, health, "/readyz")
		}
	})
}

// stop asks the manager to end, as the kubelet does, and returns how it did.
func (p *process) stop() error {
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stopping the manager: %w", err)
	}
	return <-p.ended
}

func start() (*world, error) {
	crds, err := kruise.CRDs()
	if err != nil {
		return nil, err
	}
	scheme, err := manifests.Scheme()
	if err != nil {
		return nil, err
	}
	w := &world{env: &envtest.Environment{
		Scheme: scheme, CRDs: crds, CRDDirectoryPaths: []string{filepath.Join(manifests.Root(), "crd")}, ErrorIfCRDPathMissing: true,
	}}
	w.env.ControlPlane.GetAPIServer().Configure().Append("disable-admission-plugins", "ServiceAccount")
	if w.config, err = w.env.Start(); err != nil {
		return nil, err
	}
	if w.client, err = client.New(w.config, client.Options{Scheme: scheme}); err != nil {
		return nil, errors.Join(err, w.stop())
	}
	if err := w.install(); err != nil {
		return nil, errors.Join(err, w.stop())
	}
	if err := w.startManager(); err != nil {
		return nil, errors.Join(err, w.stop())
	}
	return w, nil
}

func (w *world) stop() error {
	var errs []error
	if w.manager != nil {
		errs = append(errs, w.stopManager())
	}
	if w.dir != "" {
		errs = append(errs, os.RemoveAll(w.dir))
	}
	return errors.Join(append(errs, w.env.Stop())...)
}

// install creates what manifests/default holds, with the webhook configurations led to this process: there is no network
// of Services here. What nobody runs is left out.
func (w *world) install() error {
	var err error
	if w.webhook, err = freeAddress(); err != nil {
		return err
	}
	objects, err := manifests.Render("default")
	if err != nil {
		return err
	}
	for _, object := range objects {
		switch o := object.(type) {
		case *apiextensionsv1.CustomResourceDefinition:
			continue // installed by envtest
		case *admissionregistrationv1.MutatingWebhookConfiguration:
			for i := range o.Webhooks {
				leadHere(&o.Webhooks[i].ClientConfig, w.webhook)
			}
		case *admissionregistrationv1.ValidatingWebhookConfiguration:
			for i := range o.Webhooks {
				leadHere(&o.Webhooks[i].ClientConfig, w.webhook)
			}
		}
		if err := w.client.Create(context.Background(), object); err != nil {
			return fmt.Errorf("creating %T %s: %w", object, object.GetName(), err)
		}
	}
	return w.prepare()
}

func leadHere(c *admissionregistrationv1.WebhookClientConfig, address string) {
	_, port, _ := net.SplitHostPort(address)
	c.URL = ptr.To("https://localhost:" + port + *c.Service.Path)
	c.Service = nil
}

// prepare writes the files of the manager and says its arguments. It knows the cluster as its service account only.
func (w *world) prepare() error {
	var err error
	if w.dir, err = os.MkdirTemp("", "berth-webhook-test-"); err != nil {
		return err
	}
	user, err := w.env.AddUser(envtest.User{
		Name:   "system:serviceaccount:" + systemNamespace + ":" + account,
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + systemNamespace},
	}, nil)
	if err != nil {
		return fmt.Errorf("adding the manager's user: %w", err)
	}
	kubeconfig, err := user.KubeConfig()
	if err != nil {
		return fmt.Errorf("writing the manager's kubeconfig: %w", err)
	}
	for name, content := range map[string][]byte{"kubeconfig": kubeconfig, "config.toml": []byte(providerConfig)} {
		if err := os.WriteFile(filepath.Join(w.dir, name), content, 0o600); err != nil {
			return err
		}
	}
	if w.health, err = freeAddress(); err != nil {
		return err
	}
	w.args = []string{
		"--kubeconfig=" + filepath.Join(w.dir, "kubeconfig"),
		"--provider-config=" + filepath.Join(w.dir, "config.toml"),
		"--webhook-server-certs-dir=" + filepath.Join(w.dir, "certs"),
		"--webhook-bind-address=" + w.webhook,
		"--health-probe-bind-address=" + w.health,
		"--metrics-bind-address=0",
		"--zap-log-level=error",
	}
	return nil
}

func (w *world) startManager() error {
	p, err := w.launch(os.Stderr)
	if err != nil {
		return err
	}
	w.manager = p
	return p.ready(context.Background(), w.health)
}

func (w *world) stopManager() error {
	p := w.manager
	w.manager = nil
	return p.stop()
}

// get asks a health server.
func get(ctx context.Context, health, path string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+health+path, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(response.Body)
		return fmt.Errorf("%s: %s: %s", path, response.Status, text)
	}
	return nil
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// namespace makes a namespace for one test.
func (w *world) namespace(t *testing.T) string {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := w.client.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	return ns.Name
}

// user is a client that hears the API server's warnings.
type user struct {
	client.Client
	mu       sync.Mutex
	warnings []string
}

func (w *world) user(t *testing.T) *user {
	t.Helper()
	u := &user{}
	config := rest.CopyConfig(w.config)
	config.WarningHandlerWithContext = u
	var err error
	if u.Client, err = client.New(config, client.Options{Scheme: w.client.Scheme()}); err != nil {
		t.Fatal(err)
	}
	return u
}

// HandleWarningHeaderWithContext notes a warning.
func (u *user) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.warnings = append(u.warnings, text)
}

func (u *user) heard() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return strings.Join(u.warnings, "\n")
}

// secretFilled reports whether the rotator has made the certificate.
func (w *world) secretFilled(ctx context.Context) error {
	secret := &corev1.Secret{}
	if err := w.client.Get(ctx, client.ObjectKey{Namespace: systemNamespace, Name: certs.SecretName}, secret); err != nil {
		return err
	}
	if len(secret.Data[certs.CertFile]) == 0 {
		return errors.New("the Secret is empty")
	}
	return nil
}
