// SPDX-License-Identifier: Apache-2.0

package processpod

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthgames/berth/playground/internal/freeport"
	"github.com/berthgames/berth/playground/internal/probe"
	"github.com/berthgames/berth/playground/internal/supervisor"
)

// grace is the time for a process pod to stop by itself. The pods' own 30 s would make "down" feel broken.
const grace = 5 * time.Second

// pod is one replica of a Deployment.
type pod struct {
	component string
	revision  string
	identity  identity
	template  *corev1.PodTemplateSpec
	binary    string
	folder    string
	log       string
	baseEnv   []string
	sources   Sources
	// kubeconfig writes a kubeconfig for the pod's service account and returns its path.
	kubeconfig func(ctx context.Context) (string, error)

	mu    sync.Mutex
	ports map[int32]int // containerPort to loopback port
}

func (p *pod) container() *corev1.Container { return &p.template.Spec.Containers[0] }

func (p *pod) spec() supervisor.Spec {
	s := supervisor.Spec{Name: p.component, Revision: p.revision, Log: p.log, Grace: grace, Command: p.command}
	if p.container().ReadinessProbe != nil {
		s.Ready = p.ready
	}
	return s
}

// command prepares a start of the process.
func (p *pod) command(ctx context.Context) (supervisor.Command, error) {
	home, tmp := filepath.Join(p.folder, "home"), filepath.Join(p.folder, "tmp")
	if err := errors.Join(os.MkdirAll(home, 0o700), os.MkdirAll(tmp, 0o700)); err != nil {
		return supervisor.Command{}, fmt.Errorf("making folders of the pod: %w", err)
	}
	ports, err := p.choosePorts()
	if err != nil {
		return supervisor.Command{}, err
	}
	kubeconfig, err := p.kubeconfig(ctx)
	if err != nil {
		return supervisor.Command{}, err
	}
	if err := p.writeVolumes(ctx, kubeconfig); err != nil {
		return supervisor.Command{}, err
	}
	vars, err := variables(p.container().Env, p.identity, p.sources)
	if err != nil {
		return supervisor.Command{}, err
	}
	mounts := mountsOf(p.container(), p.volumes())
	run := invoke(p.container(), vars, mounts, ports)
	dir := p.folder
	if p.container().WorkingDir != "" {
		dir = rewritePaths(filepath.Clean(p.container().WorkingDir), mounts)
	}
	return supervisor.Command{
		Path: p.binary, Args: run.args, Dir: dir, Ports: shown(ports),
		Env: slices.Concat(p.baseEnv, []string{
			"HOME=" + home, "TMPDIR=" + tmp, "HOSTNAME=" + p.identity.name, "KUBECONFIG=" + kubeconfig,
		}, run.env),
	}, nil
}

func (p *pod) volumes() string { return filepath.Join(p.folder, "volumes") }

// writeVolumes fills the volumes, before a start and whenever a ConfigMap or Secret has changed.
func (p *pod) writeVolumes(ctx context.Context, kubeconfig string) error {
	v := volumes{sources: p.sources, namespace: p.identity.namespace, account: p.identity.account, kubeconfig: kubeconfig}
	for _, volume := range p.template.Spec.Volumes {
		if err := v.write(ctx, filepath.Join(p.volumes(), volume.Name), volume); err != nil {
			return err
		}
	}
	return nil
}

// choosePorts returns the ports of the pod, which stay the same over restarts unless somebody else has taken one.
func (p *pod) choosePorts() (map[int32]int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	wanted := slices.Sorted(maps.Keys(declared(p.container())))
	var had []int
	for _, port := range wanted {
		if local, ok := p.ports[port]; ok {
			had = append(had, local)
		}
	}
	locals, err := freeport.Keep(had, len(wanted))
	if err != nil {
		return nil, err
	}
	p.ports = map[int32]int{}
	for i, port := range wanted {
		p.ports[port] = locals[i]
	}
	return maps.Clone(p.ports), nil
}

// localPort returns the port that a container port is mapped to; 0 before the first start.
func (p *pod) localPort(port int32) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ports[port]
}

// ready asks as the readiness probe says, but at the mapped port.
func (p *pod) ready(ctx context.Context) error {
	get := p.container().ReadinessProbe.HTTPGet
	port, _ := containerPort(p.container(), get.Port) // checked by Check
	scheme := "http"
	if get.Scheme == corev1.URISchemeHTTPS {
		scheme = "https"
	}
	url := scheme + "://" + freeport.Address(p.localPort(port)) + "/" + strings.TrimPrefix(get.Path, "/")
	return probe.HTTP(url)(ctx)
}

// shown returns ports as the status shows them: by the number that the template declares.
func shown(ports map[int32]int) map[string]int {
	out := map[string]int{}
	for port, local := range ports {
		out[strconv.Itoa(int(port))] = local
	}
	return out
}
