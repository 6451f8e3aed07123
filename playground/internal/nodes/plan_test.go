// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"
)

// defaultPlan is the plan for args on top of the default flags.
func defaultPlan(t *testing.T, args ...string) plan {
	t.Helper()
	options, errs := parse(t, args...)
	if len(errs) > 0 {
		t.Fatalf("Options() failed: %v", errs.ToAggregate())
	}
	p, err := newPlan(options)
	if err != nil {
		t.Fatalf("newPlan() failed: %v", err)
	}
	return p
}

func TestNodeHasNameLabelsAddressesAndPodBlocks(t *testing.T) {
	t.Parallel()
	p := defaultPlan(t, "--nodes=300", "--node-labels=pool=games", "--node-zones=a,b,c",
		"--node-internal-ips=10.0.0.0/10,2001:db8::/64", "--pod-cidrs=10.64.0.0/10,2001:db8:1::/64")
	got := p.node(257)
	type view struct {
		Name      string
		Labels    map[string]string
		Addresses []corev1.NodeAddress
		PodCIDRs  []string
	}
	want := view{
		Name: "node-257",
		Labels: map[string]string{
			"kubernetes.io/hostname": "node-257", "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
			"topology.kubernetes.io/zone": "c", "pool": "games",
		},
		Addresses: []corev1.NodeAddress{
			{Type: corev1.NodeInternalIP, Address: "10.0.1.2"},
			{Type: corev1.NodeInternalIP, Address: "2001:db8::102"},
			{Type: corev1.NodeExternalIP, Address: "198.51.100.4"}, // the first range ends with the 254th node
			{Type: corev1.NodeHostName, Address: "node-257"},
		},
		PodCIDRs: []string{"10.64.128.128/25", "2001:db8:1::8080/121"},
	}
	if diff := cmp.Diff(want, view{got.Name, got.Labels, got.Status.Addresses, got.Spec.PodCIDRs}); diff != "" {
		t.Errorf("node (-want +got):\n%s", diff)
	}
	if got.Spec.PodCIDR != "10.64.128.128/25" {
		t.Errorf("podCIDR is %s, want the first of podCIDRs", got.Spec.PodCIDR)
	}
}

func TestAddressesOfManyNodesAreDistinct(t *testing.T) {
	t.Parallel()
	p := defaultPlan(t, "--nodes=5000")
	owner := map[string]string{}
	for i := range 5000 {
		node := p.node(i)
		for _, a := range node.Status.Addresses {
			if first, taken := owner[a.Address]; taken {
				t.Fatalf("%s has address %s of %s", node.Name, a.Address, first)
			}
			owner[a.Address] = node.Name
		}
	}
}

func TestPodBlocksDoNotOverlapAndHoldAllPods(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pods := rapid.IntRange(1, 1000).Draw(t, "pods")
		parent := netip.MustParsePrefix(rapid.SampledFrom([]string{"10.64.0.0/10", "2001:db8::/64"}).Draw(t, "range"))
		a := rapid.IntRange(0, 3000).Draw(t, "a")
		b := rapid.IntRange(0, 3000).Filter(func(b int) bool { return b != a }).Draw(t, "b")
		bits := podBits(int64(pods))
		first, second := block(parent, bits, a), block(parent, bits, b)
		if first.Overlaps(second) {
			t.Fatalf("blocks %d and %d overlap: %s, %s", a, b, first, second)
		}
		if !parent.Overlaps(first) || !parent.Contains(first.Addr()) {
			t.Fatalf("block %s is outside %s", first, parent)
		}
		if got := hosts(first); got < pods {
			t.Fatalf("block %s has %d addresses for %d pods", first, got, pods)
		}
	})
}

func TestAddressesFillOneRangeAfterTheOther(t *testing.T) {
	t.Parallel()
	f := family{netip.MustParsePrefix("192.0.2.0/30"), netip.MustParsePrefix("192.0.2.8/29")}
	if got := f.room(); got != 8 {
		t.Fatalf("room() = %d, want 8", got)
	}
	want := []string{"192.0.2.1", "192.0.2.2", "192.0.2.9", "192.0.2.10", "192.0.2.11", "192.0.2.12", "192.0.2.13", "192.0.2.14"}
	var got []string
	for n := range f.room() {
		got = append(got, f.address(n).String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("addresses (-want +got):\n%s", diff)
	}
}
