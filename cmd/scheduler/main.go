// SPDX-License-Identifier: Apache-2.0

// Command scheduler is kube-scheduler with Berth's plugins compiled in. It takes kube-scheduler's flags and
// configuration; a profile uses one of our plugins by naming it.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // metrics of the API client
	_ "k8s.io/component-base/metrics/prometheus/version"  // the build as a metric
	"k8s.io/kubernetes/cmd/kube-scheduler/app"

	"github.com/berthgames/berth/scheduler"
)

func main() {
	var options []app.Option
	for name, factory := range scheduler.Plugins() {
		options = append(options, app.WithPlugin(name, factory))
	}
	os.Exit(cli.Run(app.NewSchedulerCommand(options...)))
}
