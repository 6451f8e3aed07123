// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appspub "github.com/openkruise/kruise-api/apps/pub"
	corev1 "k8s.io/api/core/v1"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

func TestJoinFindings(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		found                   []finding
		wantReason, wantMessage string
	}{
		"nothing": {},
		"one":     {found: []finding{{reason: "r1", message: "m1"}}, wantReason: "r1", wantMessage: "m1"},
		"two":     {found: []finding{{reason: "r0", message: "m0"}, {reason: "r1", message: "m1"}}, wantReason: "r0; r1", wantMessage: "m0; m1"},
		"a first one without a message leaves no separator": {
			found: []finding{{reason: "reason_0"}, {reason: "reason_1", message: "message_1"}}, wantReason: "reason_0; reason_1", wantMessage: "message_1",
		},
		"a first one without a reason leaves no separator": {
			found: []finding{{message: "message_0"}, {reason: "reason_1", message: "message_1"}}, wantReason: "reason_1", wantMessage: "message_0; message_1",
		},
		"the same twice is said once": {
			found: []finding{{reason: "r", message: "m"}, {reason: "r", message: "m"}}, wantReason: "r", wantMessage: "m",
		},
		"two reasons with one message": {
			found:      []finding{{reason: "MemoryPressure:X", message: "Kubelet stopped"}, {reason: "PIDPressure:X", message: "Kubelet stopped"}},
			wantReason: "MemoryPressure:X; PIDPressure:X", wantMessage: "Kubelet stopped",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reason, message := joinFindings(tc.found)
			if reason != tc.wantReason || message != tc.wantMessage {
				t.Errorf("got %q / %q, want %q / %q", reason, message, tc.wantReason, tc.wantMessage)
			}
		})
	}
}

func containers(statuses ...corev1.ContainerStatus) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Status.ContainerStatuses = statuses }
}

func waiting(reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

func terminated(code int32, reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, Message: message}}
}

func TestPodNormal(t *testing.T) {
	t.Parallel()
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	cases := map[string]struct {
		pod                     *corev1.Pod
		wantReason, wantMessage string
	}{
		"a ready pod": {pod: aPod()},
		"scheduled and nothing else known": {
			pod: aPod(func(p *corev1.Pod) { p.Status.Conditions = p.Status.Conditions[:1] }),
		},
		"not scheduled": {
			pod:        aPod(podCond(corev1.PodScheduled, corev1.ConditionFalse, "Unschedulable", "0/3 nodes")),
			wantReason: "Unschedulable", wantMessage: "0/3 nodes",
		},
		"containers ready, pod not ready": {
			pod:        aPod(podCond(corev1.PodReady, corev1.ConditionFalse, "ReadinessGatesNotReady", "gate")),
			wantReason: "ReadinessGatesNotReady", wantMessage: "gate",
		},
		"a container ended": {
			pod: aPod(podCond(corev1.ContainersReady, corev1.ConditionFalse, "reason_1", "message_1"),
				podCond(corev1.PodReady, corev1.ConditionFalse, "reason_2", "message_2"),
				containers(corev1.ContainerStatus{State: terminated(137, "reason_0", "message_0")})),
			wantReason: "reason_1; ContainerTerminated:reason_0", wantMessage: "message_1; message_0 ExitCode: 137",
		},
		"a container ended without a message": {
			pod:        aPod(containers(corev1.ContainerStatus{State: terminated(1, "Error", "")})),
			wantReason: "ContainerTerminated:Error", wantMessage: "ExitCode: 1",
		},
		"an init container waits": {
			pod: aPod(podCond(corev1.PodInitialized, corev1.ConditionFalse, "reason_1", "message_1"), func(p *corev1.Pod) {
				p.Status.InitContainerStatuses = []corev1.ContainerStatus{{State: waiting("reason_0", "message_0")}}
			}),
			wantReason: "reason_1; reason_0", wantMessage: "message_1; message_0",
		},
		"an init container that ended well is no fault": {
			pod: aPod(func(p *corev1.Pod) {
				p.Status.InitContainerStatuses = []corev1.ContainerStatus{{State: terminated(0, "Completed", "")}}
			}),
		},
		"plain ContainerCreating is no fault": {
			pod: aPod(containers(corev1.ContainerStatus{State: waiting("ContainerCreating", "")})),
		},
		"a crash loop tells of its last end": {
			pod: aPod(containers(corev1.ContainerStatus{
				State: waiting("CrashLoopBackOff", "back-off 10s"), LastTerminationState: terminated(137, "OOMKilled", ""),
			})),
			wantReason: "CrashLoopBackOff; ContainerTerminated:OOMKilled", wantMessage: "back-off 10s; ExitCode: 137",
		},
		"the last end of a container that runs again is past": {
			pod: aPod(containers(corev1.ContainerStatus{State: running, LastTerminationState: terminated(137, "OOMKilled", "")})),
		},
		"F02: an evicted pod": {
			pod: aPod(phase(corev1.PodFailed), func(p *corev1.Pod) {
				p.Status.Reason, p.Status.Message = "Evicted", "The node was low on resource: memory"
			}),
			wantReason: "Evicted", wantMessage: "The node was low on resource: memory",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantCondition(t, condition(gamev1alpha1.PodNormal, podFindings(tc.pod)), tc.wantReason, tc.wantMessage)
		})
	}
}

