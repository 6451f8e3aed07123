// SPDX-License-Identifier: Apache-2.0

// Package nodes gives a playground its machines: Node objects without computers behind them, and a simulated kubelet
// that brings pods on them to life.
//
//   - [Flags] and [Options] say how many nodes there are and what they look like; [Apply] writes them.
//   - [RunKubelets] is the kubelet of all fake nodes. KWOK watches, waits and patches; what a pod's status becomes is
//     decided by the pure function [NextStatus].
//   - [ProbeReporter] stands in for kruise-daemon: it answers the probes of PodProbeMarkers from pod annotations.
//     [ApplyProbes] makes the objects in which it does.
//
// Pods steer their own fate by annotations, see the constants in keys.go.
package nodes
