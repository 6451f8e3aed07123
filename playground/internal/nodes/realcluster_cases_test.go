// SPDX-License-Identifier: Apache-2.0

package nodes_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	kruisev1alpha1 "github.com/openkruise/kruise-api/apps/v1alpha1"
	kruisev1beta1 "github.com/openkruise/kruise-api/apps/v1beta1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/berthgames/berth/playground/internal/nodes"
)

// TestRealCluster checks on a control plane, with OpenKruise, what the tests of this package assume about both.
func TestRealCluster(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	t.Run("cases", func(t *testing.T) {
		for name, test := range map[string]func(*testing.T, *cluster){
			"an Advanced StatefulSet leaves out reserved ordinals": testReservedOrdinals,
			"an in-place update completes":                         testInPlaceUpdate,
			"probes answer by annotation":                          testProbes,
			"annotations steer pods":                               testBehavior,
			"deleted pods go as asked":                             testDeletion,
			"a node breaks and heals":                              testNodeNotReady,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t, c)
			})
		}
	})
	t.Run("a killed kubelet carries on", func(t *testing.T) { testKilledKubelet(t, c) })
}

// statefulSet makes a set of n pods that are updated in place.
func (c *cluster) statefulSet(t *testing.T, namespace string, n int32, reserved ...intstr.IntOrString) {
	t.Helper()
	labels := map[string]string{"app": "arena"}
	set := &kruisev1beta1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "arena"},
		Spec: kruisev1beta1.StatefulSetSpec{
			Replicas:            ptr.To(n),
			ServiceName:         "arena",
			PodManagementPolicy: "Parallel",
			Selector:            &metav1.LabelSelector{MatchLabels: labels},
			ReserveOrdinals:     reserved,
			UpdateStrategy: kruisev1beta1.StatefulSetUpdateStrategy{
				Type: "RollingUpdate",
				RollingUpdate: &kruisev1beta1.RollingUpdateStatefulSetStrategy{
					PodUpdatePolicy: kruisev1beta1.InPlaceIfPossiblePodUpdateStrategyType,
					MaxUnavailable:  ptr.To(intstr.FromString("100%")),
				},
			},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					ReadinessGates: []corev1.PodReadinessGate{{ConditionType: "InPlaceUpdateReady"}},
					Containers:     []corev1.Container{{Name: "game", Image: "game:1"}, {Name: "sidecar", Image: "sidecar:1"}},
				},
			},
		},
	}
	if _, err := c.kruise.AppsV1beta1().StatefulSets(namespace).Create(t.Context(), set, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating StatefulSet: %v", err)
	}
	c.settled(t, namespace)
}

// settled waits until all pods of the set are ready in the newest revision, and returns their UIDs by name.
func (c *cluster) settled(t *testing.T, namespace string) map[string]types.UID {
	t.Helper()
	eventually(t, func(ctx context.Context) string {
		set, err := c.kruise.AppsV1beta1().StatefulSets(namespace).Get(ctx, "arena", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		s := set.Status
		if s.ObservedGeneration != set.Generation || s.UpdatedReadyReplicas != *set.Spec.Replicas || s.Replicas != *set.Spec.Replicas {
			return fmt.Sprintf("generation %d of the set has status %+v", set.Generation, s)
		}
		return ""
	})
	pods, err := c.kube.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatalf("listing pods: %v", err)
	}
	uids := map[string]types.UID{}
	for _, pod := range pods.Items {
		uids[pod.Name] = pod.UID
	}
	return uids
}

func testReservedOrdinals(t *testing.T, c *cluster) {
	ns := c.namespace(t)
	c.statefulSet(t, ns, 5, intstr.FromInt32(1), intstr.FromString("3-4"))
	got := map[string]bool{}
	for name := range c.settled(t, ns) {
		got[name] = true
	}
	want := map[string]bool{"arena-0": true, "arena-2": true, "arena-5": true, "arena-6": true, "arena-7": true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pods (-want +got):\n%s", diff)
	}
}

func testInPlaceUpdate(t *testing.T, c *cluster) {
	ns := c.namespace(t)
	c.statefulSet(t, ns, 3)
	before := c.settled(t, ns)
	_, err := c.kruise.AppsV1beta1().StatefulSets(ns).Patch(t.Context(), "arena", types.JSONPatchType,
		[]byte(`[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"game:2"}]`), metav1.PatchOptions{})
	if err != nil {
		t.Fatalf("patching StatefulSet: %v", err)
	}
	if diff := cmp.Diff(before, c.settled(t, ns)); diff != "" {
		t.Errorf("pods were replaced (-before +after):\n%s", diff)
	}
	for name := range before {
		pod := c.pod(t, ns, name, ready)
		game, sidecar := pod.Status.ContainerStatuses[0], pod.Status.ContainerStatuses[1]
		if game.Image != "game:2" || game.RestartCount != 1 || sidecar.RestartCount != 0 {
			t.Errorf("%s runs %s after %d restarts, its sidecar restarted %d times; want game:2, 1 and 0",
				name, game.Image, game.RestartCount, sidecar.RestartCount)
		}
	}
}

