// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/internal/gamepod"
	"github.com/berthgames/berth/test/apiserver"
	"github.com/berthgames/berth/test/build"
	"github.com/berthgames/berth/test/expect"
)

const patience = 20 * time.Second

// world is one test's namespace with one set, "arena".
type world struct {
	t         *testing.T
	namespace string
	set       *gamev1alpha1.GameServerSet
}

func newWorld(t *testing.T, changes ...func(*gamev1alpha1.GameServerSet)) *world {
	t.Helper()
	if suite == nil {
		t.Skip(apiserver.SkipReason)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "gs-"}}
	must(t, suite.client.Create(t.Context(), namespace))
	w := &world{t: t, namespace: namespace.Name}
	w.set = build.GameServerSet("arena").InNamespace(w.namespace).Obj()
	for _, change := range changes {
		change(w.set)
	}
	must(t, suite.client.Create(t.Context(), w.set))
	return w
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func keepGameServers(set *gamev1alpha1.GameServerSet) {
	set.Spec.GameServerTemplate.ReclaimPolicy = gamev1alpha1.DeleteGameServerReclaimPolicy
}

// pass lets time go by for the controller, until the test ends.
func (w *world) pass(d time.Duration) {
	suite.clock.set(d)
	w.t.Cleanup(func() { suite.clock.set(0) })
}

// newPod creates a pod of the set as OpenKruise does, stamped as the webhook does. It has no node yet.
func (w *world) newPod(id int, changes ...func(*corev1.Pod)) *corev1.Pod {
	w.t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.namespace, Name: fmt.Sprintf("arena-%d", id), Labels: map[string]string{gamev1alpha1.GameServerOwnerGssKey: "arena"},
		},
		Spec: *w.set.Spec.GameServerTemplate.Spec.DeepCopy(),
	}
	for _, change := range changes {
		change(pod)
	}
	stored := &gamev1alpha1.GameServer{}
	if err := suite.client.Get(w.t.Context(), client.ObjectKeyFromObject(pod), stored); err != nil {
		stored = nil
	}
	gamepod.Stamp(pod, gamepod.ForNewPod(stored), time.Now())
	must(w.t, suite.client.Create(w.t.Context(), pod))
	return pod
}

// bind gives the pod a node, as the scheduler does, and makes the node when it is not there.
func (w *world) bind(pod *corev1.Pod, node string) {
	w.t.Helper()
	err := suite.client.Create(w.t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}})
	if client.IgnoreAlreadyExists(err) != nil {
		w.t.Fatal(err)
	}
	must(w.t, suite.client.SubResource("binding").Create(w.t.Context(), pod, &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: node}}))
}

// report writes a pod status, as a kubelet does.
func (w *world) report(pod *corev1.Pod, change func(*corev1.PodStatus)) {
	w.t.Helper()
	must(w.t, suite.client.Get(w.t.Context(), client.ObjectKeyFromObject(pod), pod))
	before := pod.DeepCopy()
	change(&pod.Status)
	must(w.t, suite.client.Status().Patch(w.t.Context(), pod, client.MergeFrom(before)))
}

func isReady(status *corev1.PodStatus) {
	status.Phase = corev1.PodRunning
	now := metav1.Now()
	for _, conditionType := range []corev1.PodConditionType{corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady} {
		setCondition(status, corev1.PodCondition{Type: conditionType, Status: corev1.ConditionTrue, LastTransitionTime: now})
	}
}

func setCondition(status *corev1.PodStatus, c corev1.PodCondition) {
	for i := range status.Conditions {
		if status.Conditions[i].Type == c.Type {
			status.Conditions[i] = c
			return
		}
	}
	status.Conditions = append(status.Conditions, c)
}

// ready is a pod whose server is up and reported.
func (w *world) ready(id int, changes ...func(*corev1.Pod)) *corev1.Pod {
	w.t.Helper()
	pod := w.newPod(id, changes...)
	w.bind(pod, "node-"+w.namespace)
	w.report(pod, isReady)
	w.eventually("server "+pod.Name+" Ready", func(ctx context.Context) error {
		return wantState(ctx, pod, gamev1alpha1.Ready)
	})
	return pod
}

