// SPDX-License-Identifier: Apache-2.0

package ports

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
)

// world is a cluster with a scheduler that does what the real one does with host ports: a pod goes to a node of its pool
// that has a slot and all of its numbers free, the emptiest one first.
type world struct {
	t      failer
	ledger *Ledger
	clock  *clocktesting.FakePassiveClock
	nodes  map[string]*worldNode
	pods   map[string]*worldPod
	uids   int
}

// failer is the part of testing.T and rapid.T that a world needs.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

type worldNode struct {
	pool  string
	slots int64
}

type worldPod struct {
	holder  Holder
	numbers []int32
	pool    pool
}

// pool selects the nodes of one pool; the empty one is every node.
type pool string

func (p pool) Key() string { return "pool=" + string(p) }

func (p pool) Matches(node *corev1.Node) bool {
	return p == "" || node.Labels["pool"] == string(p) || node.Name == string(p)
}

func newWorld(t failer, low, high int32, blocked ...int32) *world {
	clk := clocktesting.NewFakePassiveClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	options := Options{Range: Range{Min: low, Max: high}, Blocked: blocked, PromiseFor: 10 * time.Second}
	return &world{t: t, ledger: NewLedger(options, clk), clock: clk, nodes: map[string]*worldNode{}, pods: map[string]*worldPod{}}
}

// node adds a node "name" or "name/pool".
func (w *world) node(name string, slots int64) {
	name, poolName, _ := strings.Cut(name, "/")
	w.nodes[name] = &worldNode{pool: poolName, slots: slots}
	w.ledger.SetNode(&corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"pool": poolName}},
		Status:     corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(slots, resource.DecimalSI)}},
	})
}

func (w *world) removeNode(name string) {
	delete(w.nodes, name)
	w.ledger.RemoveNode(name)
}

// foreign puts a pod with one host port, that takes no slot, on a node.
func (w *world) foreign(node string, number int32, protocol Protocols) string {
	name := fmt.Sprintf("foreign-%s-%d-%s", node, number, protocol)
	w.store(name, node, "", []Port{{Protocol: protocol, Number: number}}, Resources{})
	return name
}

func (w *world) store(name, node string, p pool, held []Port, requests Resources) {
	w.uids++
	h := Holder{
		Name: types.NamespacedName{Namespace: "games", Name: name}, UID: types.UID(fmt.Sprint(w.uids)),
		Node: node, Held: held, Requests: requests, Selector: p,
	}
	w.pods[name] = &worldPod{holder: h, pool: p}
	w.ledger.SetPod(h)
}

// admit asks for numbers as the webhook does, without storing the pod.
func (w *world) admit(name string, p pool, wants ...Protocols) []int32 {
	w.t.Helper()
	numbers, err := w.ledger.Grant(w.request(name, p, wants...))
	if err != nil {
		w.t.Fatalf("granting ports to %s: %v", name, err)
	}
	return numbers
}

func (w *world) request(name string, p pool, wants ...Protocols) Request {
	set, ordinal, _ := strings.Cut(name, "-")
	var start uint32
	_, _ = fmt.Sscan(ordinal, &start)
	for _, c := range set {
		start += 31 * uint32(c)
	}
	return Request{
		Pod: types.NamespacedName{Namespace: "games", Name: name}, ID: types.UID(fmt.Sprint("request-", w.uids, name)),
		Wants: wants, Selector: p, Requests: Resources{Pods: 1}, Start: start,
	}
}

// create admits a pod and stores it, without a node.
func (w *world) create(name string, p pool, wants ...Protocols) *worldPod {
	w.t.Helper()
	numbers := w.admit(name, p, wants...)
	var held []Port
	for i, number := range numbers {
		for _, protocol := range []Protocols{TCP, UDP, SCTP} {
			if wants[i]&protocol != 0 {
				held = append(held, Port{Protocol: protocol, Number: number})
			}
		}
	}
	w.store(name, "", p, held, Resources{Pods: 1})
	w.pods[name].numbers = numbers
	return w.pods[name]
}

// bind puts a stored pod on a node.
func (w *world) bind(name, node string) {
	w.t.Helper()
	p := w.pods[name]
	if !w.feasible(p, node) {
		w.t.Fatalf("%s with %v does not fit on %s", name, p.numbers, node)
	}
	p.holder.Node = node
	w.ledger.SetPod(p.holder)
}

func (w *world) delete(name string) {
	w.ledger.RemovePod(w.pods[name].holder.UID)
	delete(w.pods, name)
}

func (w *world) feasible(p *worldPod, node string) bool {
	n, ok := w.nodes[node]
	if !ok || (p.pool != "" && string(p.pool) != n.pool && string(p.pool) != node) {
		return false
	}
	slots := n.slots
	for _, other := range w.pods {
		if other.holder.Node != node {
			continue
		}
		slots -= other.holder.Requests.Pods
		for _, port := range p.holder.Held {
			if slices.Contains(other.holder.Held, port) {
				return false
			}
		}
	}
	return slots >= p.holder.Requests.Pods
}

func (w *world) load(node string) int {
	n := 0
	for _, p := range w.pods {
		if p.holder.Node == node && p.holder.Requests.Pods > 0 {
			n++
		}
	}
	return n
}

// schedule binds what can be bound, in the order of names, and lists the pods that wait.
func (w *world) schedule() []string {
	var waiting []string
	for _, name := range w.waiting() {
		best := ""
		for _, node := range w.nodeNames() {
			if w.feasible(w.pods[name], node) && (best == "" || w.load(node) < w.load(best)) {
				best = node
			}
		}
		if best == "" {
			waiting = append(waiting, name)
			continue
		}
		w.bind(name, best)
	}
	return waiting
}

func (w *world) waiting() []string {
	var names []string
	for name, p := range w.pods {
		if p.holder.Node == "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (w *world) nodeNames() []string {
	var names []string
	for name := range w.nodes {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// run creates a pod and lets the scheduler act.
func (w *world) run(name string, p pool, wants ...Protocols) {
	w.t.Helper()
	w.create(name, p, wants...)
	if waiting := w.schedule(); len(waiting) > 0 {
		w.t.Fatalf("%v wait; %s was given %v", waiting, name, w.pods[name].numbers)
	}
}
