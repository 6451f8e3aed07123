// SPDX-License-Identifier: Apache-2.0

package processpod

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/berthgames/berth/playground/internal/control"
	"github.com/berthgames/berth/playground/internal/serviceaccount"
	"github.com/berthgames/berth/playground/internal/state"
	"github.com/berthgames/berth/playground/internal/supervisor"
)

// Manager keeps the process pods of all Deployments. Safe for concurrent use.
type Manager struct {
	dir        state.Dir
	supervisor *supervisor.Supervisor
	env        []string
	sources    Sources
	services   corelisters.ServiceLister
	// kubeconfig writes a kubeconfig for a service account and returns its path.
	kubeconfig func(ctx context.Context, namespace, account string) (string, error)

	mu        sync.Mutex
	workloads map[types.NamespacedName]*workload
}

// workload is one Deployment.
type workload struct {
	group string
	pods  []*pod // by index; while it rolls, some are of the revision before
	// cancel ends the replacing of pods, which is over when done is closed.
	cancel context.CancelFunc
	done   chan struct{}
}

// Start returns a manager that follows the cluster of config until ctx ends. env is what all processes get.
func Start(ctx context.Context, dir state.Dir, config *rest.Config, s *supervisor.Supervisor, env []string) (*Manager, error) {
	m := &Manager{
		dir: dir, supervisor: s, env: env, workloads: map[types.NamespacedName]*workload{},
		kubeconfig: func(ctx context.Context, namespace, account string) (string, error) {
			return serviceaccount.Write(ctx, dir, config, namespace, account)
		},
	}
	cluster, err := watch(ctx, config, m.refresh)
	if err != nil {
		return nil, err
	}
	m.sources, m.services = cluster, cluster.services
	return m, nil
}

// Close ends the replacing of pods and returns when it is over. Pods that run stay.
func (m *Manager) Close() {
	m.mu.Lock()
	var over []chan struct{}
	for _, w := range m.workloads {
		w.cancel()
		over = append(over, w.done)
	}
	m.mu.Unlock()
	for _, done := range over {
		<-done
	}
}

// Apply runs Deployments, or brings those that run up to date: pods of another revision (template or program) are
// replaced one after the other, each when the one before is ready, in the background. Nothing is done when one of the
// Deployments cannot be run. The reply names the components with the revisions they will have.
func (m *Manager) Apply(ctx context.Context, r control.WorkloadRequest) (control.WorkloadReply, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var (
		reply control.WorkloadReply
		plans []func()
		errs  []error
	)
	for i := range r.Deployments {
		d := &r.Deployments[i]
		pods, err := m.pods(d, r.Binaries)
		if err != nil {
			errs = append(errs, fmt.Errorf("deployment %s/%s: %w", d.Namespace, d.Name, err))
			continue
		}
		plans = append(plans, func() { m.replace(ctx, d, pods) })
		for _, p := range pods {
			reply.Components = append(reply.Components, control.Component{Name: p.component, Revision: p.revision})
		}
	}
	if err := errors.Join(errs...); err != nil {
		return control.WorkloadReply{}, err
	}
	for _, plan := range plans {
		plan()
	}
	return reply, nil
}

// pods makes the pods of a Deployment, without starting them.
func (m *Manager) pods(d *appsv1.Deployment, binaries map[string]string) ([]*pod, error) {
	if errs := Check(d, binaries); len(errs) > 0 {
		return nil, errs.ToAggregate()
	}
	group := groupOf(d)
	for key, w := range m.workloads {
		if w.group == group && key != keyOf(d) {
			return nil, fmt.Errorf("its processes would be called %q, as those of deployment %s are", group, key)
		}
	}
	binary := binaries[group]
	revision, err := revisionOf(d, binary)
	if err != nil {
		return nil, err
	}
	account := d.Spec.Template.Spec.ServiceAccountName
	if account == "" {
		account = "default"
	}
	var pods []*pod
	for i := range ptr.Deref(d.Spec.Replicas, 1) {
		component, name := componentName(group, int(i)), fmt.Sprintf("%s-%d", d.Name, i)
		pods = append(pods, &pod{
			component: component, revision: revision, template: &d.Spec.Template, binary: binary,
			folder: m.dir.Join("pods", d.Namespace, name), log: m.dir.Log(component),
			baseEnv: m.env, sources: m.sources,
			identity: identity{
				namespace: d.Namespace, name: name, uid: string(uuid.NewUUID()), account: account,
				labels: d.Spec.Template.Labels, annotations: d.Spec.Template.Annotations,
			},
			kubeconfig: func(ctx context.Context) (string, error) {
				return m.kubeconfig(ctx, d.Namespace, account)
			},
		})
	}
	return pods, nil
}

// revisionOf changes when the template or the program does.
func revisionOf(d *appsv1.Deployment, binary string) (string, error) {
	info, err := os.Stat(binary)
	if err != nil {
		return "", fmt.Errorf("looking at the program: %w", err)
	}
	raw, err := json.Marshal([]any{d.Spec.Template, binary, info.Size(), info.ModTime()})
	if err != nil {
		return "", fmt.Errorf("encoding template: %w", err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:5]), nil
}

func keyOf(d *appsv1.Deployment) types.NamespacedName {
	return types.NamespacedName{Namespace: d.Namespace, Name: d.Name}
}
