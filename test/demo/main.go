// SPDX-License-Identifier: Apache-2.0

// Command demo shows on a running playground what Berth does: it applies a sample GameServerSet, waits for its servers,
// prints where players reach them, and scales the set up and down. It ends with 0 only if all of it happened.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

func main() {
	kubeconfig := flag.String("kubeconfig", os.Getenv("KUBECONFIG"), "kubeconfig of the cluster")
	sample := flag.String("sample", "manifests/samples/arena.yaml", "GameServerSet to apply")
	namespace := flag.String("namespace", "", "namespace to use instead of the sample's own")
	timeout := flag.Duration("timeout", 2*time.Minute, "longest wait of each step")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, *kubeconfig, *sample, *namespace, *timeout); err != nil {
		fmt.Fprintf(os.Stderr, "demo: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, kubeconfig, sample, namespace string, timeout time.Duration) error {
	set, err := load(sample)
	if err != nil {
		return err
	}
	if namespace != "" {
		set.Namespace = namespace
	}
	c, err := connect(kubeconfig)
	if err != nil {
		return err
	}
	s := &show{client: c, out: out, set: set, timeout: timeout}
	return s.run(ctx)
}

func connect(kubeconfig string) (client.Client, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading kubeconfig %q: %w", kubeconfig, err)
	}
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("registering core types: %w", err)
	}
	if err := gamev1alpha1.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("registering game types: %w", err)
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", config.Host, err)
	}
	return c, nil
}
