// SPDX-License-Identifier: Apache-2.0

// Package multicall holds the programs that the playground binary can turn into.
package multicall

import (
	"os"
	_ "time/tzdata" // CronJob schedules name time zones, also on machines without a zone database.

	"go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // kubectl accepts every kind of credentials in a kubeconfig.
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client metrics of the components
	_ "k8s.io/component-base/metrics/prometheus/version"  // build information metric of the components
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"

	"github.com/berthgames/berth/playground/internal/program"
)

// Program runs a whole program with the command line in os.Args and returns its exit code. A process may run one
// program once: the components register flags, metrics and signal handlers for the whole process.
type Program func() int

// Lookup returns the program called name.
func Lookup(name string) (Program, bool) {
	switch name {
	case program.Etcd:
		return runEtcd, true
	case program.APIServer:
		return func() int { return cli.Run(apiserver.NewAPIServerCommand()) }, true
	case program.ControllerManager:
		return func() int { return cli.Run(controllermanager.NewControllerManagerCommand()) }, true
	case program.Scheduler:
		return func() int { return cli.Run(scheduler.NewSchedulerCommand()) }, true
	case program.Kubelets:
		return runKubelets, true
	case program.Kubectl:
		return runKubectl, true
	default:
		return nil, false
	}
}

func runEtcd() int {
	etcdmain.Main(os.Args) // leaves the process by itself when it fails
	return 0
}

func runKubectl() int {
	// kubectl logs while it builds its commands, before any flag is parsed.
	if _, err := logs.GlogSetter(kubectl.GetLogVerbosity(os.Args)); err != nil {
		kubectlutil.CheckErr(err)
	}
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		kubectlutil.CheckErr(err) // prints the error as users of kubectl know it, and exits
	}
	return 0
}
