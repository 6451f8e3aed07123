// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"fmt"
	"net/netip"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxNodes bounds a group so that a slip of the finger does not fill the machine.
const maxNodes = 20000

// Flags hold the command line texts from which [Options] are made. Lists are separated by commas.
type Flags struct {
	Count         int
	NamePrefix    string
	Labels        string
	Taints        string
	Capacity      string
	Zones         string
	InternalIPs   string
	ExternalIPs   string
	PodCIDRs      string
	AddressOffset int
}

// FlagSet is the part of flag.FlagSet and pflag.FlagSet that [Flags.Register] needs.
type FlagSet interface {
	IntVar(p *int, name string, value int, usage string)
	StringVar(p *string, name string, value string, usage string)
}

// Register defines the flags with their defaults. The external addresses come from the ranges that RFC 5737 reserves
// for documentation and, when these are used up, from the shared range of RFC 6598: none of them is anybody's host.
func (f *Flags) Register(flags FlagSet) {
	flags.IntVar(&f.Count, "nodes", 5, "Number of fake nodes.")
	flags.StringVar(&f.NamePrefix, "node-name-prefix", "node-", "Start of the node names; a number follows.")
	flags.StringVar(&f.Labels, "node-labels", "", "Labels of the nodes: key=value,...")
	flags.StringVar(&f.Taints, "node-taints", "", "Taints of the nodes: key[=value]:effect,...")
	flags.StringVar(&f.Capacity, "node-capacity", "cpu=32,memory=128Gi,pods=110", "Capacity of a node: resource=quantity,...")
	flags.StringVar(&f.Zones, "node-zones", "", "Zones given to the nodes in turn: zone,...")
	flags.StringVar(&f.InternalIPs, "node-internal-ips", "10.0.0.0/10",
		"Ranges of InternalIP addresses, both families possible: cidr,...; empty for none.")
	flags.StringVar(&f.ExternalIPs, "node-external-ips", "203.0.113.0/24,198.51.100.0/24,100.64.0.0/10",
		"Ranges of ExternalIP addresses, both families possible: cidr,...; empty for none.")
	flags.StringVar(&f.PodCIDRs, "pod-cidrs", "10.64.0.0/10", "One range of pod addresses per family: cidr,...")
	flags.IntVar(&f.AddressOffset, "node-address-offset", 0,
		"Addresses to leave out because other nodes of the same ranges use them.")
}

// Options checks the texts and returns what they mean. Errors name the flag, its value and what is allowed.
func (f Flags) Options() (Options, field.ErrorList) {
	p := parser{}
	o := Options{
		Count:         p.number("nodes", f.Count, maxNodes),
		NamePrefix:    p.namePrefix("node-name-prefix", f.NamePrefix),
		Labels:        p.labels("node-labels", f.Labels),
		Taints:        p.taints("node-taints", f.Taints),
		Capacity:      p.capacity("node-capacity", f.Capacity),
		Zones:         p.zones("node-zones", f.Zones),
		InternalIPs:   p.prefixes("node-internal-ips", f.InternalIPs),
		ExternalIPs:   p.prefixes("node-external-ips", f.ExternalIPs),
		PodCIDRs:      p.podCIDRs("pod-cidrs", f.PodCIDRs),
		AddressOffset: p.number("node-address-offset", f.AddressOffset, 1<<20),
	}
	if len(p.errs) > 0 {
		return Options{}, p.errs
	}
	// A range that is too small is a mistake in the flags, so it is told before anything is written.
	if _, err := newPlan(o); err != nil {
		return Options{}, field.ErrorList{err}
	}
	return o, nil
}

// parser collects the errors of all flags, so that a person sees them at once.
type parser struct{ errs field.ErrorList }

func (p *parser) invalid(flag string, value any, detail string) {
	p.errs = append(p.errs, field.Invalid(flagPath(flag), value, detail))
}

func flagPath(name string) *field.Path { return field.NewPath("--" + name) }

