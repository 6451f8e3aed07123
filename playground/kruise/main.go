// SPDX-License-Identifier: Apache-2.0

// Command kruise-manager runs the controllers and admission webhooks of OpenKruise as a local process.
//
// It is a module of its own because OpenKruise 1.8.0 needs the Kubernetes 1.30 libraries. Unlike the manager that
// OpenKruise ships it listens on the loopback interface only, needs no log directory and serves no profiles.
//
// The webhook side is configured by environment, because the packages of OpenKruise read it there:
// WEBHOOK_HOST, WEBHOOK_PORT, WEBHOOK_CERT_DIR and POD_NAMESPACE.
package main

import (
	"fmt"
	"os"
	_ "time/tzdata" // AdvancedCronJob schedules name time zones, also on machines without a zone database.

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	opts, err := parseOptions(pflag.CommandLine, os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "kruise-manager:", err)
		os.Exit(2)
	}
	ctrl.SetLogger(klog.Background())
	if err := run(ctrl.SetupSignalHandler(), opts); err != nil {
		klog.ErrorS(err, "Manager stopped")
		klog.Flush()
		os.Exit(1)
	}
}
