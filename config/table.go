// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/berthgames/berth/internal/ports"
)

// table is one section while it is read. It remembers which of its keys were asked for, so that the rest can be
// reported as unknown. A nil *table is a section that is missing: it answers every question with nothing.
type table struct {
	name   string
	values map[string]any
	known  map[string]bool
	// checked is false below a provider that is not enabled: only its keys are looked at, not its values.
	checked  bool
	sections []*table
	errs     Errors
}

func parse(data []byte) (*table, error) {
	values := map[string]any{}
	if err := toml.Unmarshal(data, &values); err != nil {
		return nil, fmt.Errorf("reading TOML: %w", err)
	}
	return newTable("", values, true), nil
}

func newTable(name string, values map[string]any, checked bool) *table {
	return &table{name: name, values: values, known: map[string]bool{}, checked: checked}
}

// take returns the value of a key. Upper and lower case do not matter, as with upstream's TOML library, which lets
// the exact spelling win; a second spelling of the same key is a fault here.
func (t *table) take(key string) (any, bool) {
	var spellings []string
	for name := range t.values {
		if strings.EqualFold(name, key) {
			spellings = append(spellings, name)
			t.known[name] = true
		}
	}
	if len(spellings) == 0 {
		return nil, false
	}
	slices.Sort(spellings)
	if len(spellings) > 1 {
		t.fault(key, nil, fmt.Sprintf("is given more than once, as %s", strings.Join(spellings, " and ")))
	}
	if value, ok := t.values[key]; ok {
		return value, true
	}
	return t.values[spellings[0]], true
}

// provider is a section with a key enable. Below a provider that is not enabled no values are checked.
func (t *table) provider(key string, enable *bool) *table {
	p := t.section(key)
	if p == nil {
		return nil
	}
	value, given := p.take("enable")
	if !given {
		p.checked = false
		return p
	}
	on, isBool := value.(bool)
	if !isBool {
		p.fault("enable", value, "must be true or false")
	}
	*enable = on
	p.checked = on
	return p
}

// section returns the table below a key, nil when there is none.
func (t *table) section(key string) *table {
	if t == nil {
		return nil
	}
	value, given := t.take(key)
	if !given {
		return nil
	}
	values, isTable := value.(map[string]any)
	if !isTable {
		t.fault(key, value, "must be a section")
		return nil
	}
	name := key
	if t.name != "" {
		name = t.name + "." + key
	}
	s := newTable(name, values, t.checked)
	t.sections = append(t.sections, s)
	return s
}

// anyCount sets no limit on how many numbers a section may hold.
const anyCount = int(ports.MaxPort)

// ports reads min_port, max_port and block_ports, which may leave at most so many numbers to give out as one load
// balancer has listeners. It returns nil when the section is missing, or not to be checked.
func (t *table) ports(most int) *Ports {
	if t == nil {
		return nil
	}
	before := len(t.errs)
	low := t.number("min_port")
	high := t.number("max_port")
	blocked := t.numbers("block_ports")
	if !t.checked || len(t.errs) > before {
		return nil
	}
	if high < low {
		t.fault("max_port", high, fmt.Sprintf("must not be below min_port, which is %d", low))
		return nil
	}
	p := &Ports{Range: ports.Range{Min: low, Max: high}, Blocked: blocked}
	for _, n := range blocked {
		if !p.Range.Contains(n) {
			t.fault("block_ports", n, fmt.Sprintf("must lie between min_port and max_port, %s", p.Range))
		}
	}
	if len(t.errs) > before {
		return nil
	}
	switch free := p.Range.Len() - len(blocked); {
	case free == 0:
		t.fault("block_ports", blocked, fmt.Sprintf("leaves no number of %s to give out", p.Range))
	case free > most:
		t.fault("max_port", high, fmt.Sprintf("leaves %d numbers of %s to give out, and one load balancer has at most %d listeners", free, p.Range, most))
	}
	return p
}

// number reads a port number that must be there.
func (t *table) number(key string) int32 {
	value, given := t.take(key)
	if !given {
		t.invalid(key, nil, "is missing; the section needs it")
		return 0
	}
	n, ok := t.port(value)
	if !ok {
		t.invalid(key, value, fmt.Sprintf("must be an integer from 1 to %d", ports.MaxPort))
	}
	return n
}

// numbers reads a list of port numbers that may be missing. The result is ascending and holds each number once.
func (t *table) numbers(key string) []int32 {
	value, given := t.take(key)
	if !given {
		return nil
	}
	list, isList := value.([]any)
	if !isList {
		t.invalid(key, value, "must be a list of integers")
		return nil
	}
	var numbers []int32
	for _, item := range list {
		n, ok := t.port(item)
		if !ok {
			t.invalid(key, item, fmt.Sprintf("every element must be an integer from 1 to %d", ports.MaxPort))
			continue
		}
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

func (t *table) port(value any) (int32, bool) {
	n, ok := value.(int64)
	if !ok || n < 1 || n > int64(ports.MaxPort) {
		return 0, false
	}
	return int32(n), true
}

// invalid notes a bad value, which only matters below an enabled provider.
func (t *table) invalid(key string, value any, rule string) {
	if t.checked {
		t.fault(key, value, rule)
	}
}

func (t *table) fault(key string, value any, rule string) {
	t.errs = append(t.errs, &Error{Section: t.name, Key: key, Value: value, Rule: rule})
}

// faults lists what is wrong in the table and below: bad values first, then keys nobody asked for.
func (t *table) faults() Errors {
	return append(t.collect((*table).bad), t.collect((*table).unknown)...)
}

func (t *table) collect(of func(*table) Errors) Errors {
	errs := of(t)
	for _, s := range t.sections {
		errs = append(errs, s.collect(of)...)
	}
	return errs
}

func (t *table) bad() Errors { return slices.Clone(t.errs) }

func (t *table) unknown() Errors {
	var errs Errors
	for _, key := range slices.Sorted(maps.Keys(t.values)) {
		if t.known[key] {
			continue
		}
		if _, isTable := t.values[key].(map[string]any); isTable {
			name := key
			if t.name != "" {
				name = t.name + "." + key
			}
			errs = append(errs, &Error{Section: name, Rule: "unknown section"})
			continue
		}
		errs = append(errs, &Error{Section: t.name, Key: key, Value: t.values[key], Rule: "unknown key"})
	}
	return errs
}
