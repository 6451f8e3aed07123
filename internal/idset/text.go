// SPDX-License-Identifier: Apache-2.0

package idset

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// ElementError says which element of a list or text is not an id or a range of ids, and why.
type ElementError struct {
	// Index of the element, from 0.
	Index int
	// Element as it was written.
	Element string
	// Problem is what is wrong with it, and what is allowed.
	Problem string
}

func (e *ElementError) Error() string {
	return fmt.Sprintf("element %d %q: %s", e.Index, e.Element, e.Problem)
}

const (
	wantID    = "must be an id from 0 to 2147483647"
	wantRange = `must be a range "a-b" with 0 <= a <= b <= 2147483647`
)

// Parse reads the text form of a set: ids and ranges "a-b", separated by commas (or semicolons), each with spaces around
// it or not, in any order, repeats allowed. Empty text is the empty set. The error is an *ElementError.
func Parse(text string) (Set, error) {
	if strings.TrimSpace(text) == "" {
		return Set{}, nil
	}
	elements := strings.Split(strings.ReplaceAll(text, ";", ","), ",")
	spans := make([]span, 0, len(elements))
	for i, element := range elements {
		element = strings.TrimSpace(element)
		sp, problem := parseText(element)
		if problem != "" {
			return Set{}, &ElementError{Index: i, Element: element, Problem: problem}
		}
		spans = append(spans, sp)
	}
	return normalize(spans), nil
}

// FromList reads the list form of a set: numbers, and texts "a-b". It is the form of spec.reserveGameServerIds and of
// OpenKruise's spec.reserveOrdinals. Repeats are allowed here, see CheckList. The error is an *ElementError.
func FromList(list []intstr.IntOrString) (Set, error) {
	spans := make([]span, 0, len(list))
	for i, element := range list {
		sp, problem := parseElement(element)
		if problem != "" {
			return Set{}, &ElementError{Index: i, Element: element.String(), Problem: problem}
		}
		spans = append(spans, sp)
	}
	return normalize(spans), nil
}

// CheckList returns every element of list that FromList refuses, and for every overlap of two elements the later one,
// in the order of the list. It is for admission, where the user should see all mistakes at once.
func CheckList(list []intstr.IntOrString) []*ElementError {
	type entry struct {
		span
		index int
	}
	var found []*ElementError
	entries := make([]entry, 0, len(list))
	for i, element := range list {
		sp, problem := parseElement(element)
		if problem != "" {
			found = append(found, &ElementError{Index: i, Element: element.String(), Problem: problem})
			continue
		}
		entries = append(entries, entry{sp, i})
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.index, b.index))
	})
	for i := 1; i < len(entries); i++ {
		// reach is the entry so far that extends furthest; it is kept in the place before the next one.
		reach, next := entries[i-1], entries[i]
		if next.first <= reach.last {
			later, earlier := max(next.index, reach.index), min(next.index, reach.index)
			repeated := Range(next.first, min(next.last, reach.last))
			found = append(found, &ElementError{Index: later, Element: list[later].String(),
				Problem: fmt.Sprintf("repeats %s of element %d; no id may appear twice", repeated, earlier)})
		}
		if reach.last > next.last {
			entries[i] = reach
		}
	}
	slices.SortStableFunc(found, func(a, b *ElementError) int { return cmp.Compare(a.Index, b.Index) })
	return found
}

func parseElement(element intstr.IntOrString) (sp span, problem string) {
	if element.Type == intstr.Int {
		if element.IntVal < 0 {
			return span{}, wantID
		}
		return span{element.IntVal, element.IntVal}, ""
	}
	first, last, isRange := strings.Cut(element.StrVal, "-")
	if !isRange {
		// OpenKruise refuses an id that is written as text.
		return span{}, wantRange + "; a single id is written as a number"
	}
	return parseRange(first, last)
}

func parseText(element string) (sp span, problem string) {
	if first, last, isRange := strings.Cut(element, "-"); isRange {
		return parseRange(first, last)
	}
	id, ok := parseID(element)
	if !ok {
		return span{}, wantID + " or a range of ids"
	}
	return span{id, id}, ""
}

func parseRange(first, last string) (sp span, problem string) {
	a, okFirst := parseID(first)
	b, okLast := parseID(last)
	if !okFirst || !okLast || a > b {
		return span{}, wantRange
	}
	return span{a, b}, ""
}

// parseID takes digits only: no sign, no space.
func parseID(text string) (int32, bool) {
	id, err := strconv.ParseUint(text, 10, 31)
	return int32(id), err == nil // ParseUint was asked for 31 bits
}

// String returns the normal form as text: ascending, three or more ids in a row as "a-b", joined by commas, such as
// "1,2,5-7". The empty set is empty text.
func (s Set) String() string {
	var b strings.Builder
	for element := range s.elements {
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(element.String())
	}
	return b.String()
}

// List returns the normal form as a list, nil for the empty set.
func (s Set) List() []intstr.IntOrString {
	var list []intstr.IntOrString
	for element := range s.elements {
		list = append(list, element)
	}
	return list
}

// elements yields the normal form.
func (s Set) elements(yield func(intstr.IntOrString) bool) {
	for _, sp := range s.spans {
		if sp.count() > 2 {
			text := strconv.Itoa(int(sp.first)) + "-" + strconv.Itoa(int(sp.last))
			if !yield(intstr.FromString(text)) {
				return
			}
			continue
		}
		if !yield(intstr.FromInt32(sp.first)) {
			return
		}
		if sp.last != sp.first && !yield(intstr.FromInt32(sp.last)) {
			return
		}
	}
}
