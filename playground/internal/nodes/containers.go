// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

const (
	exitCrashed = 1
	// exitKilled is what the kernel's SIGKILL leaves behind.
	exitKilled = 137
)

// containers decides the container statuses of one pod.
type containers struct {
	pod      *corev1.Pod
	behavior behavior
	now      time.Time
	// ready is when the start that is under way ends. Statuses that begin a start move it.
	ready time.Time
}

// statuses returns one status per container of the spec, in its order.
func (c *containers) statuses() []corev1.ContainerStatus {
	out := make([]corev1.ContainerStatus, 0, len(c.pod.Spec.Containers))
	for i := range c.pod.Spec.Containers {
		spec := &c.pod.Spec.Containers[i]
		old := find(c.pod.Status.ContainerStatuses, spec.Name)
		if old == nil {
			out = append(out, c.create(spec))
		} else {
			out = append(out, c.step(spec, *old))
		}
	}
	return out
}

// create is the first status of a container.
func (c *containers) create(spec *corev1.Container) corev1.ContainerStatus {
	created := corev1.ContainerStatus{
		Name: spec.Name, Image: spec.Image, ImageID: imageID(spec.Image), Started: ptr.To(false),
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}},
	}
	if c.behavior.firstDelay > 0 {
		c.ready = c.now.Add(c.behavior.firstDelay)
		return created
	}
	return c.step(spec, created)
}

// step moves a container on by one state.
func (c *containers) step(spec *corev1.Container, s corev1.ContainerStatus) corev1.ContainerStatus {
	starting := c.now.Before(c.ready)
	switch {
	case s.State.Terminated != nil:
		return s
	case s.Image != spec.Image && !c.behavior.ignoreImage:
		return c.restart(spec, s)
	case s.State.Waiting != nil && isCrashLoop(s):
		if c.behavior.crash {
			return s
		}
		return c.run(s, c.behavior.restartDelay)
	case starting:
		return s
	case c.behavior.crash:
		return c.crash(s)
	case s.State.Waiting != nil:
		return c.settle(c.run(s, 0))
	case c.completes():
		return terminated(s, c.now, 0, "Completed")
	default:
		return c.settle(s)
	}
}

// run starts a container that becomes ready after the delay.
func (c *containers) run(s corev1.ContainerStatus, delay time.Duration) corev1.ContainerStatus {
	s.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(c.now)}}
	s.ContainerID = containerID(c.pod, s)
	s.Ready, s.Started = false, ptr.To(false)
	if delay > 0 {
		c.ready = c.now.Add(delay)
	}
	return s
}

// settle ends the start of a running container.
func (c *containers) settle(s corev1.ContainerStatus) corev1.ContainerStatus {
	s.Started = ptr.To(true)
	s.Ready = !c.behavior.neverReady
	return s
}

// restart replaces a container because the spec names another image.
func (c *containers) restart(spec *corev1.Container, s corev1.ContainerStatus) corev1.ContainerStatus {
	if s.State.Running != nil {
		s = terminated(s, c.now, 0, "Completed")
		s.LastTerminationState = s.State
		s.RestartCount++
	}
	s.Image, s.ImageID = spec.Image, imageID(spec.Image)
	return c.run(s, c.behavior.restartDelay)
}

// crash lets a container end by itself with an error.
func (c *containers) crash(s corev1.ContainerStatus) corev1.ContainerStatus {
	s = terminated(s, c.now, exitCrashed, "Error")
	if c.pod.Spec.RestartPolicy == corev1.RestartPolicyNever {
		return s
	}
	s.LastTerminationState = s.State
	s.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
		Reason: crashLoop, Message: "simulated: the pod asks for it by annotation " + AnnotationCrash,
	}}
	s.RestartCount++
	return s
}

// completes tells whether the containers are work that ends: those of a Job, once they have run.
func (c *containers) completes() bool {
	owner := metav1.GetControllerOf(c.pod)
	return owner != nil && owner.Kind == "Job" && c.pod.Status.Phase == corev1.PodRunning
}

// initStatuses returns one status per init container: done, or running when it is a sidecar.
func (c *containers) initStatuses() []corev1.ContainerStatus {
	var out []corev1.ContainerStatus
	for _, spec := range c.pod.Spec.InitContainers {
		if old := find(c.pod.Status.InitContainerStatuses, spec.Name); old != nil {
			out = append(out, *old)
			continue
		}
		s := corev1.ContainerStatus{Name: spec.Name, Image: spec.Image, ImageID: imageID(spec.Image), Ready: true}
		s.State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(c.now)}
		s.ContainerID = containerID(c.pod, s)
		s.Started = ptr.To(true)
		if ptr.Deref(spec.RestartPolicy, "") != corev1.ContainerRestartPolicyAlways {
			s = terminated(s, c.now, 0, "Completed")
			s.Ready = true
		}
		out = append(out, s)
	}
	return out
}

const crashLoop = "CrashLoopBackOff"

func isCrashLoop(s corev1.ContainerStatus) bool {
	return s.State.Waiting != nil && s.State.Waiting.Reason == crashLoop
}

// terminated returns s after the container has ended now. A container that had ended before stays as it was.
func terminated(s corev1.ContainerStatus, now time.Time, exitCode int32, reason string) corev1.ContainerStatus {
	if s.State.Terminated != nil {
		return s
	}
	startedAt := metav1.NewTime(now)
	if s.State.Running != nil {
		startedAt = s.State.Running.StartedAt
	}
	s.Ready, s.Started = false, ptr.To(false)
	s.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: exitCode, Reason: reason, StartedAt: startedAt, FinishedAt: metav1.NewTime(now), ContainerID: s.ContainerID,
	}}
	return s
}

func find(statuses []corev1.ContainerStatus, name string) *corev1.ContainerStatus {
	for i := range statuses {
		if statuses[i].Name == name {
			return &statuses[i]
		}
	}
	return nil
}

// imageID is a digest made from the name of the image: equal for equal names, different for different ones. OpenKruise
// sees by it that an in-place update has reached the container.
func imageID(image string) string { return "playground.local/fake@sha256:" + digest(image) }

// containerID differs for every start of a container.
func containerID(pod *corev1.Pod, s corev1.ContainerStatus) string {
	return "fake://" + digest(fmt.Sprintf("%s/%s/%d", pod.UID, s.Name, s.RestartCount))
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
