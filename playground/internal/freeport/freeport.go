// SPDX-License-Identifier: Apache-2.0

// Package freeport chooses TCP ports of the loopback interface.
package freeport

import (
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
)

// The range lies below Kubernetes' node ports (30000) and Linux' ports for outgoing connections (32768). A port out of
// the latter could be taken by any connection while the component that listens on it restarts.
const (
	First = 20000
	Last  = 29999
)

// Host is the only address that the playground listens on.
const Host = "127.0.0.1"

// Pick returns n different ports, between First and Last, on which nobody listened a moment ago. Somebody else may take
// one before it is used, so a listener that fails must ask again.
func Pick(n int) ([]int, error) {
	return pick(n, rand.IntN(Last-First+1), IsFree)
}

// Keep returns the ports given if nobody listens on them, so that a restarted process stays where it was; else as many
// others, and also if there are not n of them.
func Keep(ports []int, n int) ([]int, error) {
	if len(ports) == n && !slices.ContainsFunc(ports, func(port int) bool { return !IsFree(port) }) {
		return ports, nil
	}
	return Pick(n)
}

func pick(n, offset int, free func(int) bool) ([]int, error) {
	const size = Last - First + 1
	ports := make([]int, 0, n)
	for i := 0; i < size && len(ports) < n; i++ {
		if port := First + (offset+i)%size; free(port) {
			ports = append(ports, port)
		}
	}
	if len(ports) < n {
		return nil, fmt.Errorf("%d ports wanted, only %d of %d-%d are free on %s", n, len(ports), First, Last, Host)
	}
	return ports, nil
}

// IsFree tells whether a listener can be opened on the port now.
func IsFree(port int) bool {
	l, err := net.Listen("tcp", Address(port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// Address returns host:port of a port on the loopback interface.
func Address(port int) string {
	return net.JoinHostPort(Host, strconv.Itoa(port))
}
