// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	"errors"
	"strconv"
	"strings"
	"text/template"
)

// mostRendered bounds what a template may produce; label values take 63 characters and annotations should stay small.
const mostRendered = 16 << 10

// render fills the output of a probe into a value of a service quality action. A value without "{{" is taken as it is. A
// template has one field, .Result, and the functions eq, ne, lt, le, gt and ge over two texts. One that does not parse, or
// fails while it runs, is no template but the text that was meant.
// Source: core-controllers.md, "Service quality", Templates.
func render(value, result string) string {
	if !strings.Contains(value, "{{") {
		return value
	}
	parsed, err := template.New("value").Funcs(comparisons()).Parse(value)
	if err != nil {
		return value
	}
	out := &boundedText{}
	if err := parsed.Execute(out, struct{ Result string }{result}); err != nil {
		return value
	}
	return out.String()
}

// comparisons replace those of the template language, which refuse to compare texts by size.
func comparisons() template.FuncMap {
	return template.FuncMap{
		"eq": func(a, b string) bool { return a == b },
		"ne": func(a, b string) bool { return a != b },
		"lt": func(a, b string) bool { return compare(a, b) < 0 },
		"le": func(a, b string) bool { return compare(a, b) <= 0 },
		"gt": func(a, b string) bool { return compare(a, b) > 0 },
		"ge": func(a, b string) bool { return compare(a, b) >= 0 },
	}
}

// compare orders two texts as numbers when both are numbers, otherwise as text.
func compare(a, b string) int {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	switch {
	case errX != nil || errY != nil:
		return strings.Compare(a, b)
	case x < y:
		return -1
	case x > y:
		return 1
	default:
		return 0
	}
}

type boundedText struct {
	strings.Builder
}

func (b *boundedText) Write(p []byte) (int, error) {
	if b.Len()+len(p) > mostRendered {
		return 0, errors.New("the template produces too much text")
	}
	return b.Builder.Write(p)
}
