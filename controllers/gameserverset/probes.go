// SPDX-License-Identifier: Apache-2.0

package gameserverset

import (
	"cmp"
	"time"

	kruisev1alpha1 "github.com/openkruise/kruise-api/apps/v1alpha1"
	corev1 "k8s.io/api/core/v1"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

// probesPatience is how long the first creation of the workload waits for the probes, which serverless nodes read when
// a pod is admitted. Everything else never waits for them. Source: core-controllers.md, S-5.
const probesPatience = 30 * time.Second

// Defaults of a service quality. Source: core-api.md 2.5.
const (
	defaultInitialDelaySeconds = 10
	defaultTimeoutSeconds      = 5
	defaultPeriodSeconds       = 3
	defaultSuccessThreshold    = 1
	defaultFailureThreshold    = 3
)

// newProbes is the PodProbeMarker that a set wants, nil when it has no service qualities. An empty list counts as none:
// OpenKruise refuses a marker without probes (S-4).
func newProbes(set *gamev1alpha1.GameServerSet) (*kruisev1alpha1.PodProbeMarker, error) {
	if len(set.Spec.ServiceQualities) == 0 {
		return nil, nil
	}
	marker := &kruisev1alpha1.PodProbeMarker{ObjectMeta: ownedMeta(set)}
	marker.Spec.Selector = selector(set)
	for i := range set.Spec.ServiceQualities {
		quality := &set.Spec.ServiceQualities[i]
		marker.Spec.Probes = append(marker.Spec.Probes, kruisev1alpha1.PodContainerProbe{
			Name:             quality.Name,
			ContainerName:    quality.ContainerName,
			PodConditionType: gamev1alpha1.ServiceQualityConditionPrefix + quality.Name,
			Probe:            kruisev1alpha1.ContainerProbeSpec{Probe: completeProbe(quality.Probe)},
		})
	}
	hash, err := hashOf(marker.Spec.Probes)
	if err != nil {
		return nil, err
	}
	marker.Annotations = map[string]string{gamev1alpha1.PpmHashKey: hash}
	return marker, nil
}

// completeProbe returns a copy with defaults for numbers that are 0.
func completeProbe(from corev1.Probe) corev1.Probe {
	probe := *from.DeepCopy()
	probe.InitialDelaySeconds = cmp.Or(probe.InitialDelaySeconds, defaultInitialDelaySeconds)
	probe.TimeoutSeconds = cmp.Or(probe.TimeoutSeconds, defaultTimeoutSeconds)
	probe.PeriodSeconds = cmp.Or(probe.PeriodSeconds, defaultPeriodSeconds)
	probe.SuccessThreshold = cmp.Or(probe.SuccessThreshold, defaultSuccessThreshold)
	probe.FailureThreshold = cmp.Or(probe.FailureThreshold, defaultFailureThreshold)
	return probe
}

// probeStep is what is to be done about the PodProbeMarker.
type probeStep int

const (
	// probesDone: it is as wanted, and OpenKruise has seen it.
	probesDone probeStep = iota
	probesCreate
	probesUpdate
	probesDelete
	// probesWait: OpenKruise has not seen it yet, or it is still being deleted.
	probesWait
)

// nextProbeStep compares the marker that is wanted with the one that is there; either may be nil.
// Source: core-controllers.md 2.5, PPM.
func nextProbeStep(wanted, have *kruisev1alpha1.PodProbeMarker) probeStep {
	switch {
	case wanted == nil && have == nil:
		return probesDone
	case have == nil:
		return probesCreate
	case have.DeletionTimestamp != nil:
		return probesWait
	case wanted == nil:
		return probesDelete
	case have.Annotations[gamev1alpha1.PpmHashKey] != wanted.Annotations[gamev1alpha1.PpmHashKey]:
		return probesUpdate
	case have.Generation != have.Status.ObservedGeneration:
		return probesWait
	default:
		return probesDone
	}
}

// probesWaitLeft is how long the first creation of the workload still has to wait for the marker; have is nil when there
// is none yet. It is not positive when the time is over.
func probesWaitLeft(set *gamev1alpha1.GameServerSet, have *kruisev1alpha1.PodProbeMarker, now time.Time) time.Duration {
	since := set.CreationTimestamp.Time
	if have != nil && have.CreationTimestamp.After(since) {
		since = have.CreationTimestamp.Time
	}
	return since.Add(probesPatience).Sub(now)
}
