// SPDX-License-Identifier: Apache-2.0

// Package expect says what tests and the demo wait for, in terms a person would use: the servers of a set, whether they
// are ready, where players reach them.
package expect

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

// PollInterval is the pause between two looks of Eventually.
const PollInterval = 250 * time.Millisecond

// Eventually looks until check answers nil, ctx ends or timeout has passed. The error then says what was waited for, for
// how long, and what the last look found.
func Eventually(ctx context.Context, timeout time.Duration, what string, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	ticker := time.NewTicker(PollInterval)
	defer ticker.Stop()
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited %s for %s: %w", timeout, what, err)
		case <-ticker.C:
		}
	}
}

// Server is one game server: its record and its pod. Either may be nil while the other exists.
type Server struct {
	Ordinal    int
	GameServer *gamev1alpha1.GameServer
	Pod        *corev1.Pod
}

// Servers reads the game servers of a set, in the order of their ordinals.
func Servers(ctx context.Context, c client.Reader, set client.ObjectKey) ([]Server, error) {
	ofSet := []client.ListOption{
		client.InNamespace(set.Namespace),
		client.MatchingLabels{gamev1alpha1.GameServerOwnerGssKey: set.Name},
	}
	var records gamev1alpha1.GameServerList
	if err := c.List(ctx, &records, ofSet...); err != nil {
		return nil, fmt.Errorf("listing game servers of %s: %w", set, err)
	}
	var pods corev1.PodList
	if err := c.List(ctx, &pods, ofSet...); err != nil {
		return nil, fmt.Errorf("listing pods of %s: %w", set, err)
	}
	found := map[int]*Server{}
	at := func(name string) *Server {
		ordinal := Ordinal(name)
		if found[ordinal] == nil {
			found[ordinal] = &Server{Ordinal: ordinal}
		}
		return found[ordinal]
	}
	for i := range records.Items {
		at(records.Items[i].Name).GameServer = &records.Items[i]
	}
	for i := range pods.Items {
		at(pods.Items[i].Name).Pod = &pods.Items[i]
	}
	servers := make([]Server, 0, len(found))
	for _, server := range found {
		servers = append(servers, *server)
	}
	slices.SortFunc(servers, func(a, b Server) int { return a.Ordinal - b.Ordinal })
	return servers, nil
}

// Ordinal is the number after the last dash of a server's name, -1 when there is none.
func Ordinal(name string) int {
	ordinal, err := strconv.Atoi(name[strings.LastIndexByte(name, '-')+1:])
	if err != nil {
		return -1
	}
	return ordinal
}

// Ready answers nil when the server is Ready and its network too, and otherwise says what is missing.
func (s Server) Ready() error {
	switch {
	case s.Pod == nil:
		return fmt.Errorf("server %d has no pod", s.Ordinal)
	case s.GameServer == nil:
		return fmt.Errorf("server %d has no GameServer", s.Ordinal)
	case s.GameServer.Status.CurrentState != gamev1alpha1.Ready:
		return fmt.Errorf("server %d is %q (pod %s)", s.Ordinal, s.GameServer.Status.CurrentState, podState(s.Pod))
	case s.GameServer.Status.NetworkStatus.CurrentNetworkState != gamev1alpha1.NetworkReady:
		return fmt.Errorf("the network of server %d is %q", s.Ordinal, s.GameServer.Status.NetworkStatus.CurrentNetworkState)
	case len(s.Addresses()) == 0:
		return fmt.Errorf("server %d is ready without an external address", s.Ordinal)
	}
	return nil
}

// Addresses are the external addresses of the server, each as ip:port/protocol.
func (s Server) Addresses() []string {
	if s.GameServer == nil {
		return nil
	}
	var addresses []string
	for _, address := range s.GameServer.Status.NetworkStatus.ExternalAddresses {
		host := address.IP
		if host == "" {
			host = address.EndPoint
		}
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		for _, port := range address.Ports {
			addresses = append(addresses, fmt.Sprintf("%s:%s/%s", host, port.Port, port.Protocol))
		}
	}
	return addresses
}

// AllReady answers nil when the set has exactly the given ordinals and all of them are ready.
func AllReady(servers []Server, ordinals ...int) error {
	if err := Exactly(servers, ordinals...); err != nil {
		return err
	}
	for _, server := range servers {
		if err := server.Ready(); err != nil {
			return err
		}
	}
	return nil
}

// Exactly answers nil when pods and GameServers exist for exactly the given ordinals.
func Exactly(servers []Server, ordinals ...int) error {
	var have []int
	for _, server := range servers {
		if server.Pod == nil || server.GameServer == nil {
			return fmt.Errorf("server %d: pod exists: %t, GameServer exists: %t", server.Ordinal, server.Pod != nil, server.GameServer != nil)
		}
		have = append(have, server.Ordinal)
	}
	if !slices.Equal(have, ordinals) {
		return fmt.Errorf("the set has servers %v, wanted %v", have, ordinals)
	}
	return nil
}

// Same answers nil when every server of now that was there before still has the same pod.
func Same(before, now []Server) error {
	pods := map[int]types.UID{}
	for _, server := range before {
		pods[server.Ordinal] = server.Pod.UID
	}
	for _, server := range now {
		if uid, known := pods[server.Ordinal]; known && uid != server.Pod.UID {
			return fmt.Errorf("server %d was made anew, though nobody asked for it", server.Ordinal)
		}
	}
	return nil
}

// KeptApart answers nil when no node holds two servers whose numbers follow each other.
func KeptApart(servers []Server) error {
	nodes := map[int]string{}
	for _, server := range servers {
		nodes[server.Ordinal] = server.Pod.Spec.NodeName
	}
	for ordinal, node := range nodes {
		if next, found := nodes[ordinal+1]; found && next == node {
			return fmt.Errorf("servers %d and %d are both on node %s", ordinal, ordinal+1, node)
		}
	}
	return nil
}

// First lists the ordinals 0 to n-1.
func First(n int) []int {
	ordinals := make([]int, n)
	for i := range ordinals {
		ordinals[i] = i
	}
	return ordinals
}

func podState(pod *corev1.Pod) string {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status != corev1.ConditionTrue {
			return fmt.Sprintf("%s, not scheduled: %s", pod.Status.Phase, condition.Message)
		}
	}
	return string(pod.Status.Phase)
}
