// SPDX-License-Identifier: Apache-2.0

package kruise

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	appspub "github.com/openkruise/kruise-api/apps/pub"
	kruisev1beta1 "github.com/openkruise/kruise-api/apps/v1beta1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// Kind of an action.
type Kind int

// The actions.
const (
	// Create makes the pod of the ordinal.
	Create Kind = iota
	// Delete removes the pod.
	Delete
	// Hold marks a pod that should go and that a hook holds.
	Hold
	// UpdateInPlace brings the images and the revision of the pod up to date.
	UpdateInPlace
	// MakeReady is what the kubelet does with a pod.
	MakeReady
)

// Action is one thing to do with one pod; Pod is nil for Create.
type Action struct {
	Kind    Kind
	Ordinal int
	Pod     *corev1.Pod
}

// Members are the ordinals that a workload has: the first replicas ones that are not reserved, counted out one by one as
// OpenKruise does. Ranges are written "a-b"; a list that cannot be read counts as empty, also as OpenKruise does.
func Members(replicas int, reserve []intstr.IntOrString) map[int]bool {
	reserved := map[int]bool{}
	for _, element := range reserve {
		first, last := int(element.IntVal), int(element.IntVal)
		if element.Type == intstr.String {
			if n, err := fmt.Sscanf(element.StrVal, "%d-%d", &first, &last); n != 2 || err != nil {
				reserved = nil
				break
			}
		}
		for id := first; id <= last; id++ {
			reserved[id] = true
		}
	}
	members := map[int]bool{}
	for id := 0; len(members) < replicas; id++ {
		if !reserved[id] {
			members[id] = true
		}
	}
	return members
}

// Plan is what OpenKruise and the kubelet do next, given the pods of the workload.
func Plan(workload *kruisev1beta1.StatefulSet, pods []corev1.Pod) []Action {
	members := Members(int(ptr.Deref(workload.Spec.Replicas, 1)), workload.Spec.ReserveOrdinals)
	var actions []Action
	var outdated, condemned []Action
	exists := map[int]bool{}
	unavailable := 0
	for i := range pods {
		pod := &pods[i]
		at := Action{Ordinal: ordinal(workload, pod), Pod: pod}
		exists[at.Ordinal] = true
		if members[at.Ordinal] && (pod.DeletionTimestamp != nil || !available(pod)) {
			unavailable++
		}
		switch {
		case pod.DeletionTimestamp != nil:
		case !members[at.Ordinal]:
			condemned = append(condemned, at)
		case pod.Labels[appsv1.ControllerRevisionHashLabelKey] != Revision(workload):
			outdated = append(outdated, at)
		}
		if _, never := pod.Annotations[NeverReadyKey]; !ready(pod) && !never && pod.DeletionTimestamp == nil {
			at.Kind = MakeReady
			actions = append(actions, at)
		}
	}
	actions = append(actions, missing(workload, members, exists, unavailable)...)
	slices.SortFunc(condemned, func(a, b Action) int { return cmp.Compare(b.Ordinal, a.Ordinal) })
	for _, at := range condemned {
		actions = append(actions, remove(workload, at)...)
	}
	return append(actions, update(workload, outdated, unavailable)...)
}

// missing are the pods to make, lowest ordinal first, no more than may be unavailable.
func missing(workload *kruisev1beta1.StatefulSet, members, exists map[int]bool, unavailable int) []Action {
	room := len(members)
	if strategy := workload.Spec.ScaleStrategy; strategy != nil && strategy.MaxUnavailable != nil {
		room = scaled(strategy.MaxUnavailable, len(members)) - unavailable
	}
	var actions []Action
	for id := range members {
		if !exists[id] {
			actions = append(actions, Action{Kind: Create, Ordinal: id})
		}
	}
	slices.SortFunc(actions, func(a, b Action) int { return cmp.Compare(a.Ordinal, b.Ordinal) })
	return actions[:min(len(actions), max(room, 0))]
}

// remove deletes a pod, or marks it when a hook holds it.
func remove(workload *kruisev1beta1.StatefulSet, at Action) []Action {
	held := workload.Spec.Lifecycle != nil && holds(workload.Spec.Lifecycle.PreDelete, at.Pod)
	marked := at.Pod.Labels[appspub.LifecycleStateKey] == string(appspub.LifecycleStatePreparingDelete)
	switch {
	case held && marked:
		return nil
	case held:
		at.Kind = Hold
	default:
		at.Kind = Delete
	}
	return []Action{at}
}

func holds(hook *appspub.LifecycleHook, pod *corev1.Pod) bool {
	if hook == nil {
		return false
	}
	for key, value := range hook.LabelsHandler {
		if pod.Labels[key] == value {
			return true
		}
	}
	return slices.ContainsFunc(hook.FinalizersHandler, func(f string) bool { return controllerutil.ContainsFinalizer(pod, f) })
}

