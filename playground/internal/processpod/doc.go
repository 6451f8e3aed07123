// SPDX-License-Identifier: Apache-2.0

// Package processpod runs the Deployments of a playground as processes of this machine, because there is no container
// runtime. Each replica becomes one supervised process, a process pod, that finds what a kubelet would give it.
//
// What a process pod gets:
//
//   - The program that the base name of command[0] is mapped to, with the rest of command and args. $(VAR) is expanded.
//   - The variables of env, and KUBECONFIG: a kubeconfig with a token of the pod's service account, never more rights.
//     HOSTNAME is the name of the pod; HOME and TMPDIR are folders of its own.
//   - ConfigMap, Secret, projected and emptyDir volumes as folders. Where args, env and workingDir name a mount path,
//     they get the folder's path instead. Changes of ConfigMaps and Secrets appear at once, atomically, as the kubelet
//     writes them.
//   - In a KubeSchedulerConfiguration, clientConnection.kubeconfig, because schedulers do not read KUBECONFIG.
//   - Ports. All process pods share the loopback interface, so every declared containerPort is mapped to a free port, and
//     args and env are rewritten by the rules of [rewriteListen].
//   - Readiness by the httpGet of readinessProbe, and restarts for ever (restartPolicy Always) with a growing pause.
//
// Not supported and refused: several containers, init containers, envFrom, resourceFieldRef, other volumes, other
// kinds of readiness probes. Not done: startup and liveness probes, resources, security contexts, scheduling.
package processpod
