// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	utilfeature "github.com/openkruise/kruise/pkg/util/feature"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
)

// loopback is the only address this manager listens on.
const loopback = "127.0.0.1"

// options are the settings of one manager process.
type options struct {
	kubeconfig     string
	healthAddr     string
	metricsAddr    string
	qps            float32
	burst          int
	leaderElect    bool
	leaseDuration  time.Duration
	renewDeadline  time.Duration
	retryPeriod    time.Duration
	cacheSyncLimit time.Duration
}

// parseOptions reads the command line. flags also receives the flags that the packages of OpenKruise put into
// flag.CommandLine (workers per controller and the like), its feature gates and klog's flags.
func parseOptions(flags *pflag.FlagSet, args []string) (options, error) {
	var o options
	flags.StringVar(&o.healthAddr, "health-addr", loopback+":0", "Address of /healthz and /readyz.")
	flags.StringVar(&o.metricsAddr, "metrics-addr", "0", `Address of /metrics; "0" serves none.`)
	flags.Float32Var(&o.qps, "kube-api-qps", 500, "Requests per second to the API server.")
	flags.IntVar(&o.burst, "kube-api-burst", 1000, "Requests that may exceed --kube-api-qps for a moment.")
	flags.BoolVar(&o.leaderElect, "leader-elect", true, "Hold a lease while the controllers run.")
	flags.DurationVar(&o.leaseDuration, "leader-elect-lease-duration", 10*time.Second, "Age at which a lease that was not renewed may be taken over.")
	flags.DurationVar(&o.renewDeadline, "leader-elect-renew-deadline", 8*time.Second, "Time after which a leader that cannot renew stops.")
	flags.DurationVar(&o.retryPeriod, "leader-elect-retry-period", time.Second, "Pause between attempts to take or renew the lease.")
	flags.DurationVar(&o.cacheSyncLimit, "cache-sync-timeout", 2*time.Minute, "Time a controller waits for its first list of objects.")
	utilfeature.DefaultMutableFeatureGate.AddFlag(flags)
	klog.InitFlags(nil)
	flags.AddGoFlagSet(flag.CommandLine)
	if err := flags.Parse(args); err != nil {
		return options{}, fmt.Errorf("parsing flags: %w", err)
	}
	if flags.NArg() > 0 {
		return options{}, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	// controller-runtime owns --kubeconfig; it came in with flag.CommandLine.
	o.kubeconfig = flags.Lookup("kubeconfig").Value.String()
	if o.kubeconfig == "" {
		o.kubeconfig = os.Getenv("KUBECONFIG")
	}
	if o.kubeconfig == "" {
		return options{}, fmt.Errorf("neither --kubeconfig nor KUBECONFIG is set")
	}
	return o, nil
}
