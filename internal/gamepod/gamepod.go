// SPDX-License-Identifier: Apache-2.0

// Package gamepod says which labels and annotations a GameServer wants on its pod. It is pure and used at two moments:
// the webhook stamps a pod that is being created, so that a server finds its operations state through the downward API
// from its first moment on and no patch is needed for it; the GameServer controller keeps a pod that exists up to date.
package gamepod

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

// SyncedKeysKey is a pod annotation with the gs-sync/ keys that were copied from the GameServer, such as
// "annotations/match-id,labels/delete-block": kind and key without its prefix, sorted. Written and read by this package; a
// recorded key that is no longer on the GameServer is removed from the pod. Missing: nothing was copied.
// A gs-sync/ key that only the pod template gave to the pod is not recorded and stays.
const SyncedKeysKey = "game.kruise.io/gs-sync-keys"

const (
	kindLabel      = "labels"
	kindAnnotation = "annotations"
	kindSeparator  = "/"
	keySeparator   = ","
)

// Wish is what one GameServer wants of its pod.
type Wish struct {
	// Labels and Annotations hold only values that the API server accepts.
	Labels, Annotations map[string]string
	// Invalid names the fields of the GameServer whose values cannot become labels; the pod keeps what it has for them.
	Invalid field.ErrorList
}

// Of reads the wish of a GameServer. Without one, nil, it is the wish of a new GameServer.
// Source: core-controllers.md, "GS → pod"; nil priorities count as 0 (fault G-8), an empty opsState as None.
func Of(gs *gamev1alpha1.GameServer) Wish {
	if gs == nil {
		gs = &gamev1alpha1.GameServer{}
	}
	w := Wish{Labels: map[string]string{}, Annotations: map[string]string{}}
	spec := field.NewPath("spec")
	w.setLabel(gamev1alpha1.GameServerUpdatePriorityKey)(priority(spec.Child("updatePriority"), gs.Spec.UpdatePriority))
	w.setLabel(gamev1alpha1.GameServerDeletePriorityKey)(priority(spec.Child("deletionPriority"), gs.Spec.DeletionPriority))
	w.setLabel(gamev1alpha1.GameServerOpsStateKey)(opsState(spec.Child("opsState"), gs.Spec.OpsState))
	disabled := gs.Spec.NetworkDisabled != nil && *gs.Spec.NetworkDisabled
	w.Labels[gamev1alpha1.GameServerNetworkDisabled] = strconv.FormatBool(disabled)

	var synced []string
	synced = append(synced, copySynced(w.Labels, gs.Labels, kindLabel)...)
	synced = append(synced, copySynced(w.Annotations, gs.Annotations, kindAnnotation)...)
	if len(synced) > 0 {
		slices.Sort(synced)
		w.Annotations[SyncedKeysKey] = strings.Join(synced, keySeparator)
	}
	return w
}

// ForNewPod returns the GameServer whose wishes count for a pod of its name that is being created: gs, or nil when gs goes
// with a former pod of that name. Its settings end with that pod and must not reach the next one (fault G-4).
func ForNewPod(gs *gamev1alpha1.GameServer) *gamev1alpha1.GameServer {
	if gs == nil {
		return nil
	}
	if owner := metav1.GetControllerOf(gs); owner != nil && owner.Kind == "Pod" {
		return nil
	}
	return gs
}

// Stamp brings a pod that is being created to the wish of its GameServer, nil when there is none; see ForNewPod.
func Stamp(pod *corev1.Pod, gs *gamev1alpha1.GameServer, now time.Time) {
	changes := Of(gs).Changes(pod, now)
	pod.Labels = changed(pod.Labels, changes.Labels)
	pod.Annotations = changed(pod.Annotations, changes.Annotations)
}

// Changes is a difference between a pod and what is wanted of it. A nil value removes its key.
type Changes struct {
	Labels, Annotations map[string]*string
}