func TestNodeNormal(t *testing.T) {
	t.Parallel()
	cond := func(conditionType corev1.NodeConditionType, status corev1.ConditionStatus, reason, message string) corev1.NodeCondition {
		return corev1.NodeCondition{Type: conditionType, Status: status, Reason: reason, Message: message}
	}
	cases := map[string]struct {
		conditions              []corev1.NodeCondition
		gone                    bool
		wantReason, wantMessage string
	}{
		"ready and without pressure": {conditions: []corev1.NodeCondition{
			cond("Ready", "True", "KubeletReady", ""), cond("DiskPressure", "False", "KubeletHasNoDiskPressure", ""),
		}},
		"not ready and under pressure": {
			conditions: []corev1.NodeCondition{cond("Ready", "False", "r0", "m0"), cond("DiskPressure", "True", "r1", "m1")},
			wantReason: "Ready:r0; DiskPressure:r1", wantMessage: "m0; m1",
		},
		"nobody knows, for one cause": {
			conditions: []corev1.NodeCondition{
				cond("DiskPressure", "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status."),
				cond("MemoryPressure", "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status."),
			},
			wantReason: "DiskPressure:NodeStatusUnknown; MemoryPressure:NodeStatusUnknown", wantMessage: "Kubelet stopped posting node status.",
		},
		"the conditions of problem detectors": {conditions: []corev1.NodeCondition{
			cond("Ready", "True", "", ""), cond("SufficientIP", "True", "", ""), cond("PIDPressure", "False", "", ""),
			cond("RuntimeOffline", "False", "", ""), cond("DockerOffline", "False", "", ""),
		}},
		"out of addresses": {
			conditions: []corev1.NodeCondition{cond("SufficientIP", "False", "NoIP", "none left")},
			wantReason: "SufficientIP:NoIP", wantMessage: "none left",
		},
		"G-5: the node is gone": {
			gone: true, wantReason: "NodeNotFound", wantMessage: "There is no node named node-1 in cluster",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			node := &corev1.Node{Status: corev1.NodeStatus{Conditions: tc.conditions}}
			if tc.gone {
				node = nil
			}
			wantCondition(t, condition(gamev1alpha1.NodeNormal, nodeFindings("node-1", node)), tc.wantReason, tc.wantMessage)
		})
	}
}

func TestPersistentVolumeNormal(t *testing.T) {
	t.Parallel()
	volume := func(reason, message string) *corev1.PersistentVolume {
		return &corev1.PersistentVolume{Status: corev1.PersistentVolumeStatus{Reason: reason, Message: message}}
	}
	bound := func(name string, v *corev1.PersistentVolume) claim {
		return claim{name: name, exists: true, bound: true, volume: v}
	}
	cases := map[string]struct {
		claims                  []claim
		wantReason, wantMessage string
	}{
		"no claims":                  {},
		"sound volumes":              {claims: []claim{bound("a", volume("", "")), bound("b", volume("", ""))}},
		"two volumes with reasons":   {claims: []claim{bound("a", volume("r0", "m0")), bound("b", volume("r1", "m1"))}, wantReason: "r0; r1", wantMessage: "m0; m1"},
		"one of two with a reason":   {claims: []claim{bound("a", volume("", "")), bound("b", volume("r1", "m1"))}, wantReason: "r1", wantMessage: "m1"},
		"G-5: the claim is named":    {claims: []claim{{name: "save-arena-0"}}, wantReason: "PersistentVolumeClaim Not Found", wantMessage: "There is no pvc named play/save-arena-0 in cluster"},
		"a claim that is not bound":  {claims: []claim{{name: "a", exists: true}}, wantReason: "PersistentVolume Not Found", wantMessage: "There is no pv which pvc play/a is bound with"},
		"a volume that is not there": {claims: []claim{bound("a", nil)}, wantReason: "PersistentVolume Not Found", wantMessage: "There is no pv which pvc play/a is bound with"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantCondition(t, condition(gamev1alpha1.PersistentVolumeNormal, volumeFindings("play", tc.claims)), tc.wantReason, tc.wantMessage)
		})
	}
}

