// SPDX-License-Identifier: Apache-2.0

// Package program names the programs that the playground binary can turn into. It is apart from them so that whoever
// starts one need not be linked with all of Kubernetes.
package program

// The names by which the programs are called.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kubelets          = "kubelets"
	Kubectl           = "kubectl"
)