// gone deletes a pod at once, as after its grace period.
func (w *world) gone(pod *corev1.Pod) {
	w.t.Helper()
	must(w.t, suite.client.Delete(w.t.Context(), pod, client.GracePeriodSeconds(0)))
	w.eventually("pod gone", func(ctx context.Context) error {
		err := suite.client.Get(ctx, client.ObjectKeyFromObject(pod), &corev1.Pod{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("still there: %w", err)
	})
}

func (w *world) gameServer(id int) *gamev1alpha1.GameServer {
	w.t.Helper()
	gs := &gamev1alpha1.GameServer{}
	must(w.t, suite.client.Get(w.t.Context(), w.name(id), gs))
	return gs
}

func (w *world) name(id int) types.NamespacedName {
	return types.NamespacedName{Namespace: w.namespace, Name: fmt.Sprintf("arena-%d", id)}
}

// edit changes a GameServer as a user does, with a merge patch of what differs.
func (w *world) edit(id int, change func(*gamev1alpha1.GameServer)) {
	w.t.Helper()
	gs := w.gameServer(id)
	before := gs.DeepCopy()
	change(gs)
	must(w.t, suite.client.Patch(w.t.Context(), gs, client.MergeFrom(before)))
}

func (w *world) editSet(change func(*gamev1alpha1.GameServerSet)) {
	w.t.Helper()
	before := w.set.DeepCopy()
	change(w.set)
	must(w.t, suite.client.Patch(w.t.Context(), w.set, client.MergeFrom(before)))
}

func (w *world) annotate(pod *corev1.Pod, key, value string) {
	w.t.Helper()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]*string{key: ptr.To(value)}}})
	must(w.t, err)
	must(w.t, suite.client.Patch(w.t.Context(), pod, client.RawPatch(types.MergePatchType, patch)))
}

func (w *world) eventually(what string, check func(context.Context) error) {
	w.t.Helper()
	must(w.t, expect.Eventually(w.t.Context(), patience, what, check))
}

// eventuallyGS waits for a GameServer about which check has nothing to say.
func (w *world) eventuallyGS(id int, what string, check func(*gamev1alpha1.GameServer) string) {
	w.t.Helper()
	w.eventually(what, func(ctx context.Context) error {
		gs := &gamev1alpha1.GameServer{}
		if err := suite.client.Get(ctx, w.name(id), gs); err != nil {
			return err
		}
		if fault := check(gs); fault != "" {
			return fmt.Errorf("%s: %s", gs.Name, fault)
		}
		return nil
	})
}

// eventuallyPod waits for a pod about which check has nothing to say.
func (w *world) eventuallyPod(id int, what string, check func(*corev1.Pod) string) {
	w.t.Helper()
	w.eventually(what, func(ctx context.Context) error {
		pod := &corev1.Pod{}
		if err := suite.client.Get(ctx, w.name(id), pod); err != nil {
			return err
		}
		if fault := check(pod); fault != "" {
			return fmt.Errorf("%s: %s", pod.Name, fault)
		}
		return nil
	})
}

// eventuallyEvent waits for an event of the namespace.
func (w *world) eventuallyEvent(reason, note string) {
	w.t.Helper()
	w.eventually("event "+reason, func(ctx context.Context) error {
		events, err := w.events(ctx, reason)
		if err != nil {
			return err
		}
		for _, event := range events {
			if event.Note == note {
				return nil
			}
		}
		return fmt.Errorf("%d others: %+v", len(events), events)
	})
}

func (w *world) events(ctx context.Context, reason string) ([]eventsv1.Event, error) {
	list := &eventsv1.EventList{}
	if err := suite.client.List(ctx, list, client.InNamespace(w.namespace)); err != nil {
		return nil, err
	}
	var events []eventsv1.Event
	for _, event := range list.Items {
		if event.Reason == reason {
			events = append(events, event)
		}
	}
	return events, nil
}

// settle waits until the controller has written nothing for a while.
func (w *world) settle() {
	w.t.Helper()
	w.eventually("rest", func(context.Context) error {
		if !suite.wire.quietFor(time.Second) {
			return fmt.Errorf("something was written within the last second")
		}
		return nil
	})
}

func wantState(ctx context.Context, pod *corev1.Pod, state gamev1alpha1.GameServerState) error {
	gs := &gamev1alpha1.GameServer{}
	if err := suite.client.Get(ctx, client.ObjectKeyFromObject(pod), gs); err != nil {
		return err
	}
	if err := suite.client.Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
		return err
	}
	if label := pod.Labels[gamev1alpha1.GameServerStateKey]; gs.Status.CurrentState != state || label != string(state) {
		return fmt.Errorf("status %q, pod label %q, want %s", gs.Status.CurrentState, label, state)
	}
	return nil
}

func conditionOf(gs *gamev1alpha1.GameServer, conditionType gamev1alpha1.GameServerConditionType) string {
	for _, c := range gs.Status.Conditions {
		if c.Type == conditionType {
			return fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
		}
	}
	return ""
}