func wantCondition(t *testing.T, got gamev1alpha1.GameServerCondition, reason, message string) {
	t.Helper()
	want := corev1.ConditionTrue
	if reason+message != "" {
		want = corev1.ConditionFalse
	}
	if got.Status != want || got.Reason != reason || got.Message != message {
		t.Errorf("got %s %q / %q, want %s %q / %q", got.Status, got.Reason, got.Message, want, reason, message)
	}
}

func TestConditionsKeepTheirTimesAndTellOfChanges(t *testing.T) {
	t.Parallel()
	s := settled(t)
	earlier := stamp(start())
	stored := s.gameServer.Status.Conditions
	for i := range stored {
		stored[i].LastTransitionTime, stored[i].LastProbeTime = earlier, earlier
	}
	wantTypes(t, stored, gamev1alpha1.PodNormal, gamev1alpha1.NodeNormal, gamev1alpha1.PersistentVolumeNormal)

	same, events := healthOf(s).conditions(stored, stamp(noon()))
	if diff := cmp.Diff(stored, same); diff != "" || len(events) != 0 {
		t.Errorf("nothing changed, but events %v and (-want +got):\n%s", events, diff)
	}

	s.node = nil
	broken, events := healthOf(s).conditions(stored, stamp(noon()))
	now := stamp(noon())
	if !broken[0].LastTransitionTime.Equal(&earlier) || !broken[1].LastTransitionTime.Equal(&now) {
		t.Errorf("only NodeNormal should have a new time: %v", broken)
	}
	if len(events) != 1 || events[0].reason != "NodeNotFound" || events[0].eventType != corev1.EventTypeWarning {
		t.Errorf("events %v", events)
	}

	s.node = aNode()
	if _, events := healthOf(s).conditions(broken, now); len(events) != 0 {
		t.Errorf("what turns True is no news: %v", events)
	}
	s.pod = aPod(func(p *corev1.Pod) { p.Spec.NodeName = "" })
	unscheduled, _ := healthOf(s).conditions(nil, now)
	wantTypes(t, unscheduled, gamev1alpha1.PodNormal, gamev1alpha1.PersistentVolumeNormal)
}

func wantTypes(t *testing.T, conditions []gamev1alpha1.GameServerCondition, want ...gamev1alpha1.GameServerConditionType) {
	t.Helper()
	var got []gamev1alpha1.GameServerConditionType
	for _, c := range conditions {
		got = append(got, c.Type)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("condition types (-want +got):\n%s", diff)
	}
}

func TestAPodThatIsCreatedOrUpdatedIsNoNews(t *testing.T) {
	t.Parallel()
	unready := podCond(corev1.ContainersReady, corev1.ConditionFalse, "ContainersNotReady", "[A]")
	imageMissing := containers(corev1.ContainerStatus{State: waiting("ErrImagePull", "not found")})
	cases := map[string]struct {
		pod  *corev1.Pod
		want int
	}{
		"created":                  {pod: aPod(isNew, unready), want: 0},
		"updated":                  {pod: aPod(unready, lifecycle(appspub.LifecycleStateUpdating)), want: 0},
		"updated with a bad image": {pod: aPod(unready, imageMissing, lifecycle(appspub.LifecycleStateUpdating)), want: 1},
		"running":                  {pod: aPod(unready), want: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conditions, events := healthOf(seen{pod: tc.pod, node: aNode()}).conditions(nil, stamp(noon()))
			if len(events) != tc.want || conditions[0].Status != corev1.ConditionFalse {
				t.Errorf("events %v, want %d; condition %v", events, tc.want, conditions[0])
			}
		})
	}
}
