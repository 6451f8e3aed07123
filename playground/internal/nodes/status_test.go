// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// life is one pod on a simulated node.
type life struct {
	t   *testing.T
	pod *corev1.Pod
	now time.Time
}

// newLife returns a pod that has just been scheduled. mods change it before its kubelet sees it.
func newLife(t *testing.T, mods ...func(*corev1.Pod)) *life {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "arena-0", UID: "1", ResourceVersion: "7", Annotations: map[string]string{}},
		Spec: corev1.PodSpec{
			NodeName:      "node-0",
			RestartPolicy: corev1.RestartPolicyAlways,
			Containers:    []corev1.Container{{Name: "game", Image: "game:1"}, {Name: "sidecar", Image: "sidecar:1"}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	for _, mod := range mods {
		mod(pod)
	}
	return &life{t: t, pod: pod, now: start}
}

// step lets the kubelet look at the pod and stores what it decides, the way the API server merges its patch.
func (l *life) step() *life {
	l.t.Helper()
	next := NextStatus(Seen{Pod: l.pod, HostIPs: []string{"10.0.0.1", "2001:db8::1"}, PodIPs: []string{"10.64.0.1"}, Now: l.now})
	foreign := l.pod.Status.Conditions
	l.pod.Status = next
	for _, c := range foreign {
		if !l.has(c.Type) {
			l.pod.Status.Conditions = append(l.pod.Status.Conditions, c)
		}
	}
	return l
}

// after lets time pass, then the kubelet looks.
func (l *life) after(d time.Duration) *life {
	l.t.Helper()
	l.now = l.now.Add(d)
	return l.step()
}

// annotate sets an annotation, or removes it when the value is empty; then the kubelet looks.
func (l *life) annotate(key, value string) *life {
	l.t.Helper()
	if l.pod.Annotations[key] = value; value == "" {
		delete(l.pod.Annotations, key)
	}
	return l.step()
}

func (l *life) has(kind corev1.PodConditionType) bool { return l.condition(kind).Type != "" }

func (l *life) condition(kind corev1.PodConditionType) corev1.PodCondition {
	for _, c := range l.pod.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return corev1.PodCondition{}
}

// summary is what most tests look at.
type summary struct {
	Phase corev1.PodPhase
	Ready corev1.ConditionStatus
	// Game is the state of the first container: "running", or the reason why it is not.
	Game         string
	GameReady    bool
	GameImage    string
	GameRestarts int32
}

func (l *life) want(want summary) *life {
	l.t.Helper()
	game := l.pod.Status.ContainerStatuses[0]
	got := summary{
		Phase: l.pod.Status.Phase, Ready: l.condition(corev1.PodReady).Status, Game: "running",
		GameReady: game.Ready, GameImage: game.Image, GameRestarts: game.RestartCount,
	}
	if game.State.Waiting != nil {
		got.Game = game.State.Waiting.Reason
	}
	if game.State.Terminated != nil {
		got.Game = game.State.Terminated.Reason
	}
	if diff := cmp.Diff(want, got); diff != "" {
		l.t.Errorf("pod (-want +got):\n%s", diff)
	}
	return l
}

var healthy = summary{Phase: corev1.PodRunning, Ready: corev1.ConditionTrue, Game: "running", GameReady: true, GameImage: "game:1"}

// changed returns s with other fields.
func (s summary) changed(change func(*summary)) summary {
	change(&s)
	return s
}

func TestPodStartsAtOnce(t *testing.T) {
	t.Parallel()
	l := newLife(t).step().want(healthy)
	at := metav1.NewTime(start)
	status := func(name, image string) corev1.ContainerStatus {
		s := corev1.ContainerStatus{
			Name: name, Image: image, ImageID: imageID(image), Ready: true, Started: ptr.To(true),
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}},
		}
		s.ContainerID = containerID(l.pod, s)
		return s
	}
	condition := func(kind corev1.PodConditionType) corev1.PodCondition {
		return corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: at}
	}
	want := corev1.PodStatus{
		Phase:     corev1.PodRunning,
		StartTime: &at,
		HostIP:    "10.0.0.1", HostIPs: []corev1.HostIP{{IP: "10.0.0.1"}, {IP: "2001:db8::1"}},
		PodIP: "10.64.0.1", PodIPs: []corev1.PodIP{{IP: "10.64.0.1"}},
		ContainerStatuses: []corev1.ContainerStatus{status("game", "game:1"), status("sidecar", "sidecar:1")},
		Conditions: []corev1.PodCondition{
			condition(corev1.PodReadyToStartContainers), condition(corev1.PodInitialized),
			condition(corev1.ContainersReady), condition(corev1.PodReady),
		},
	}
	if diff := cmp.Diff(want, l.pod.Status); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

