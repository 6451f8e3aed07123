// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/test/expect"
)

// upstreamShape is what users of OpenKruiseGame have: an in-place update policy, host ports, two containers, a volume,
// and no scheduler of ours.
const upstreamShape = `
apiVersion: game.kruise.io/v1alpha1
kind: GameServerSet
metadata:
  name: gs-hostport
spec:
  replicas: 3
  updateStrategy:
    rollingUpdate:
      podUpdatePolicy: InPlaceIfPossible
  network:
    networkType: Kubernetes-HostPort
    networkConf:
    - name: ContainerPorts
      value: gameserver:80
    - name: ContainerPorts
      value: sidecar:7777/UDP,7778/TCPUDP
  gameServerTemplate:
    spec:
      containers:
      - name: gameserver
        image: example.com/gameserver:1
        volumeMounts: [{name: data, mountPath: /data}]
      - name: sidecar
        image: example.com/sidecar:1
      volumes:
      - name: data
        emptyDir: {}
`

func TestUpstreamShapeWorksAsItIs(t *testing.T) {
	e := newEnv(t, "e2e-shape")
	set := e.create(upstreamShape)
	servers := e.allReady(set.Name, 0, 1, 2)
	for _, server := range servers {
		var protocols []corev1.Protocol
		for _, address := range server.GameServer.Status.NetworkStatus.ExternalAddresses {
			for _, port := range address.Ports {
				protocols = append(protocols, port.Protocol)
			}
		}
		want := []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolTCP, corev1.ProtocolUDP}
		if !slices.Equal(protocols, want) {
			t.Errorf("server %d publishes protocols %v, want %v", server.Ordinal, protocols, want)
		}
	}

	t.Log("an image update in place keeps pod, node and ports")
	e.patch(set, `{"spec":{"gameServerTemplate":{"spec":{"containers":[
		{"name":"gameserver","image":"example.com/gameserver:2","volumeMounts":[{"name":"data","mountPath":"/data"}]},
		{"name":"sidecar","image":"example.com/sidecar:1"}]}}}}`)
	e.eventually("all pods to run the new image", func(ctx context.Context) error {
		now, err := e.servers(ctx, set.Name)
		if err != nil {
			return err
		}
		for _, server := range now {
			if server.Pod == nil || server.Pod.Spec.Containers[0].Image != "example.com/gameserver:2" {
				return fmt.Errorf("server %d has not been updated", server.Ordinal)
			}
		}
		if err := berth.Client.Get(ctx, e.key(set.Name), set); err != nil {
			return err
		}
		if ready := set.Status.UpdatedReadyReplicas; ready != 3 {
			return fmt.Errorf("%d servers are ready in the new version", ready)
		}
		return nil
	})
	for i, server := range e.allReady(set.Name, 0, 1, 2) {
		before := servers[i]
		if server.Pod.UID != before.Pod.UID {
			t.Errorf("server %d was recreated by an in-place update", server.Ordinal)
		}
		if !slices.Equal(server.Addresses(), before.Addresses()) {
			t.Errorf("server %d moved from %v to %v", server.Ordinal, before.Addresses(), server.Addresses())
		}
	}
}

// TestScale is the scenario "scale" of core-webhook-and-scaler.md section 7.1.
func TestScale(t *testing.T) {
	e := newEnv(t, "e2e-scale")
	set := e.create(simple("default-gss", 3))
	first := e.allReady(set.Name, 0, 1, 2)
	e.patch(set, `{"spec":{"replicas":5}}`)
	all := e.allReady(set.Name, 0, 1, 2, 3, 4)
	e.must(expect.Same(first, all), "growing")
	e.must(expect.KeptApart(all), "placing")

	e.patch(e.gameServer("default-gss-2"), `{"spec":{"opsState":%q}}`, gamev1alpha1.WaitToDelete)
	e.patch(set, `{"spec":{"replicas":4}}`)
	e.allReady(set.Name, 0, 1, 3, 4)

	e.patch(e.gameServer("default-gss-3"), `{"spec":{"deletionPriority":"100"}}`)
	e.patch(set, `{"spec":{"replicas":3}}`)
	e.allReady(set.Name, 0, 1, 4)

	t.Log("take server 1 offline for good, and shrink, in one edit")
	e.patch(set, `{"spec":{"replicas":2,"reserveGameServerIds":[1]}}`)
	e.must(expect.Same(all, e.allReady(set.Name, 0, 4)), "shrinking")
}

// simple is a set with one UDP host port for each server, placed by our scheduler.
func simple(name string, replicas int) string {
	return fmt.Sprintf(`
apiVersion: game.kruise.io/v1alpha1
kind: GameServerSet
metadata:
  name: %s
spec:
  replicas: %d
  updateStrategy:
    rollingUpdate:
      podUpdatePolicy: InPlaceIfPossible
  network:
    networkType: Kubernetes-HostPort
    networkConf:
    - name: ContainerPorts
      value: game:7777/UDP
  gameServerTemplate:
    spec:
      schedulerName: berth-scheduler
      containers:
      - name: game
        image: example.com/game:1
`, name, replicas)
}