func testProbes(t *testing.T, c *cluster) {
	const kind = "game.kruise.io/healthy"
	ns := c.namespace(t)
	marker := &kruisev1alpha1.PodProbeMarker{
		ObjectMeta: metav1.ObjectMeta{Name: "arena"},
		Spec: kruisev1alpha1.PodProbeMarkerSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "arena"}},
			Probes: []kruisev1alpha1.PodContainerProbe{{
				Name: "healthy", ContainerName: "game", PodConditionType: kind,
				Probe: kruisev1alpha1.ContainerProbeSpec{Probe: corev1.Probe{
					ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"/healthy.sh"}}},
				}},
			}},
		},
	}
	if _, err := c.kruise.AppsV1alpha1().PodProbeMarkers(ns).Create(t.Context(), marker, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating PodProbeMarker: %v", err)
	}
	c.statefulSet(t, ns, 1)
	for _, step := range []struct {
		annotation, wantMessage string
		want                    corev1.ConditionStatus
	}{
		{"true:3 players", "3 players", corev1.ConditionTrue},
		{"false:crashed", "crashed", corev1.ConditionFalse},
		{"true", "", corev1.ConditionTrue},
	} {
		c.patchPod(t, ns, "arena-0", types.MergePatchType, annotate(nodes.AnnotationProbePrefix+"healthy", step.annotation))
		c.pod(t, ns, "arena-0", func(pod *corev1.Pod) string {
			if got := condition(pod, kind); got.Status != step.want || got.Message != step.wantMessage {
				return fmt.Sprintf("condition after %q is %q with message %q", step.annotation, got.Status, got.Message)
			}
			return ""
		})
	}
}

func testBehavior(t *testing.T, c *cluster) {
	ns := c.namespace(t)
	// trouble is content with a pod whose container is in the given state, and that is not ready.
	trouble := func(phase corev1.PodPhase, state string) func(*corev1.Pod) string {
		return func(pod *corev1.Pod) string {
			got := "none"
			for _, s := range pod.Status.ContainerStatuses {
				switch {
				case s.State.Waiting != nil:
					got = s.State.Waiting.Reason
				case s.State.Running != nil:
					got = "running"
				}
			}
			if pod.Status.Phase != phase || got != state || ready(pod) == "" {
				return fmt.Sprintf("pod %s is %s, container %s, conditions %v", pod.Name, pod.Status.Phase, got, pod.Status.Conditions)
			}
			return ""
		}
	}
	cases := map[string]struct {
		key, value string
		want       func(*corev1.Pod) string
		final      bool
	}{
		"crash":  {key: nodes.AnnotationCrash, value: "true", want: trouble(corev1.PodRunning, "CrashLoopBackOff")},
		"never":  {key: nodes.AnnotationNeverReady, value: "true", want: trouble(corev1.PodRunning, "running")},
		"slow":   {key: nodes.AnnotationStartDelay, value: "2s", want: trouble(corev1.PodPending, "ContainerCreating")},
		"failed": {key: nodes.AnnotationFailReason, value: "OutOfpods", want: trouble(corev1.PodFailed, "none"), final: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.createPod(t, ns, name, map[string]string{tc.key: tc.value})
			pod := c.pod(t, ns, name, tc.want)
			if tc.final {
				if pod.Status.Reason != tc.value {
					t.Errorf("reason is %q, want %q", pod.Status.Reason, tc.value)
				}
				return
			}
			c.patchPod(t, ns, name, types.MergePatchType, annotate(tc.key, ""))
			c.pod(t, ns, name, ready)
		})
	}
	t.Run("ignored image", func(t *testing.T) {
		t.Parallel()
		c.createPod(t, ns, "ignoring", map[string]string{nodes.AnnotationIgnoreImageUpdate: "true"})
		c.pod(t, ns, "ignoring", ready)
		c.patchPod(t, ns, "ignoring", types.JSONPatchType, `[{"op":"replace","path":"/spec/containers/0/image","value":"game:2"}]`)
		// The kubelet notes each generation that it has looked at.
		pod := c.pod(t, ns, "ignoring", func(pod *corev1.Pod) string {
			if pod.Status.ObservedGeneration != pod.Generation {
				return fmt.Sprintf("generation %d was not looked at", pod.Generation)
			}
			return ""
		})
		if got := pod.Status.ContainerStatuses[0].Image; got != "game:1" {
			t.Errorf("container runs %s, want game:1", got)
		}
	})
}

