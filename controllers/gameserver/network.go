// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/network/framework"
)

// networkStatus is the network part of the status: what the plugin says on the pod, what is wished, and since when.
// disabled is the wish to cut the server off.
//
// Parameters that cannot be read do not matter here: the plugin reports them, and what is known stays (fault F17).
// Addresses of a former pod of the same name are dropped (fault F18). lastTransitionTime moves only when the current or
// the desired state does, so a pod without a report is no reason to write (faults G-2, F13).
// Source: network-framework.md, section 10.
func networkStatus(stored gamev1alpha1.NetworkStatus, pod *corev1.Pod, disabled bool, now metav1.Time) gamev1alpha1.NetworkStatus {
	networkType := framework.TypeOf(pod)
	if networkType == "" {
		return gamev1alpha1.NetworkStatus{}
	}
	status := stored
	if stored.NetworkType != networkType || ofFormerPod(stored, pod) {
		began := now
		// A clock that is behind the API server's must not make this status look like that of a former pod.
		if began.Before(&pod.CreationTimestamp) {
			began = pod.CreationTimestamp
		}
		status = gamev1alpha1.NetworkStatus{NetworkType: networkType, CreateTime: began, LastTransitionTime: began}
		stored = status
	}

	status.DesiredNetworkState = gamev1alpha1.NetworkReady
	if disabled {
		status.DesiredNetworkState = gamev1alpha1.NetworkNotReady
	}
	status.CurrentNetworkState = gamev1alpha1.NetworkNotReady
	if reported := reportedNetwork(pod); reported != nil {
		status.InternalAddresses = reported.InternalAddresses
		status.ExternalAddresses = reported.ExternalAddresses
		if reported.CurrentNetworkState != "" {
			status.CurrentNetworkState = reported.CurrentNetworkState
		}
	}
	begins := stored.CurrentNetworkState == "" && stored.DesiredNetworkState == ""
	if !begins && (status.CurrentNetworkState != stored.CurrentNetworkState || status.DesiredNetworkState != stored.DesiredNetworkState) {
		status.LastTransitionTime = now
	}
	return status
}

// reportedNetwork is what the plugin wrote on the pod, nil when it has not, or when it cannot be read.
func reportedNetwork(pod *corev1.Pod) *gamev1alpha1.NetworkStatus {
	reported, err := framework.DecodeStatus(pod.Annotations[gamev1alpha1.GameServerNetworkStatus])
	if err != nil {
		// Whoever reports the network writes the annotation anew; until then it counts as not reported.
		return nil
	}
	return reported
}

func ofFormerPod(status gamev1alpha1.NetworkStatus, pod *corev1.Pod) bool {
	return status.CreateTime.Before(&pod.CreationTimestamp)
}

// networkWait says whether the network has taken longer than total to be as wished, and how long it waited, or may still
// wait. Not late and zero means that it is as wished.
func networkWait(status gamev1alpha1.NetworkStatus, total time.Duration, now time.Time) (late bool, d time.Duration) {
	if status.CurrentNetworkState == status.DesiredNetworkState {
		return false, 0
	}
	waited := now.Sub(status.LastTransitionTime.Time)
	if waited < total {
		return false, total - waited
	}
	return true, waited
}