func TestSteadyPodKeepsItsStatus(t *testing.T) {
	t.Parallel()
	cases := map[string]func(*life) *life{
		"healthy":             func(l *life) *life { return l },
		"starting slowly":     func(l *life) *life { return newLife(l.t, annotated(AnnotationStartDelay, "1h")).step() },
		"crashing":            func(l *life) *life { return l.annotate(AnnotationCrash, "true") },
		"never ready":         func(l *life) *life { return l.annotate(AnnotationNeverReady, "true") },
		"failed":              func(l *life) *life { return l.annotate(AnnotationFailReason, "Evicted") },
		"with an unmet gate":  func(l *life) *life { return newLife(l.t, gated("g")).step() },
		"stopped but held":    func(l *life) *life { l.pod.DeletionTimestamp = &metav1.Time{Time: start}; return l.step() },
		"with a sidecar init": func(l *life) *life { return newLife(l.t, withInit).step() },
	}
	for name, prepare := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := prepare(newLife(t).step())
			before := l.pod.Status.DeepCopy()
			l.after(time.Minute)
			if diff := cmp.Diff(before, &l.pod.Status); diff != "" {
				t.Errorf("status changed without a reason (-before +after):\n%s", diff)
			}
		})
	}
}

func annotated(key, value string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Annotations[key] = value }
}

func gated(kinds ...corev1.PodConditionType) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		for _, kind := range kinds {
			pod.Spec.ReadinessGates = append(pod.Spec.ReadinessGates, corev1.PodReadinessGate{ConditionType: kind})
		}
	}
}

func withInit(pod *corev1.Pod) {
	pod.Spec.InitContainers = []corev1.Container{
		{Name: "unpack", Image: "unpack:1"},
		{Name: "proxy", Image: "proxy:1", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)},
	}
}

func TestSlowStartIsPendingUntilTheDelayIsOver(t *testing.T) {
	t.Parallel()
	starting := summary{Phase: corev1.PodPending, Ready: corev1.ConditionFalse, Game: "ContainerCreating", GameImage: "game:1"}
	l := newLife(t, annotated(AnnotationStartDelay, "5s")).step().want(starting)
	if got, want := readyAt(l.pod), start.Add(5*time.Second); !got.Equal(want) {
		t.Errorf("the start ends at %s, want %s", got, want)
	}
	l.after(4 * time.Second).want(starting)
	l.after(time.Second).want(healthy)
}

func TestMalformedDelayStartsAtOnce(t *testing.T) {
	t.Parallel()
	for _, delay := range []string{"soon", "-5s", "5"} {
		newLife(t, annotated(AnnotationStartDelay, delay)).step().want(healthy)
	}
}

func TestImageUpdateRestartsOnlyItsContainer(t *testing.T) {
	t.Parallel()
	l := newLife(t).step()
	before := l.pod.Status.DeepCopy()
	l.pod.Spec.Containers[0].Image = "game:2"
	updated := healthy.changed(func(s *summary) { s.GameImage, s.GameRestarts = "game:2", 1 })
	l.after(time.Minute).want(updated.changed(func(s *summary) { s.GameReady, s.Ready = false, corev1.ConditionFalse }))
	l.after(DefaultStartDelay).want(updated)

	game := l.pod.Status.ContainerStatuses[0]
	if game.ImageID == before.ContainerStatuses[0].ImageID || game.ContainerID == before.ContainerStatuses[0].ContainerID {
		t.Errorf("image id and container id must change, got %s and %s", game.ImageID, game.ContainerID)
	}
	if game.LastTerminationState.Terminated == nil {
		t.Error("the status does not say how the container ended before")
	}
	if diff := cmp.Diff(before.ContainerStatuses[1], l.pod.Status.ContainerStatuses[1]); diff != "" {
		t.Errorf("the other container changed (-before +after):\n%s", diff)
	}
	if l.pod.Status.PodIP != before.PodIP {
		t.Errorf("the pod moved from %s to %s", before.PodIP, l.pod.Status.PodIP)
	}
}

