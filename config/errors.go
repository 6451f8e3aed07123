// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"strings"
)

// Error is one fault of the provider file.
type Error struct {
	// Section is the name in brackets, empty for the top of the file. Key is empty when the section itself is wrong.
	Section, Key string
	// Value is what stands there, nil when the key is missing.
	Value any
	// Rule says what is allowed.
	Rule string
}

// Error gives "[section] key = value: rule".
func (e *Error) Error() string {
	var b strings.Builder
	if e.Section != "" {
		fmt.Fprintf(&b, "[%s]", e.Section)
	}
	if e.Key != "" {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(e.Key)
	}
	if e.Value != nil {
		fmt.Fprintf(&b, " = %s", show(e.Value))
	}
	b.WriteString(": ")
	b.WriteString(e.Rule)
	return b.String()
}

// Errors are all faults of the provider file, in the order of the schema, unknown keys last.
type Errors []*Error

// Error lists all faults in one line.
func (e Errors) Error() string {
	texts := make([]string, len(e))
	for i, err := range e {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

// Unwrap gives the single faults.
func (e Errors) Unwrap() []error {
	errs := make([]error, len(e))
	for i, err := range e {
		errs[i] = err
	}
	return errs
}

// show writes a value as in the file, foreign text bounded and in one line.
func show(value any) string {
	const most = 80
	var text string
	switch v := value.(type) {
	case string:
		text = fmt.Sprintf("%q", v)
	case map[string]any:
		return "a section"
	default:
		text = fmt.Sprintf("%v", v)
	}
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > most {
		return text[:most] + "..."
	}
	return text
}
