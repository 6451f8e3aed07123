// SPDX-License-Identifier: Apache-2.0

package indexoffset

import (
	"fmt"
	"strconv"
	"strings"
	"unique"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

// SelectorAnnotation is a pod annotation with a label selector, written by users. Peers are then the pods of the
// namespace that match, instead of the pods of the same set. Missing or blank: the pods of the same set.
const SelectorAnnotation = "index-offset-scheduler/scheduler-selector"

// ownerKind is the kind of the workload whose pods carry an index: the built-in one's and OpenKruise's alike.
const ownerKind = "StatefulSet"

// group names pods that keep their distance from one another.
type group struct {
	namespace string
	// set is the name of a GameServerSet; empty for pods of a plain StatefulSet, which are grouped by owner.
	set string
	// owner is the UID of a StatefulSet.
	owner string
}

// subject is what the plugin knows of the pod that is being scheduled.
type subject struct {
	ordinal int32
	// peers are those of the group, unless the pod brings a selector.
	group unique.Handle[group]
	// selector, if any, picks the peers among the pods of namespace. key is its canonical text.
	selector       labels.Selector
	namespace, key string
}

// identify returns who the pod is to its peers. The second value is false if it has none, or no index, for which there
// is nothing to score. The error is for a selector that cannot be understood; it is the user's to correct.
func identify(pod *corev1.Pod) (subject, bool, error) {
	var s subject
	var ok bool
	if text := strings.TrimSpace(pod.Annotations[SelectorAnnotation]); text != "" {
		selector, err := labels.Parse(text)
		if err != nil {
			return subject{}, false, fmt.Errorf("parsing label selector: %w", err)
		}
		s.namespace, s.selector, s.key = pod.Namespace, selector, selector.String()
	} else if s.group, ok = groupOf(pod); !ok {
		return subject{}, false, nil
	}
	s.ordinal, ok = ordinalOf(pod)
	return s, ok, nil
}

// groupOf returns the set the pod belongs to: its GameServerSet by label, whoever owns the pod, or else the StatefulSet
// that is its only owner.
func groupOf(pod *corev1.Pod) (unique.Handle[group], bool) {
	if set := pod.Labels[gamev1alpha1.GameServerOwnerGssKey]; set != "" {
		return unique.Make(group{namespace: pod.Namespace, set: set}), true
	}
	if len(pod.OwnerReferences) == 1 && pod.OwnerReferences[0].Kind == ownerKind {
		return unique.Make(group{namespace: pod.Namespace, owner: string(pod.OwnerReferences[0].UID)}), true
	}
	return unique.Handle[group]{}, false
}

// ordinalOf returns the index of the pod: the one its workload put on it as a label, or else the number after the last
// dash of its name.
func ordinalOf(pod *corev1.Pod) (int32, bool) {
	if ordinal, ok := parseOrdinal(pod.Labels[appsv1.PodIndexLabel]); ok {
		return ordinal, true
	}
	dash := strings.LastIndexByte(pod.Name, '-')
	if dash < 0 {
		return 0, false
	}
	return parseOrdinal(pod.Name[dash+1:])
}

// parseOrdinal reads a number in the range of a StatefulSet's ordinals.
func parseOrdinal(s string) (int32, bool) {
	if s == "" {
		return 0, false // the usual case of a missing label; the parser would make an error of it
	}
	n, err := strconv.ParseUint(s, 10, 31)
	return int32(n), err == nil
}
