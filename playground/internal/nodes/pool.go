// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"fmt"
	"net/netip"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// pool hands out pod addresses, so that no two pods have the same at a time. Its knowledge of the pods that have one
// already comes from observe and free. It is safe for concurrent use.
type pool struct {
	mu     sync.Mutex
	owners map[netip.Addr]types.UID
	held   map[types.UID][]netip.Addr
	// next is the position in a block from which the search for a free address starts: an address that has just become
	// free is used again as late as possible.
	next map[netip.Prefix]int
}

func newPool() *pool {
	return &pool{
		owners: map[netip.Addr]types.UID{},
		held:   map[types.UID][]netip.Addr{},
		next:   map[netip.Prefix]int{},
	}
}

// take returns one address out of each block for the pod: always the same, until free is called for it.
func (p *pool) take(pod types.UID, blocks []netip.Prefix) ([]netip.Addr, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if held := p.held[pod]; len(held) > 0 {
		return held, nil
	}
	taken := make([]netip.Addr, 0, len(blocks))
	for _, block := range blocks {
		address, ok := p.unused(block)
		if !ok {
			return nil, fmt.Errorf("all %d addresses of %s are in use", hosts(block), block)
		}
		taken = append(taken, address)
	}
	p.own(pod, taken)
	return taken, nil
}

// unused finds an address that nobody owns.
func (p *pool) unused(block netip.Prefix) (netip.Addr, bool) {
	size, from := hosts(block), p.next[block]
	for i := range size {
		n := (from + i) % size
		address := family{block}.address(n)
		if _, owned := p.owners[address]; !owned {
			p.next[block] = n + 1
			return address, true
		}
	}
	return netip.Addr{}, false
}

// observe notes that the pod has the addresses.
func (p *pool) observe(pod types.UID, addresses []netip.Addr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.held[pod]) == 0 {
		p.own(pod, addresses)
	}
}

func (p *pool) own(pod types.UID, addresses []netip.Addr) {
	p.held[pod] = addresses
	for _, address := range addresses {
		p.owners[address] = pod
	}
}

// free gives the addresses of a pod back.
func (p *pool) free(pod types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, address := range p.held[pod] {
		if p.owners[address] == pod {
			delete(p.owners, address)
		}
	}
	delete(p.held, pod)
}