func TestImageUpdateTakesTheStartDelay(t *testing.T) {
	t.Parallel()
	l := newLife(t, annotated(AnnotationStartDelay, "5s")).step().after(5 * time.Second).want(healthy)
	l.pod.Spec.Containers[0].Image = "game:2"
	updated := healthy.changed(func(s *summary) { s.GameImage, s.GameRestarts = "game:2", 1 })
	unready := updated.changed(func(s *summary) { s.GameReady, s.Ready = false, corev1.ConditionFalse })
	l.step().want(unready).after(4 * time.Second).want(unready).after(time.Second).want(updated)
}

func TestImageUpdateCanBeIgnored(t *testing.T) {
	t.Parallel()
	l := newLife(t, annotated(AnnotationIgnoreImageUpdate, "true")).step()
	l.pod.Spec.Containers[0].Image = "game:2"
	l.after(time.Minute).want(healthy)
	l.annotate(AnnotationIgnoreImageUpdate, "").after(DefaultStartDelay).
		want(healthy.changed(func(s *summary) { s.GameImage, s.GameRestarts = "game:2", 1 }))
}

func TestSecondImageUpdateDuringARestartIsNotLost(t *testing.T) {
	t.Parallel()
	l := newLife(t).step()
	l.pod.Spec.Containers[0].Image = "game:2"
	l.step()
	l.pod.Spec.Containers[0].Image = "game:3"
	l.step().after(DefaultStartDelay).want(healthy.changed(func(s *summary) { s.GameImage, s.GameRestarts = "game:3", 2 }))
}

func TestReadinessGates(t *testing.T) {
	t.Parallel()
	unready := healthy.changed(func(s *summary) { s.Ready = corev1.ConditionFalse })
	l := newLife(t, gated("InPlaceUpdateReady", "berth.games/ok")).step().want(unready)
	set := func(kind corev1.PodConditionType, status corev1.ConditionStatus) *life {
		for i := range l.pod.Status.Conditions {
			if l.pod.Status.Conditions[i].Type == kind {
				l.pod.Status.Conditions[i].Status = status
				return l.after(time.Second)
			}
		}
		l.pod.Status.Conditions = append(l.pod.Status.Conditions, corev1.PodCondition{Type: kind, Status: status})
		return l.after(time.Second)
	}
	set("InPlaceUpdateReady", corev1.ConditionTrue).want(unready)
	set("berth.games/ok", corev1.ConditionTrue).want(healthy)
	set("InPlaceUpdateReady", corev1.ConditionFalse).want(unready)
	set("InPlaceUpdateReady", corev1.ConditionTrue).want(healthy)
	if got := l.condition(corev1.ContainersReady).LastTransitionTime.Time; !got.Equal(start) {
		t.Errorf("ContainersReady changed at %s, want never since %s", got, start)
	}
	if got := l.condition(corev1.PodReady).LastTransitionTime.Time; !got.Equal(l.now) {
		t.Errorf("Ready changed at %s, want %s", got, l.now)
	}
}

