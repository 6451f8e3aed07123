// SPDX-License-Identifier: Apache-2.0

package multicall

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"

	"github.com/berthgames/berth/playground/internal/nodes"
	"github.com/berthgames/berth/playground/internal/program"
)

// runKubelets plays the kubelets of the fake nodes and, with --probes, OpenKruise's daemons on them.
func runKubelets() int {
	flags := flag.NewFlagSet(program.Kubelets, flag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "Path of the kubeconfig.")
	probes := flags.Bool("probes", false, "Also answer the probes of PodProbeMarkers; OpenKruise must be installed.")
	verbose := flags.Bool("verbose", false, "Log every write.")
	_ = flags.Parse(os.Args[1:]) // leaves the process by itself when it fails

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := simulate(ctx, nodes.KubeletOptions{Kubeconfig: *kubeconfig, Log: os.Stderr, Verbose: *verbose}, *probes); err != nil {
		fmt.Fprintln(os.Stderr, "kubelets:", err)
		return 1
	}
	return 0
}

func simulate(ctx context.Context, o nodes.KubeletOptions, probes bool) error {
	if !probes {
		return nodes.RunKubelets(ctx, o)
	}
	config, err := clientcmd.BuildConfigFromFlags("", o.Kubeconfig)
	if err != nil {
		return fmt.Errorf("loading kubeconfig: %w", err)
	}
	reporter, err := nodes.NewProbeReporter(config, clock.RealClock{})
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return reporter.Run(ctx) })
	group.Go(func() error { return nodes.RunKubelets(ctx, o) })
	return group.Wait()
}