// update brings outdated pods to the new revision: larger priority first, then larger ordinal, as many as may be
// unavailable, and leaves partition of them.
func update(workload *kruisev1beta1.StatefulSet, outdated []Action, unavailable int) []Action {
	if workload.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return nil
	}
	rolling := ptr.Deref(workload.Spec.UpdateStrategy.RollingUpdate, kruisev1beta1.RollingUpdateStatefulSetStrategy{})
	if rolling.Paused {
		return nil
	}
	slices.SortFunc(outdated, func(a, b Action) int {
		return cmp.Or(cmp.Compare(updatePriority(rolling, b.Pod), updatePriority(rolling, a.Pod)), cmp.Compare(b.Ordinal, a.Ordinal))
	})
	outdated = outdated[:max(0, len(outdated)-int(ptr.Deref(rolling.Partition, 0)))]
	limit := intstr.FromInt32(1)
	if rolling.MaxUnavailable != nil {
		limit = *rolling.MaxUnavailable
	}
	room := scaled(&limit, int(ptr.Deref(workload.Spec.Replicas, 1))) - unavailable
	var actions []Action
	for _, at := range outdated[:min(len(outdated), max(room, 0))] {
		if rolling.PodUpdatePolicy == "" || rolling.PodUpdatePolicy == kruisev1beta1.RecreatePodUpdateStrategyType {
			actions = append(actions, remove(workload, at)...)
			continue
		}
		at.Kind = UpdateInPlace
		actions = append(actions, at)
	}
	return actions
}

// updatePriority is the integer at the end of the label that the strategy names; a minus is dropped.
func updatePriority(rolling kruisev1beta1.RollingUpdateStatefulSetStrategy, pod *corev1.Pod) int {
	if rolling.UnorderedUpdate == nil || rolling.UnorderedUpdate.PriorityStrategy == nil ||
		len(rolling.UnorderedUpdate.PriorityStrategy.OrderPriority) == 0 {
		return 0
	}
	text := pod.Labels[rolling.UnorderedUpdate.PriorityStrategy.OrderPriority[0].OrderedKey]
	digits := text[len(strings.TrimRight(text, "0123456789")):]
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}

// scaled rounds a percentage down, but never under 1.
func scaled(limit *intstr.IntOrString, of int) int {
	n, err := intstr.GetScaledValueFromIntOrPercent(limit, of, false)
	if err != nil {
		return 1
	}
	return max(n, 1)
}

// Status is what the workload says of its pods.
func Status(workload *kruisev1beta1.StatefulSet, pods []corev1.Pod) kruisev1beta1.StatefulSetStatus {
	status := workload.Status
	revision := Revision(workload)
	status.ObservedGeneration, status.UpdateRevision = workload.Generation, revision
	status.LabelSelector = metav1.FormatLabelSelector(workload.Spec.Selector)
	status.Replicas, status.ReadyReplicas, status.AvailableReplicas = int32(len(pods)), 0, 0
	status.UpdatedReplicas, status.UpdatedReadyReplicas, status.UpdatedAvailableReplicas = 0, 0, 0
	for i := range pods {
		pod := &pods[i]
		updated := pod.Labels[appsv1.ControllerRevisionHashLabelKey] == revision
		add(&status.UpdatedReplicas, updated && pod.DeletionTimestamp == nil)
		add(&status.ReadyReplicas, ready(pod))
		add(&status.AvailableReplicas, available(pod))
		add(&status.UpdatedReadyReplicas, updated && ready(pod))
		add(&status.UpdatedAvailableReplicas, updated && available(pod))
	}
	return status
}

func add(counter *int32, when bool) {
	if when {
		*counter++
	}
}

func ready(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// available: a pod whose lifecycle state is not Normal is unavailable.
func available(pod *corev1.Pod) bool {
	state := pod.Labels[appspub.LifecycleStateKey]
	return ready(pod) && (state == "" || state == string(appspub.LifecycleStateNormal))
}

// Revision names the pod template.
func Revision(workload *kruisev1beta1.StatefulSet) string {
	text, err := json.Marshal(workload.Spec.Template)
	if err != nil {
		return err.Error()
	}
	sum := sha256.Sum256(text)
	return workload.Name + "-" + hex.EncodeToString(sum[:5])
}

// ordinal of a pod with the name of the workload, -1 for other names.
func ordinal(workload *kruisev1beta1.StatefulSet, pod *corev1.Pod) int {
	digits, ok := strings.CutPrefix(pod.Name, workload.Name+"-")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil {
		return -1
	}
	return n
}

func newPod(workload *kruisev1beta1.StatefulSet, ordinal int) *corev1.Pod {
	template := workload.Spec.Template.DeepCopy()
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	pod.Namespace, pod.Name = workload.Namespace, fmt.Sprintf("%s-%d", workload.Name, ordinal)
	pod.OwnerReferences = []metav1.OwnerReference{ownerOf(workload)}
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	pod.Labels[appsv1.StatefulSetPodNameLabel] = pod.Name
	pod.Labels[appsv1.ControllerRevisionHashLabelKey] = Revision(workload)
	pod.Labels[appspub.LifecycleStateKey] = string(appspub.LifecycleStateNormal)
	pod.Spec.Hostname, pod.Spec.Subdomain = pod.Name, workload.Spec.ServiceName
	return pod
}
