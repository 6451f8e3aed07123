// SPDX-License-Identifier: Apache-2.0

// Package qualitytemplate reads the templates in the actions of service qualities. It is pure and used at two moments: the
// webhook refuses templates that are not allowed, the GameServer controller fills in the output of a probe.
//
// A template is a Go text template of text, {{.Result}}, {{if}} and {{else}} with a few functions. Whatever could repeat
// itself (range, define, block, template) is not in it, because text/template cannot be stopped while it runs: one set
// with an endless loop would keep a worker of the controller for ever. So the work of a template is bounded by its length.
// Source: core-controllers.md, "Service quality", Templates.
package qualitytemplate

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"
)

const (
	// MostText bounds the text of a template, in bytes.
	MostText = 1024
	// MostRendered bounds what a template may produce, in bytes; label values take 63 and annotations should stay small.
	MostRendered = 16 << 10
)

// Allowed says in words what a template may hold.
const Allowed = "a template may hold text, {{.Result}}, {{if}} and {{else}} with the functions eq, ne, lt, le, gt, ge, and, or " +
	"and not over .Result and quoted texts, in at most 1024 bytes"

// ErrNotAllowed is in the errors of templates that can be read but hold more than what is allowed.
var ErrNotAllowed = errors.New("not allowed in a template")

// Is says whether a value is meant as a template. Any other is taken as it is.
func Is(value string) bool { return strings.Contains(value, "{{") }

// Check says what is wrong with a template: that it cannot be read, or, with ErrNotAllowed, what it must not hold.
func Check(text string) error {
	_, err := read(text)
	return err
}

// Render fills the output of a probe into a value. A template that cannot be read, is not allowed, or fails while it runs
// is no template but the text that was meant.
func Render(value, result string) string {
	if !Is(value) {
		return value
	}
	readable, err := read(value)
	if err != nil {
		return value
	}
	out := &boundedText{}
	if err := readable.Execute(out, struct{ Result string }{result}); err != nil {
		return value
	}
	return out.String()
}

func read(text string) (*template.Template, error) {
	if len(text) > MostText {
		return nil, fmt.Errorf("%d bytes: %w", len(text), ErrNotAllowed)
	}
	readable, err := template.New("value").Funcs(comparisons()).Parse(text)
	if err != nil {
		return nil, err
	}
	if len(readable.Templates()) > 1 || readable.Tree == nil {
		return nil, fmt.Errorf("define or block: %w", ErrNotAllowed)
	}
	if err := checkNodes(readable.Root); err != nil {
		return nil, err
	}
	return readable, nil
}

// checkNodes checks a part of a template that makes output.
func checkNodes(list *parse.ListNode) error {
	if list == nil {
		return nil
	}
	for _, node := range list.Nodes {
		var err error
		switch n := node.(type) {
		case *parse.TextNode:
		case *parse.ActionNode:
			err = checkPipe(n.Pipe)
		case *parse.IfNode:
			err = errors.Join(checkPipe(n.Pipe), checkNodes(n.List), checkNodes(n.ElseList))
		default:
			err = notAllowed(node)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkPipe checks a part of a template that is evaluated.
func checkPipe(pipe *parse.PipeNode) error {
	if len(pipe.Decl) > 0 {
		return notAllowed(pipe)
	}
	for _, command := range pipe.Cmds {
		for _, arg := range command.Args {
			if err := checkValue(arg); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkValue(node parse.Node) error {
	switch n := node.(type) {
	case *parse.StringNode:
		return nil
	case *parse.PipeNode:
		return checkPipe(n)
	case *parse.FieldNode:
		if slices.Equal(n.Ident, []string{"Result"}) {
			return nil
		}
	case *parse.IdentifierNode:
		_, ours := comparisons()[n.Ident]
		if ours || slices.Contains([]string{"and", "or", "not"}, n.Ident) {
			return nil
		}
	}
	return notAllowed(node)
}

func notAllowed(node parse.Node) error { return fmt.Errorf("%s: %w", node, ErrNotAllowed) }

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
	if b.Len()+len(p) > MostRendered {
		return 0, errors.New("the template produces too much text")
	}
	return b.Builder.Write(p)
}
