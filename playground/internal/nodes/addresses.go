// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"encoding/binary"
	"net/netip"
)

// maxRoomBits is where counting the addresses of a range stops; no playground needs more.
const maxRoomBits = 40

// family is the ranges of one address family in the order in which they are used up.
type family []netip.Prefix

// families splits ranges by address family, IPv4 first.
func families(ranges []netip.Prefix) []family {
	var v4, v6 family
	for _, r := range ranges {
		if r.Addr().Is4() {
			v4 = append(v4, r)
		} else {
			v6 = append(v6, r)
		}
	}
	var out []family
	for _, f := range []family{v4, v6} {
		if len(f) > 0 {
			out = append(out, f)
		}
	}
	return out
}

// room is the number of host addresses in the ranges.
func (f family) room() int {
	total := 0
	for _, r := range f {
		total += hosts(r)
	}
	return total
}

// address returns the n-th host address, counted from 0 over all ranges. n must be below room.
func (f family) address(n int) netip.Addr {
	for _, r := range f {
		if n < hosts(r) {
			return add(r.Addr(), uint64(n)+1)
		}
		n -= hosts(r)
	}
	return netip.Addr{}
}

// hosts is the number of addresses in r that a machine may have: all but the first, which names the network, and the
// last of an IPv4 range, which is its broadcast address.
func hosts(r netip.Prefix) int {
	all := pow2(r.Addr().BitLen() - r.Bits())
	if r.Addr().Is4() {
		return max(all-2, 0)
	}
	return all - 1
}

// block returns the n-th range with hostBits bits for hosts inside r.
func block(r netip.Prefix, hostBits, n int) netip.Prefix {
	return netip.PrefixFrom(add(r.Addr(), uint64(n)<<hostBits), r.Addr().BitLen()-hostBits)
}

// add returns the address n behind a. Both families are handled as 128 bit numbers, of which the lower half is enough.
func add(a netip.Addr, n uint64) netip.Addr {
	bytes := a.As16()
	binary.BigEndian.PutUint64(bytes[8:], binary.BigEndian.Uint64(bytes[8:])+n)
	sum := netip.AddrFrom16(bytes)
	if a.Is4() {
		return sum.Unmap()
	}
	return sum
}

// pow2 is 2 to the power of n, 0 for negative n, and never more than 2 to the power of maxRoomBits.
func pow2(n int) int {
	if n < 0 {
		return 0
	}
	return 1 << min(n, maxRoomBits)
}
