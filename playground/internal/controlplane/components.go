// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"

	"github.com/berthgames/berth/playground/internal/freeport"
	"github.com/berthgames/berth/playground/internal/probe"
	"github.com/berthgames/berth/playground/internal/program"
	"github.com/berthgames/berth/playground/internal/supervisor"
)

const (
	// serviceRange is where cluster addresses of Services come from, and apiServiceIP the first of them, which
	// belongs to the API server's own Service.
	serviceRange = "10.96.0.0/16"
	apiServiceIP = "10.96.0.1"
)

// ports are the loopback ports of the control plane.
type ports struct{ etcd, etcdPeer, apiServer, controllerManager, scheduler int }

func pickPorts() (ports, error) {
	p, err := freeport.Pick(5)
	if err != nil {
		return ports{}, err
	}
	return ports{etcd: p[0], etcdPeer: p[1], apiServer: p[2], controllerManager: p[3], scheduler: p[4]}, nil
}

func (p ports) server() string { return "https://" + freeport.Address(p.apiServer) }

// spec returns a component that is this very binary under another name.
func (c *ControlPlane) spec(name string, args []string, shown map[string]int, ready func(context.Context) error) supervisor.Spec {
	return supervisor.Spec{
		Name: name, Log: c.Dir.Log(name), Ready: ready,
		Command: func(context.Context) (supervisor.Command, error) {
			return supervisor.Command{
				Path: c.Binary, Args: append([]string{name}, args...), Env: c.Env, Dir: c.Dir.Root(), Ports: shown,
			}, nil
		},
	}
}

func (c *ControlPlane) etcd(p ports) supervisor.Spec {
	client, peer := "http://"+freeport.Address(p.etcd), "http://"+freeport.Address(p.etcdPeer)
	args := []string{
		"--name=playground",
		"--data-dir=" + c.Dir.Join("etcd"),
		"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=playground=" + peer,
		"--quota-backend-bytes=4294967296",
		"--log-level=warn",
	}
	if !c.EtcdFsync {
		args = append(args, "--unsafe-no-fsync")
	}
	return c.spec(program.Etcd, args, map[string]int{"client": p.etcd, "peer": p.etcdPeer}, probe.HTTP(client+"/readyz"))
}

func (c *ControlPlane) apiServer(p ports, keys *pki) supervisor.Spec {
	args := []string{
		"--bind-address=" + freeport.Host, fmt.Sprintf("--secure-port=%d", p.apiServer),
		"--advertise-address=" + freeport.Host, "--endpoint-reconciler-type=none",
		"--etcd-servers=http://" + freeport.Address(p.etcd),
		"--tls-cert-file=" + keys.path("apiserver.crt"), "--tls-private-key-file=" + keys.path("apiserver.key"),
		"--client-ca-file=" + keys.path("ca.crt"),
		"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
		"--allow-privileged=true",
		"--service-cluster-ip-range=" + serviceRange,
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + keys.path("sa.pub"), "--service-account-signing-key-file=" + keys.path("sa.key"),
		"--requestheader-client-ca-file=" + keys.path("front-proxy-ca.crt"), "--requestheader-allowed-names=" + frontProxyName,
		"--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + keys.path("front-proxy-client.crt"), "--proxy-client-key-file=" + keys.path("front-proxy-client.key"),
		"--egress-selector-config-file=" + c.Dir.Join(egressConfigName),
	}
	if c.Audit {
		args = append(args,
			"--audit-policy-file="+c.Dir.Join(auditPolicyName), "--audit-log-path="+c.Dir.Join("audit", "audit.log"),
			"--audit-log-maxsize=200", "--audit-log-maxbackup=50")
	}
	return c.spec(program.APIServer, args, map[string]int{"https": p.apiServer}, c.apiReady)
}

func (c *ControlPlane) controllerManager(p ports, keys *pki) supervisor.Spec {
	args := append(c.clientFlags(program.ControllerManager, p.controllerManager),
		"--root-ca-file="+keys.path("ca.crt"),
		"--service-account-private-key-file="+keys.path("sa.key"),
		"--cluster-signing-cert-file="+keys.path("ca.crt"), "--cluster-signing-key-file="+keys.path("ca.key"),
		"--use-service-account-credentials=true",
		"--service-cluster-ip-range="+serviceRange,
		// Tests shall measure the tested, not the limits of a small cluster.
		"--kube-api-qps=200", "--kube-api-burst=400",
	)
	return c.spec(program.ControllerManager, args, map[string]int{"https": p.controllerManager}, probe.HTTP(healthz(p.controllerManager)))
}

func (c *ControlPlane) scheduler(p ports) supervisor.Spec {
	args := append(c.clientFlags(program.Scheduler, p.scheduler), "--kube-api-qps=200", "--kube-api-burst=400")
	return c.spec(program.Scheduler, args, map[string]int{"https": p.scheduler}, probe.HTTP(healthz(p.scheduler)))
}

// clientFlags are the flags that the controller manager and the scheduler share. There is one of each, so an election
// would only add writes and make them end whenever a test kills the API server.
func (c *ControlPlane) clientFlags(name string, port int) []string {
	kubeconfig := c.Dir.Join(name + ".kubeconfig")
	return []string{
		"--kubeconfig=" + kubeconfig, "--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=" + freeport.Host, fmt.Sprintf("--secure-port=%d", port),
		"--leader-elect=false",
	}
}

func (c *ControlPlane) kubelets(probes bool) supervisor.Spec {
	args := []string{"--kubeconfig=" + c.Dir.Join(program.Kubelets+".kubeconfig")}
	if probes {
		args = append(args, "--probes")
	}
	return c.spec(program.Kubelets, args, nil, nil)
}

func healthz(port int) string { return "https://" + freeport.Address(port) + "/healthz" }

const (
	egressConfigName = "egress-selector.yaml"
	auditPolicyName  = "audit-policy.yaml"

	// EgressSocket is the name, in the state folder, of the socket over which the API server reaches the addresses of
	// the cluster. It is relative because the path of a socket is limited to about 100 bytes, and all components run
	// in the state folder.
	EgressSocket = "egress.sock"
)

// egressConfig makes the API server reach Services (and only these) through the playground's proxy. Webhooks and
// aggregated servers given by URL are reached directly.
// Source: Kubernetes documentation, "Set up Konnectivity service".
const egressConfig = `apiVersion: apiserver.k8s.io/v1beta1
kind: EgressSelectorConfiguration
egressSelections:
- name: cluster
  connection:
    proxyProtocol: HTTPConnect
    transport:
      uds:
        udsName: ` + EgressSocket + "\n"

// auditPolicy logs who did what, without the objects, once per request when it is answered.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted, Panic]
rules:
- level: Metadata
`