// Changes compares the wish with a pod. An opsState that changes, or comes for the first time, takes its time along.
func (w Wish) Changes(pod *corev1.Pod, now time.Time) Changes {
	c := Changes{Labels: difference(pod.Labels, w.Labels), Annotations: difference(pod.Annotations, w.Annotations)}
	if c.Labels[gamev1alpha1.GameServerOpsStateKey] != nil {
		at := now.Format(time.RFC3339)
		c.Annotations[gamev1alpha1.GameServerOpsStateLastChangedTime] = &at
	}
	c.forget(pod, w)
	return c
}

// WithoutSynced returns the changes without gs-sync/ keys, and without their record, which says what is on the pod.
func (c Changes) WithoutSynced() Changes {
	synced := func(key string, _ *string) bool {
		return key == SyncedKeysKey || strings.HasPrefix(key, gamev1alpha1.GameServerSyncPrefix)
	}
	rest := Changes{Labels: maps.Clone(c.Labels), Annotations: maps.Clone(c.Annotations)}
	maps.DeleteFunc(rest.Labels, synced)
	maps.DeleteFunc(rest.Annotations, synced)
	return rest
}

// forget removes the gs-sync/ keys that were copied earlier and are no longer wanted (fault G-12).
func (c Changes) forget(pod *corev1.Pod, w Wish) {
	recorded, ok := pod.Annotations[SyncedKeysKey]
	if !ok {
		return
	}
	if _, still := w.Annotations[SyncedKeysKey]; !still {
		c.Annotations[SyncedKeysKey] = nil
	}
	for entry := range strings.SplitSeq(recorded, keySeparator) {
		kind, name, _ := strings.Cut(entry, kindSeparator)
		key := gamev1alpha1.GameServerSyncPrefix + name
		switch kind {
		case kindLabel:
			remove(c.Labels, pod.Labels, w.Labels, key)
		case kindAnnotation:
			remove(c.Annotations, pod.Annotations, w.Annotations, key)
		}
	}
}

// setLabel returns a function that takes the result of a check: the value becomes the label, or the error is kept.
func (w *Wish) setLabel(key string) func(string, *field.Error) {
	return func(value string, err *field.Error) {
		if err != nil {
			w.Invalid = append(w.Invalid, err)
			return
		}
		w.Labels[key] = value
	}
}

func priority(path *field.Path, p *intstr.IntOrString) (string, *field.Error) {
	if p == nil {
		return "0", nil
	}
	n, err := ParsePriority(p.String())
	if err != nil {
		return "", field.Invalid(path, p.String(), err.Error())
	}
	return strconv.Itoa(int(n)), nil
}

// ParsePriority reads a priority: an integer from 0 to 2147483647. OpenKruise reads the digits at the end of the label, so
// that a negative number would sort like its positive twin. Source: core-api.md, fault A-4.
func ParsePriority(text string) (int32, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("must be an integer from 0 to 2147483647")
	}
	return int32(n), nil
}

func opsState(path *field.Path, state gamev1alpha1.OpsState) (string, *field.Error) {
	if state == "" {
		return string(gamev1alpha1.None), nil
	}
	if faults := validation.IsValidLabelValue(string(state)); len(faults) > 0 {
		return "", field.Invalid(path, string(state), faults[0])
	}
	return string(state), nil
}

func copySynced(to, from map[string]string, kind string) []string {
	var entries []string
	for key, value := range from {
		if name, ok := strings.CutPrefix(key, gamev1alpha1.GameServerSyncPrefix); ok {
			to[key] = value
			entries = append(entries, kind+kindSeparator+name)
		}
	}
	return entries
}

func difference(have, want map[string]string) map[string]*string {
	diff := map[string]*string{}
	for key, value := range want {
		if now, ok := have[key]; !ok || now != value {
			diff[key] = &value
		}
	}
	return diff
}

func remove(diff map[string]*string, have, want map[string]string, key string) {
	_, present := have[key]
	if _, wanted := want[key]; present && !wanted {
		diff[key] = nil
	}
}

// changed returns a new map, because that of a pod under admission may be shared with its request.
func changed(have map[string]string, diff map[string]*string) map[string]string {
	if len(diff) == 0 {
		return have
	}
	result := make(map[string]string, len(have)+len(diff))
	maps.Copy(result, have)
	for key, value := range diff {
		if value == nil {
			delete(result, key)
			continue
		}
		result[key] = *value
	}
	return result
}
