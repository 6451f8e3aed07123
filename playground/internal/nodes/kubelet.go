// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/kwok/pkg/kwok/controllers"
	"sigs.k8s.io/kwok/pkg/log"
	kwokclient "sigs.k8s.io/kwok/pkg/utils/client"
)

// The pace of the simulated kubelet. KWOK's own, four workers of each kind, is far too slow for thousands of pods.
const (
	podWorkers, nodeWorkers, leaseWorkers, podListWorkers = 16, 16, 8, 8

	// leaseSeconds is how long a node lease is valid. KWOK renews after a quarter of it; the node lifecycle controller
	// gives a node up after 50 s without renewal (its flag --node-monitor-grace-period), so a quarter must stay below.
	leaseSeconds = 120
)

// identity holds the node leases. It is the same for every start, so that a kubelet that was killed and started again
// need not wait until its own leases run out. Nobody starts two of them for one cluster.
const identity = "playground-kubelet"

// KubeletOptions configure [RunKubelets].
type KubeletOptions struct {
	// Kubeconfig is the path of the file that names the API server and the credentials.
	Kubeconfig string
	// Log receives warnings and errors, one JSON object a line. Nil means none.
	Log io.Writer
	// Verbose also logs every write.
	Verbose bool
	// Clock dates what is written and times what waits. Nil means the real one.
	Clock clock.Clock
}

// RunKubelets simulates the kubelets of all nodes made by [Apply] until ctx ends. It opens no port.
func RunKubelets(ctx context.Context, o KubeletOptions) error {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	level := log.LevelWarn
	if o.Verbose {
		level = log.LevelInfo
	}
	ctx = log.NewContext(ctx, log.NewLogger(o.Log, level))
	config, err := kubeletConfig(ctx, o)
	if err != nil {
		return err
	}
	controller, err := controllers.NewController(config)
	if err != nil {
		return fmt.Errorf("building simulated kubelet: %w", err)
	}
	if err := controller.Start(ctx); err != nil {
		return fmt.Errorf("starting simulated kubelet: %w", err)
	}
	<-ctx.Done()
	return nil
}

func kubeletConfig(ctx context.Context, o KubeletOptions) (controllers.Config, error) {
	clients, err := kwokclient.NewClientset("", o.Kubeconfig)
	if err != nil {
		return controllers.Config{}, fmt.Errorf("building clients: %w", err)
	}
	config, err := clients.ToRESTConfig()
	if err != nil {
		return controllers.Config{}, fmt.Errorf("loading kubeconfig: %w", err)
	}
	typedConfig := rest.CopyConfig(config)
	typedConfig.ContentType = runtime.ContentTypeProtobuf
	typedConfig.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	typed, err := kubernetes.NewForConfig(typedConfig)
	if err != nil {
		return controllers.Config{}, fmt.Errorf("building client: %w", err)
	}
	restClient, err := rest.RESTClientFor(config)
	if err != nil {
		return controllers.Config{}, fmt.Errorf("building raw client: %w", err)
	}
	network, err := newNetwork(ctx, typed)
	if err != nil {
		return controllers.Config{}, err
	}
	return controllers.Config{
		Clock:                             o.Clock,
		ID:                                identity,
		TypedClient:                       typed,
		RESTClient:                        restClient,
		ManageNodesWithAnnotationSelector: annotationFake + "=fake",
		LocalStages:                       stages(),
		FuncMap: templateFuncs(o.Clock, func(pod *corev1.Pod) (hostIPs, podIPs []string, err error) {
			return network.addresses(ctx, pod)
		}),
		PodPlayStageParallelism:       podWorkers,
		NodePlayStageParallelism:      nodeWorkers,
		NodeLeaseParallelism:          leaseWorkers,
		NodeLeaseDurationSeconds:      leaseSeconds,
		PodsOnNodeSyncParallelism:     podListWorkers,
		EnablePodsOnNodeSyncListPager: true,
	}, nil
}
