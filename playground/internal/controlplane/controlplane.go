// SPDX-License-Identifier: Apache-2.0

// Package controlplane starts etcd and the components of Kubernetes as supervised processes of the playground binary.
package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/berthgames/berth/playground/internal/program"
	"github.com/berthgames/berth/playground/internal/progress"
	"github.com/berthgames/berth/playground/internal/state"
	"github.com/berthgames/berth/playground/internal/supervisor"
)

const (
	// attempts to start with other ports: somebody else may take a port between our choice and its use.
	attempts = 3
	// startTimeout is the time for one component to become ready, on a machine that is busy with other things.
	startTimeout = 2 * time.Minute
)

// ControlPlane is the control plane of one cluster. Fill the fields, then call Start once.
type ControlPlane struct {
	Dir        state.Dir
	Supervisor *supervisor.Supervisor
	Progress   *progress.Printer
	// Binary is the path of the playground binary, and Env the environment of its processes.
	Binary string
	Env    []string
	// Audit turns on the API server's audit log.
	Audit bool
	// EtcdFsync makes etcd survive a crash of the machine, at the price of speed.
	EtcdFsync bool

	client *kubernetes.Clientset
}

// Start brings up etcd, the API server, the controller manager and the scheduler and waits until they are ready.
func (c *ControlPlane) Start(ctx context.Context) error {
	done := c.Progress.Step()
	keys, err := newPKI(c.Dir)
	if err != nil {
		return err
	}
	if err := c.writeConfigs(); err != nil {
		return err
	}
	done("keys and certificates made")
	for attempt := 1; ; attempt++ {
		err := c.try(ctx, keys)
		var exited *supervisor.ExitedError
		if err == nil || attempt == attempts || !errors.As(err, &exited) {
			return err
		}
		c.Progress.Say("%v; trying again with other ports", err)
		c.Supervisor.Remove(program.Scheduler, program.ControllerManager, program.APIServer, program.Etcd)
		if err := os.RemoveAll(c.Dir.Join("etcd")); err != nil {
			return fmt.Errorf("removing data of the failed start: %w", err)
		}
	}
}

// Owns tells whether a component belongs to the cluster itself.
func Owns(component string) bool {
	switch component {
	case program.Etcd, program.APIServer, program.ControllerManager, program.Scheduler, program.Kubelets:
		return true
	default:
		return false
	}
}

// StartKubelets brings the simulated nodes to life. With probes they also answer the probes of OpenKruise, whose kinds
// must exist.
func (c *ControlPlane) StartKubelets(ctx context.Context, probes bool) error {
	return c.start(ctx, c.kubelets(probes))
}

// Config returns the daemon's own way to the API server, without rate limit.
func (c *ControlPlane) Config() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", c.Dir.Join("daemon.kubeconfig"))
	if err != nil {
		return nil, fmt.Errorf("loading kubeconfig: %w", err)
	}
	config.UserAgent = "playground-daemon"
	config.QPS = -1
	return config, nil
}

func (c *ControlPlane) writeConfigs() error {
	return errors.Join(
		state.WriteFile(c.Dir.Join(egressConfigName), []byte(egressConfig)),
		state.WriteFile(c.Dir.Join(auditPolicyName), []byte(auditPolicy)),
	)
}

// try starts everything on ports of its choice.
func (c *ControlPlane) try(ctx context.Context, keys *pki) error {
	p, err := pickPorts()
	if err != nil {
		return err
	}
	if err := c.writeKubeconfigs(keys, p.server()); err != nil {
		return err
	}
	if err := c.start(ctx, c.etcd(p)); err != nil {
		return err
	}
	if err := c.start(ctx, c.apiServer(p, keys)); err != nil {
		return err
	}
	return c.start(ctx, c.controllerManager(p, keys), c.scheduler(p))
}

// writeKubeconfigs makes a kubeconfig for everybody who has a client certificate, and the daemon's client.
func (c *ControlPlane) writeKubeconfigs(keys *pki, server string) error {
	err := errors.Join(
		keys.kubeconfig(c.Dir.Kubeconfig(), server, "playground-admin", "system:masters"),
		keys.kubeconfig(c.Dir.Join("daemon.kubeconfig"), server, "playground-daemon", "system:masters"),
		keys.kubeconfig(c.Dir.Join(program.Kubelets+".kubeconfig"), server, "playground-kubelets", "system:masters"),
		keys.kubeconfig(c.Dir.Join(program.ControllerManager+".kubeconfig"), server, "system:kube-controller-manager"),
		keys.kubeconfig(c.Dir.Join(program.Scheduler+".kubeconfig"), server, "system:kube-scheduler"),
	)
	if err != nil {
		return err
	}
	config, err := c.Config()
	if err != nil {
		return err
	}
	if c.client, err = kubernetes.NewForConfig(config); err != nil {
		return fmt.Errorf("building client: %w", err)
	}
	return nil
}

// start starts components at the same time and waits until all are ready.
func (c *ControlPlane) start(ctx context.Context, specs ...supervisor.Spec) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	done := c.Progress.Step()
	for _, spec := range specs {
		if err := c.Supervisor.Add(ctx, spec); err != nil {
			return err
		}
	}
	for _, spec := range specs {
		if err := c.Supervisor.WaitFirstReady(ctx, spec.Name); err != nil {
			return err
		}
		done("%s ready", spec.Name)
	}
	return nil
}

// apiReady asks the API server with credentials, so that it is not ready before authorization works.
func (c *ControlPlane) apiReady(ctx context.Context) error {
	return c.client.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
}
