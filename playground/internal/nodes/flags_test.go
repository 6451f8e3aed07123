// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"flag"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// parse reads a command line as a program would.
func parse(t *testing.T, args ...string) (Options, field.ErrorList) {
	t.Helper()
	var f Flags
	set := flag.NewFlagSet("test", flag.ContinueOnError)
	f.Register(set)
	if err := set.Parse(args); err != nil {
		t.Fatalf("parsing %q: %v", args, err)
	}
	return f.Options()
}

func prefixes(texts ...string) []netip.Prefix {
	var out []netip.Prefix
	for _, text := range texts {
		out = append(out, netip.MustParsePrefix(text))
	}
	return out
}

func TestFlagsWithoutArgumentsGiveTheDefaults(t *testing.T) {
	t.Parallel()
	got, errs := parse(t)
	if len(errs) > 0 {
		t.Fatalf("Options() failed: %v", errs.ToAggregate())
	}
	want := Options{
		Count:      5,
		NamePrefix: "node-",
		Labels:     map[string]string{},
		Capacity: corev1.ResourceList{
			corev1.ResourceCPU:    resource.MustParse("32"),
			corev1.ResourceMemory: resource.MustParse("128Gi"),
			corev1.ResourcePods:   resource.MustParse("110"),
		},
		InternalIPs: prefixes("10.0.0.0/10"),
		ExternalIPs: prefixes("203.0.113.0/24", "198.51.100.0/24", "100.64.0.0/10"),
		PodCIDRs:    prefixes("10.64.0.0/10"),
	}
	if diff := cmp.Diff(want, got, comparePrefixes); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
}

var comparePrefixes = cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })

func TestFlagsAreRead(t *testing.T) {
	t.Parallel()
	got, errs := parse(t, "--nodes=200", "--node-name-prefix=edge-", "--node-labels=pool=games, berth.games/edge=",
		"--node-taints=dedicated=games:NoSchedule,spot:NoExecute", "--node-capacity=cpu=500m,memory=1Gi,pods=20,example.com/gpu=2",
		"--node-zones=a,b", "--node-internal-ips=10.9.0.7/16,2001:db8::/64", "--node-external-ips=",
		"--pod-cidrs=10.64.0.0/16,2001:db8:1::/64", "--node-address-offset=3")
	if len(errs) > 0 {
		t.Fatalf("Options() failed: %v", errs.ToAggregate())
	}
	want := Options{
		Count:      200,
		NamePrefix: "edge-",
		Labels:     map[string]string{"pool": "games", "berth.games/edge": ""},
		Taints: []corev1.Taint{
			{Key: "dedicated", Value: "games", Effect: corev1.TaintEffectNoSchedule},
			{Key: "spot", Effect: corev1.TaintEffectNoExecute},
		},
		Capacity: corev1.ResourceList{
			corev1.ResourceCPU:    resource.MustParse("500m"),
			corev1.ResourceMemory: resource.MustParse("1Gi"),
			corev1.ResourcePods:   resource.MustParse("20"),
			"example.com/gpu":     resource.MustParse("2"),
		},
		Zones:         []string{"a", "b"},
		InternalIPs:   prefixes("10.9.0.0/16", "2001:db8::/64"),
		PodCIDRs:      prefixes("10.64.0.0/16", "2001:db8:1::/64"),
		AddressOffset: 3,
	}
	if diff := cmp.Diff(want, got, comparePrefixes); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
}

func TestWrongFlagsAreRefusedWithNameAndValue(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		args []string
		// want holds, per expected error, texts that its message must contain.
		want [][]string
	}{
		"a negative number of nodes":         {[]string{"--nodes=-1"}, [][]string{{"--nodes", "-1"}}},
		"more nodes than a machine can hold": {[]string{"--nodes=20001"}, [][]string{{"--nodes", "20000"}}},
		"a prefix that makes no node name":   {[]string{"--node-name-prefix=Node_"}, [][]string{{"--node-name-prefix", "Node_"}}},
		"a label without value":              {[]string{"--node-labels=pool"}, [][]string{{"--node-labels", "pool", "key=value"}}},
		"a label with a wrong key":           {[]string{"--node-labels=a b=c"}, [][]string{{"--node-labels", "a b=c"}}},
		"a taint without effect":             {[]string{"--node-taints=a=b"}, [][]string{{"--node-taints", "a=b"}}},
		"a taint with an unknown effect":     {[]string{"--node-taints=a=b:Never"}, [][]string{{"--node-taints", "NoSchedule"}}},
		"a capacity without pods":            {[]string{"--node-capacity=cpu=1,memory=1Gi"}, [][]string{{"--node-capacity", "pods"}}},
		"a capacity that is no number": {
			[]string{"--node-capacity=cpu=many,memory=1Gi,pods=1"},
			[][]string{{"--node-capacity", "cpu=many"}, {"--node-capacity", "how much cpu"}},
		},
		"an address instead of a range":  {[]string{"--node-external-ips=203.0.113.1"}, [][]string{{"--node-external-ips", "203.0.113.1"}}},
		"a range with too few addresses": {[]string{"--nodes=300", "--node-external-ips=203.0.113.0/24"}, [][]string{{"--node-external-ips", "254", "300"}}},
		"a second range that is smaller in its family": {
			[]string{"--node-internal-ips=10.0.0.0/16,2001:db8::/126"}, [][]string{{"--node-internal-ips", "2001:db8::/126", "3 addresses"}},
		},
		"no range for pods":                 {[]string{"--pod-cidrs="}, [][]string{{"--pod-cidrs"}}},
		"two pod ranges of one family":      {[]string{"--pod-cidrs=10.64.0.0/16,10.65.0.0/16"}, [][]string{{"--pod-cidrs", "one range per address family"}}},
		"a pod range with too few blocks":   {[]string{"--pod-cidrs=10.64.0.0/24"}, [][]string{{"--pod-cidrs", "2 blocks of 128"}}},
		"an offset that uses up the range":  {[]string{"--node-external-ips=203.0.113.0/24", "--node-address-offset=250"}, [][]string{{"--node-external-ips", "255"}}},
		"two wrong flags are told together": {[]string{"--nodes=-1", "--node-labels=x"}, [][]string{{"--nodes"}, {"--node-labels"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, errs := parse(t, tc.args...)
			if len(errs) != len(tc.want) {
				t.Fatalf("got %d errors, want %d: %v", len(errs), len(tc.want), errs.ToAggregate())
			}
			for i, texts := range tc.want {
				message := errs[i].Error()
				if slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(message, text) }) {
					t.Errorf("error %d is %q, want it to name %q", i, message, texts)
				}
			}
		})
	}
}
