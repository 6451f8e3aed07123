// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"net/netip"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

var compareAddresses = cmp.Comparer(func(a, b netip.Addr) bool { return a == b })

// TestPoolNeverGivesAnAddressTwice lets pods come, be found and go in any order.
func TestPoolNeverGivesAnAddressTwice(t *testing.T) {
	t.Parallel()
	blocks := []netip.Prefix{netip.MustParsePrefix("10.64.0.0/28"), netip.MustParsePrefix("2001:db8::/124")}
	const room = 14 // of the smaller block
	rapid.Check(t, func(t *rapid.T) {
		p, owned := newPool(), map[types.UID][]netip.Addr{}
		pods := rapid.Custom(func(t *rapid.T) types.UID { return types.UID(strconv.Itoa(rapid.IntRange(0, 20).Draw(t, "pod"))) })
		take := func(t *rapid.T) {
			pod := pods.Draw(t, "pod")
			before, existed := owned[pod]
			got, err := p.take(pod, blocks)
			if full := len(owned) == room && !existed; full != (err != nil) {
				t.Fatalf("take() with %d of %d pods failed: %v", len(owned), room, err)
			}
			if err != nil {
				return
			}
			if existed && cmp.Diff(before, got, compareAddresses) != "" {
				t.Fatalf("pod %s had %v, now %v", pod, before, got)
			}
			owned[pod] = got
		}
		t.Repeat(map[string]func(*rapid.T){
			"take": take,
			"free": func(t *rapid.T) {
				pod := pods.Draw(t, "pod")
				p.free(pod)
				delete(owned, pod)
			},
			"restart": func(*rapid.T) { // a new pool learns from what the pods have
				p = newPool()
				for pod, addresses := range owned {
					p.observe(pod, addresses)
				}
			},
			"": func(t *rapid.T) {
				owner := map[netip.Addr]types.UID{}
				for pod, addresses := range owned {
					for i, address := range addresses {
						if other, twice := owner[address]; twice {
							t.Fatalf("pods %s and %s have %s", pod, other, address)
						}
						if !blocks[i].Contains(address) {
							t.Fatalf("pod %s has %s, outside %s", pod, address, blocks[i])
						}
						owner[address] = pod
					}
				}
			},
		})
	})
}

func TestPoolUsesFreedAddressesLast(t *testing.T) {
	t.Parallel()
	p, block := newPool(), []netip.Prefix{netip.MustParsePrefix("10.64.0.0/29")}
	var got []string
	for _, pod := range []types.UID{"a", "b", "c", "d", "e", "f", "g"} {
		addresses, err := p.take(pod, block)
		if err != nil {
			t.Fatalf("take(%s) failed: %v", pod, err)
		}
		got = append(got, addresses[0].String())
		if pod == "a" {
			p.free(pod)
		}
	}
	want := []string{"10.64.0.1", "10.64.0.2", "10.64.0.3", "10.64.0.4", "10.64.0.5", "10.64.0.6", "10.64.0.1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("addresses (-want +got):\n%s", diff)
	}
}
