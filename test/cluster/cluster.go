// SPDX-License-Identifier: Apache-2.0

// Package cluster drives a playground with Berth on it for end-to-end tests, through the same commands a person would
// type. Nothing here reaches into the playground's or Berth's code.
package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

// BinVariable names the environment variable with the folder of the built programs. Without it there is nothing to test.
const BinVariable = "BERTH_BIN"

// ErrNoPrograms says that the tests were started without built programs.
var ErrNoPrograms = errors.New(BinVariable + " is not set; run make test-e2e, which builds the programs first")

// Options describe the cluster.
type Options struct {
	// Root is the root folder of the repository.
	Root string
	// State is the playground's state folder.
	State string
	// Log receives what the playground prints.
	Log io.Writer
	// Nodes is the number of fake nodes.
	Nodes int
}

// Cluster is one running playground with Berth on it.
type Cluster struct {
	Options
	// Client acts as the cluster's administrator.
	Client client.WithWatch
	// Config is the administrator's connection.
	Config *rest.Config

	bin string
}

// Start brings a playground up and installs Berth from manifests/.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	bin := os.Getenv(BinVariable)
	if bin == "" {
		return nil, ErrNoPrograms
	}
	c := &Cluster{Options: o, bin: bin}
	if _, err := c.Playground(ctx, "up", "--audit", "--nodes", fmt.Sprint(o.Nodes)); err != nil {
		return c, err
	}
	for _, layer := range []string{"manifests/default", "manifests/scheduler"} {
		if err := c.Install(ctx, layer); err != nil {
			return c, err
		}
	}
	kubeconfig, err := c.Playground(ctx, "kubeconfig")
	if err != nil {
		return c, err
	}
	return c, c.connect(strings.TrimSpace(kubeconfig))
}

// Install applies a kustomization of the repository and runs its Deployments.
func (c *Cluster) Install(ctx context.Context, layer string) error {
	_, err := c.Playground(ctx, "install", "-k", filepath.Join(c.Root, layer),
		"--binary", "manager="+filepath.Join(c.bin, "manager"),
		"--binary", "scheduler="+filepath.Join(c.bin, "scheduler"))
	return err
}

// Stop ends the playground.
func (c *Cluster) Stop(ctx context.Context) error {
	_, err := c.Playground(ctx, "down")
	return err
}

// Playground runs one command of the playground and returns what it printed to standard output.
func (c *Cluster) Playground(ctx context.Context, args ...string) (string, error) {
	stdout, _, err := c.run(ctx, nil, append([]string{"--state", c.State}, args...)...)
	return stdout, err
}

// Apply does what kubectl apply does with a document, and returns kubectl's whole answer, warnings included.
func (c *Cluster) Apply(ctx context.Context, document []byte, flags ...string) (string, error) {
	args := append([]string{"--state", c.State, "kubectl", "--", "apply", "-f", "-"}, flags...)
	_, answer, err := c.run(ctx, bytes.NewReader(document), args...)
	return answer, err
}

// Kill sends SIGKILL to a component, for example "manager/0".
func (c *Cluster) Kill(ctx context.Context, component string) error {
	_, err := c.Playground(ctx, "kill", component, "--signal", "9")
	return err
}

// run returns standard output, and standard output and error together.
func (c *Cluster) run(ctx context.Context, stdin io.Reader, args ...string) (string, string, error) {
	var stdout bytes.Buffer
	var both sharedBuffer
	command := exec.CommandContext(ctx, filepath.Join(c.bin, "playground"), args...)
	command.Dir = c.Root
	command.Stdin = stdin
	command.Stdout = io.MultiWriter(&stdout, &both)
	command.Stderr = &both
	err := command.Run()
	if c.Log != nil {
		fmt.Fprint(c.Log, both.String())
	}
	if err != nil {
		return stdout.String(), both.String(), fmt.Errorf("playground %s: %w\n%s", strings.Join(args, " "), err, both.String())
	}
	return stdout.String(), both.String(), nil
}

func (c *Cluster) connect(kubeconfig string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("reading kubeconfig %q: %w", kubeconfig, err)
	}
	config.QPS, config.Burst = 500, 1000
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, gamev1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return fmt.Errorf("registering types: %w", err)
		}
	}
	c.Config = config
	if c.Client, err = client.NewWithWatch(config, client.Options{Scheme: scheme}); err != nil {
		return fmt.Errorf("connecting to %s: %w", config.Host, err)
	}
	return nil
}

// sharedBuffer takes standard output and standard error, which arrive on two goroutines.
type sharedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *sharedBuffer) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(data)
}

func (b *sharedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}