func (p *parser) number(flag string, value, limit int) int {
	if value < 0 || value > limit {
		p.invalid(flag, value, fmt.Sprintf("must be between 0 and %d", limit))
	}
	return value
}

func (p *parser) namePrefix(flag, value string) string {
	for _, msg := range content.IsDNS1123Subdomain(value + "0") {
		p.invalid(flag, value, msg)
	}
	return value
}

func (p *parser) labels(flag, value string) map[string]string {
	labels := map[string]string{}
	for _, item := range split(value) {
		key, val, ok := strings.Cut(item, "=")
		if !ok {
			p.invalid(flag, item, "must be key=value")
			continue
		}
		for _, msg := range append(content.IsLabelKey(key), content.IsLabelValue(val)...) {
			p.invalid(flag, item, msg)
		}
		labels[key] = val
	}
	return labels
}

func (p *parser) taints(flag, value string) []corev1.Taint {
	var taints []corev1.Taint
	for _, item := range split(value) {
		keyValue, effect, ok := strings.Cut(item, ":")
		if !ok {
			p.invalid(flag, item, "must be key:effect or key=value:effect")
			continue
		}
		key, val, _ := strings.Cut(keyValue, "=")
		for _, msg := range append(content.IsLabelKey(key), content.IsLabelValue(val)...) {
			p.invalid(flag, item, msg)
		}
		switch e := corev1.TaintEffect(effect); e {
		case corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
			taints = append(taints, corev1.Taint{Key: key, Value: val, Effect: e})
		default:
			p.invalid(flag, item, "the effect must be NoSchedule, PreferNoSchedule or NoExecute")
		}
	}
	return taints
}

func (p *parser) capacity(flag, value string) corev1.ResourceList {
	capacity := corev1.ResourceList{}
	for _, item := range split(value) {
		name, text, ok := strings.Cut(item, "=")
		if !ok {
			p.invalid(flag, item, "must be resource=quantity")
			continue
		}
		for _, msg := range content.IsLabelKey(name) {
			p.invalid(flag, item, msg)
		}
		quantity, err := resource.ParseQuantity(text)
		if err != nil || quantity.Sign() < 0 {
			p.invalid(flag, item, `the quantity must be a number with an optional unit, like "32", "500m" or "128Gi"`)
			continue
		}
		capacity[corev1.ResourceName(name)] = quantity
	}
	for _, needed := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods} {
		if _, ok := capacity[needed]; !ok {
			p.invalid(flag, value, fmt.Sprintf("must say how much %s a node has", needed))
		}
	}
	return capacity
}

func (p *parser) zones(flag, value string) []string {
	zones := split(value)
	for _, zone := range zones {
		for _, msg := range content.IsLabelValue(zone) {
			p.invalid(flag, zone, msg)
		}
	}
	return zones
}

func (p *parser) prefixes(flag, value string) []netip.Prefix {
	var prefixes []netip.Prefix
	for _, item := range split(value) {
		prefix, err := netip.ParsePrefix(item)
		if err != nil {
			p.invalid(flag, item, `must be a range like "203.0.113.0/24" or "2001:db8::/64"`)
			continue
		}
		prefixes = append(prefixes, prefix.Masked())
	}
	return prefixes
}

func (p *parser) podCIDRs(flag, value string) []netip.Prefix {
	prefixes := p.prefixes(flag, value)
	families := map[bool]bool{}
	for _, prefix := range prefixes {
		if families[prefix.Addr().Is4()] {
			p.invalid(flag, value, "must hold one range per address family")
		}
		families[prefix.Addr().Is4()] = true
	}
	if len(prefixes) == 0 {
		p.errs = append(p.errs, field.Required(flagPath(flag), "pods need addresses"))
	}
	return prefixes
}

// split returns the items of a comma separated list without blanks around them; nil for a blank text.
func split(list string) []string {
	var items []string
	for item := range strings.SplitSeq(list, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}
