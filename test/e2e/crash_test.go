// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/berthgames/berth/test/cluster"
	"github.com/berthgames/berth/test/expect"
)

const (
	systemNamespace = "kruise-game-system"
	managerLease    = "game-kruise-manager"
)

// TestKillsWhileScalingUp kills all managers and then all schedulers in the middle of 0 to 200. The set
// must still reach exactly 200, never more, and no two pods may ever share a host port of a node.
func TestKillsWhileScalingUp(t *testing.T) {
	const size = 200
	e := newEnv(t, "e2e-kills")
	promises := e.watchPorts(size)
	set := e.create(simple("burst", 0))
	e.patch(set, `{"spec":{"replicas":%d}}`, size)

	e.podsExist(20, size)
	e.killAll("manager")
	e.podsExist(60, size)
	e.killAll("scheduler")

	e.allReady(set.Name, expect.First(size)...)
	promises.check(e)
}

// TestManagerHandsOver kills the leading manager: the other one leads within 20 s, and webhooks answer all the while.
func TestManagerHandsOver(t *testing.T) {
	const handOverLimit = 20 * time.Second
	e := newEnv(t, "e2e-handover")
	e.bothReady("manager")
	before := e.leader(managerLease)
	set := e.create(simple("handover", 1))
	e.allReady(set.Name, 0)

	answers := e.askWebhook(set)
	killed := time.Now()
	e.killLeader()
	e.patch(set, `{"spec":{"replicas":2}}`)
	e.eventually("another manager to lead", func(context.Context) error {
		if now := e.leader(managerLease); now == before || now == "" {
			return fmt.Errorf("the lease is held by %q", now)
		}
		return nil
	})
	if took := time.Since(killed); took > handOverLimit {
		t.Errorf("the hand-over took %s, the limit is %s", took.Round(time.Second), handOverLimit)
	} else {
		t.Logf("hand-over after %s", took.Round(100*time.Millisecond))
	}
	e.allReady(set.Name, 0, 1)
	asked, failures := answers.stop()
	t.Logf("the webhook was asked %d times", asked)
	if asked == 0 || len(failures) > 0 {
		t.Errorf("the webhook was asked %d times and failed: %v", asked, failures)
	}
}

// podsExist waits until at least n pods exist, and fails unless fewer than all do: a kill has to come in the middle.
func (e env) podsExist(n, all int) {
	e.Helper()
	count := 0
	e.eventually(fmt.Sprintf("%d pods to exist", n), func(ctx context.Context) error {
		var pods corev1.PodList
		if err := berth.Client.List(ctx, &pods, client.InNamespace(e.namespace)); err != nil {
			return err
		}
		if count = len(pods.Items); count < n {
			return fmt.Errorf("%d pods exist", count)
		}
		return nil
	})
	if count >= all {
		e.Fatalf("all %d pods exist already: the kill would prove nothing", count)
	}
	e.Logf("%d pods exist", count)
}

// leader is the identity that holds a lease.
func (e env) leader(lease string) string {
	e.Helper()
	var object coordinationv1.Lease
	err := berth.Client.Get(e.Context(), client.ObjectKey{Namespace: systemNamespace, Name: lease}, &object)
	if apierrors.IsNotFound(err) {
		return ""
	}
	e.must(err, "reading the lease "+lease)
	if object.Spec.HolderIdentity == nil {
		return ""
	}
	return *object.Spec.HolderIdentity
}

// killAll kills -9 every process of a program at once.
func (e env) killAll(program string) {
	e.Helper()
	for _, component := range e.processes(program) {
		e.must(berth.Kill(e.Context(), component.Name), "killing "+component.Name)
		e.Logf("killed %s, pid %d", component.Name, component.PID)
	}
}

// killLeader kills -9 the one manager that says in its metrics that it leads.
func (e env) killLeader() {
	e.Helper()
	for _, component := range e.processes("manager") {
		leads, err := component.Leads(e.Context(), managerLease)
		e.must(err, "asking "+component.Name+" whether it leads")
		if leads {
			e.must(berth.Kill(e.Context(), component.Name), "killing "+component.Name)
			e.Logf("killed %s, pid %d", component.Name, component.PID)
			return
		}
	}
	e.Fatal("no manager says that it leads")
}

// processes are the running processes of a program.
func (e env) processes(program string) []cluster.Component {
	e.Helper()
	status, err := berth.Status(e.Context())
	e.must(err, "reading the playground's status")
	running := slices.DeleteFunc(status, func(c cluster.Component) bool {
		return !strings.HasPrefix(c.Name, program+"/") || c.PID == 0
	})
	if len(running) == 0 {
		e.Fatalf("no process of %s is running: %+v", program, status)
	}
	return running
}

// bothReady waits until two processes of a program are ready.
func (e env) bothReady(program string) {
	e.Helper()
	e.eventually("two processes of "+program, func(context.Context) error {
		ready := 0
		for _, component := range e.processes(program) {
			if component.Ready {
				ready++
			}
		}
		if ready != 2 {
			return fmt.Errorf("%d are ready", ready)
		}
		return nil
	})
}
