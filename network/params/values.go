// SPDX-License-Identifier: Apache-2.0

package params

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/berthgames/berth/internal/ports"
)

// Text is a parameter that takes any text.
func Text[C any](name string, field func(*C) *string) Value[C, string] {
	return One(name, field, TextParser())
}

// Bool is a parameter that is true or false.
func Bool[C any](name string, field func(*C) *bool) Value[C, bool] {
	return One(name, field, BoolParser())
}

// Int is a parameter that takes a whole number from low to high.
func Int[C any](name string, field func(*C) *int, low, high int) Value[C, int] {
	return One(name, field, IntParser(low, high))
}

// OneOf is a parameter that takes one of a few words.
func OneOf[C any](name string, field func(*C) *string, words ...string) Value[C, string] {
	return One(name, field, WordParser(words...))
}

// IDs is a parameter that takes identifiers separated by commas, at least one.
func IDs[C any](name string, field func(*C) *[]string) Value[C, []string] {
	return One(name, field, IDsParser())
}

// List is a parameter that takes names separated by commas, also none.
func List[C any](name string, field func(*C) *[]string) Value[C, []string] {
	return One(name, field, ListParser())
}

// PortRange is a parameter that takes a range of ports.
func PortRange[C any](name string, field func(*C) *ports.Range) Value[C, ports.Range] {
	return One(name, field, RangeParser())
}

// TextParser takes any text.
func TextParser() Parser[string] {
	return Parser[string]{Type: "text", Parse: func(text string) (string, []string) { return text, nil }}
}

// BoolParser takes what Go reads as a boolean: true, false, 1, 0, t, f in any of their spellings.
func BoolParser() Parser[bool] {
	return Parser[bool]{Type: "true or false", Parse: func(text string) (bool, []string) {
		b, err := strconv.ParseBool(text)
		if err != nil {
			return false, []string{"must be true or false"}
		}
		return b, nil
	}}
}

// IntParser takes a whole number from low to high.
func IntParser(low, high int) Parser[int] {
	kind := fmt.Sprintf("a whole number from %d to %d", low, high)
	return Parser[int]{Type: kind, Parse: func(text string) (int, []string) {
		n, err := strconv.Atoi(text)
		if err != nil || n < low || n > high {
			return 0, []string{"must be " + kind}
		}
		return n, nil
	}}
}

// WordParser takes one of words in any case, and returns it as it is spelled here.
func WordParser(words ...string) Parser[string] {
	kind := strings.Join(words, ", ")
	return Parser[string]{Type: "one of " + kind, Parse: func(text string) (string, []string) {
		i := slices.IndexFunc(words, func(word string) bool { return strings.EqualFold(word, text) })
		if i < 0 {
			return "", []string{"must be one of " + kind}
		}
		return words[i], nil
	}}
}

// ListParser takes names separated by commas. Empty parts and repeated names are dropped; the order is kept.
func ListParser() Parser[[]string] {
	return Parser[[]string]{Type: "name,name,...", Parse: func(text string) ([]string, []string) {
		var names []string
		for part := range strings.SplitSeq(text, ",") {
			if name := strings.TrimSpace(part); name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		return names, nil
	}}
}

// IDsParser is ListParser with at least one identifier.
func IDsParser() Parser[[]string] {
	return Parser[[]string]{Type: "id,id,...", Parse: func(text string) ([]string, []string) {
		ids, _ := ListParser().Parse(text)
		if len(ids) == 0 {
			return nil, []string{"must name at least one id"}
		}
		return ids, nil
	}}
}

// RangeParser takes a range of port numbers "first-last", both included, or a single number.
func RangeParser() Parser[ports.Range] {
	return Parser[ports.Range]{Type: "first-last", Parse: func(text string) (ports.Range, []string) {
		first, last, isRange := strings.Cut(text, "-")
		if !isRange {
			last = first
		}
		low, lowFault := parsePort(strings.TrimSpace(first))
		high, highFault := parsePort(strings.TrimSpace(last))
		if lowFault != "" || highFault != "" {
			return ports.Range{}, []string{fmt.Sprintf("must be two ports from 1 to %d with a dash between them", ports.MaxPort)}
		}
		r := ports.Range{Min: low, Max: high}
		if err := r.Validate(); err != nil {
			return ports.Range{}, []string{err.Error()}
		}
		return r, nil
	}}
}