func testDeletion(t *testing.T, c *cluster) {
	ns := c.namespace(t)
	const finalizer = "playground.berth.games/test"
	c.createPod(t, ns, "quick", nil)
	c.createPod(t, ns, "patient", map[string]string{nodes.AnnotationStopDelay: "grace"}, func(pod *corev1.Pod) {
		pod.Spec.TerminationGracePeriodSeconds = ptr.To[int64](3600)
	})
	c.createPod(t, ns, "held", nil, func(pod *corev1.Pod) { pod.Finalizers = []string{finalizer} })
	for _, name := range []string{"patient", "held", "quick"} {
		c.pod(t, ns, name, ready)
		if err := c.kube.CoreV1().Pods(ns).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatalf("deleting %s: %v", name, err)
		}
	}
	c.gone(t, ns, "quick")

	c.pod(t, ns, "held", func(pod *corev1.Pod) string {
		if pod.Status.Phase != corev1.PodSucceeded || ptr.Deref(pod.DeletionGracePeriodSeconds, -1) != 0 {
			return fmt.Sprintf("held pod is %s with grace period %v", pod.Status.Phase, pod.DeletionGracePeriodSeconds)
		}
		return ""
	})
	c.patchPod(t, ns, "held", types.MergePatchType, `{"metadata":{"finalizers":null}}`)
	c.gone(t, ns, "held")

	pod := c.pod(t, ns, "patient", func(*corev1.Pod) string { return "" })
	if pod.DeletionTimestamp == nil || pod.Status.Phase != corev1.PodRunning {
		t.Errorf("patient pod is %s, deleted at %v; want Running until its grace period is over", pod.Status.Phase, pod.DeletionTimestamp)
	}
	c.patchPod(t, ns, "patient", types.MergePatchType, annotate(nodes.AnnotationStopDelay, ""))
	c.gone(t, ns, "patient")
}

func (c *cluster) gone(t *testing.T, namespace, name string) {
	t.Helper()
	eventually(t, func(ctx context.Context) string {
		_, err := c.kube.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		if !apierrors.IsNotFound(err) {
			return fmt.Sprintf("pod %s is there, or cannot be read: %v", name, err)
		}
		return ""
	})
}

func testNodeNotReady(t *testing.T, c *cluster) {
	const name = "node-4"
	for _, step := range []struct {
		annotation string
		want       corev1.ConditionStatus
	}{{"true", corev1.ConditionFalse}, {"", corev1.ConditionTrue}} {
		_, err := c.kube.CoreV1().Nodes().Patch(t.Context(), name, types.MergePatchType,
			[]byte(annotate(nodes.AnnotationNotReady, step.annotation)), metav1.PatchOptions{})
		if err != nil {
			t.Fatalf("annotating node: %v", err)
		}
		eventually(t, func(ctx context.Context) string {
			node, err := c.kube.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err.Error()
			}
			for _, condition := range node.Status.Conditions {
				if condition.Type == corev1.NodeReady && condition.Status == step.want {
					return ""
				}
			}
			return fmt.Sprintf("conditions with annotation %q: %v", step.annotation, node.Status.Conditions)
		})
	}
}

func testKilledKubelet(t *testing.T, c *cluster) {
	ns := c.namespace(t)
	c.statefulSet(t, ns, 10)
	before := c.settled(t, ns)
	c.run(t.Context(), "kill", "kubelets", "--signal", "9")
	_, err := c.kruise.AppsV1beta1().StatefulSets(ns).Patch(t.Context(), "arena", types.MergePatchType,
		[]byte(`{"spec":{"replicas":20}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatalf("scaling StatefulSet: %v", err)
	}
	after := c.settled(t, ns)
	owner := map[string]string{}
	for name, uid := range after {
		if old, existed := before[name]; existed && old != uid {
			t.Errorf("%s was replaced", name)
		}
		pod := c.pod(t, ns, name, ready)
		if other, taken := owner[pod.Status.PodIP]; taken {
			t.Errorf("%s and %s have the address %s", name, other, pod.Status.PodIP)
		}
		owner[pod.Status.PodIP] = name
	}
}