func TestCrash(t *testing.T) {
	t.Parallel()
	crashed := healthy.changed(func(s *summary) {
		s.Ready, s.Game, s.GameReady, s.GameRestarts = corev1.ConditionFalse, "CrashLoopBackOff", false, 1
	})
	t.Run("loops where containers are restarted", func(t *testing.T) {
		t.Parallel()
		l := newLife(t).step().annotate(AnnotationCrash, "true").want(crashed)
		if got := l.pod.Status.ContainerStatuses[0].LastTerminationState.Terminated; got == nil || got.ExitCode != 1 {
			t.Errorf("last termination is %v, want exit code 1", got)
		}
	})
	t.Run("happens also at the first start", func(t *testing.T) {
		t.Parallel()
		newLife(t, annotated(AnnotationCrash, "true")).step().want(crashed)
	})
	t.Run("ends with the annotation", func(t *testing.T) {
		t.Parallel()
		l := newLife(t, annotated(AnnotationCrash, "true")).step().annotate(AnnotationCrash, "")
		l.after(DefaultStartDelay).want(healthy.changed(func(s *summary) { s.GameRestarts = 1 }))
	})
	t.Run("ends the pod where containers are not restarted", func(t *testing.T) {
		t.Parallel()
		never := func(pod *corev1.Pod) { pod.Spec.RestartPolicy = corev1.RestartPolicyNever }
		newLife(t, never).step().annotate(AnnotationCrash, "true").want(summary{
			Phase: corev1.PodFailed, Ready: corev1.ConditionFalse, Game: "Error", GameImage: "game:1",
		})
	})
	t.Run("comes after a slow start", func(t *testing.T) {
		t.Parallel()
		l := newLife(t, annotated(AnnotationStartDelay, "5s"), annotated(AnnotationCrash, "true")).step()
		if got := l.pod.Status.Phase; got != corev1.PodPending {
			t.Errorf("phase is %s, want Pending", got)
		}
		l.after(5 * time.Second).want(crashed)
	})
}

func TestNeverReadyEndsWithTheAnnotation(t *testing.T) {
	t.Parallel()
	newLife(t, annotated(AnnotationNeverReady, "true")).step().
		want(healthy.changed(func(s *summary) { s.Ready, s.GameReady = corev1.ConditionFalse, false })).
		annotate(AnnotationNeverReady, "").want(healthy)
}

func TestFailReason(t *testing.T) {
	t.Parallel()
	t.Run("ends a running pod and its containers", func(t *testing.T) {
		t.Parallel()
		l := newLife(t).step().annotate(AnnotationFailReason, "Evicted")
		l.want(summary{Phase: corev1.PodFailed, Ready: corev1.ConditionFalse, Game: "Error", GameImage: "game:1"})
		if l.pod.Status.Reason != "Evicted" {
			t.Errorf("reason is %q, want Evicted", l.pod.Status.Reason)
		}
	})
	t.Run("refuses a new pod without starting anything", func(t *testing.T) {
		t.Parallel()
		l := newLife(t, annotated(AnnotationFailReason, "OutOfpods")).step()
		if s := l.pod.Status; s.Phase != corev1.PodFailed || s.Reason != "OutOfpods" || len(s.ContainerStatuses) > 0 {
			t.Errorf("status is %v, want Failed with reason OutOfpods and no containers", s)
		}
	})
}

func TestDeletedPodThatIsHeldStops(t *testing.T) {
	t.Parallel()
	l := newLife(t).step()
	l.pod.DeletionTimestamp = &metav1.Time{Time: start}
	l.step().want(summary{Phase: corev1.PodSucceeded, Ready: corev1.ConditionFalse, Game: "Completed", GameImage: "game:1"})
}

func TestEndedPodStaysAsItEnded(t *testing.T) {
	t.Parallel()
	l := newLife(t).step().annotate(AnnotationFailReason, "Evicted")
	before := l.pod.Status.DeepCopy()
	l.annotate(AnnotationFailReason, "")
	l.pod.DeletionTimestamp = &metav1.Time{Time: start}
	l.step()
	if diff := cmp.Diff(before, &l.pod.Status); diff != "" {
		t.Errorf("status (-before +after):\n%s", diff)
	}
}

func TestPodOfAJobRunsOnceAndSucceeds(t *testing.T) {
	t.Parallel()
	l := newLife(t, func(pod *corev1.Pod) {
		pod.Spec.RestartPolicy = corev1.RestartPolicyNever
		pod.OwnerReferences = []metav1.OwnerReference{{Kind: "Job", Controller: ptr.To(true)}}
	})
	l.step().want(healthy)
	l.step().want(summary{Phase: corev1.PodSucceeded, Ready: corev1.ConditionFalse, Game: "Completed", GameImage: "game:1"})
}

func TestInitContainersAreDoneAndSidecarsRun(t *testing.T) {
	t.Parallel()
	l := newLife(t, withInit).step()
	statuses := l.pod.Status.InitContainerStatuses
	if len(statuses) != 2 || statuses[0].State.Terminated == nil || statuses[1].State.Running == nil {
		t.Errorf("init containers are %v, want the first terminated and the second running", statuses)
	}
	l.want(healthy)
}
