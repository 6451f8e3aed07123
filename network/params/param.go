// SPDX-License-Identifier: Apache-2.0

package params

import (
	"fmt"
	"slices"
)

// Parser reads one value. It must not panic on any text.
type Parser[T any] struct {
	// Type says how a value looks, for documentation and for the message about a missing parameter.
	Type string
	// Parse reads a trimmed text. It returns a sentence for every fault, naming the part that is wrong and what is allowed.
	Parse func(text string) (T, []string)
}

// Value is a parameter whose value is a T.
type Value[C, T any] struct {
	row    Row
	parser Parser[T]
	store  func(c *C, v T) []string
	preset *T
}

// One is a parameter that may be given once; it fills the field.
func One[C, T any](name string, field func(*C) *T, parser Parser[T]) Value[C, T] {
	return Value[C, T]{
		row: Row{Name: name, Type: parser.Type}, parser: parser,
		store: func(c *C, v T) []string { *field(c) = v; return nil },
	}
}

// Each is a parameter that may be given several times; each value is appended to the field.
func Each[C, T any](name string, field func(*C) *[]T, parser Parser[T]) Value[C, T] {
	return Value[C, T]{
		row: Row{Name: name, Type: parser.Type, Repeated: true}, parser: parser,
		store: func(c *C, v T) []string { *field(c) = append(*field(c), v); return nil },
	}
}

// Required makes a missing parameter an error.
func (v Value[C, T]) Required() Value[C, T] {
	v.row.Required = true
	return v
}

// Default sets what holds when the parameter is missing.
func (v Value[C, T]) Default(preset T) Value[C, T] {
	v.preset = &preset
	v.row.Default = fmt.Sprint(preset)
	return v
}

// Doc describes the parameter.
func (v Value[C, T]) Doc(text string) Value[C, T] {
	v.row.Description = text
	return v
}

// Alias adds names that are read too, for spellings that are in use.
func (v Value[C, T]) Alias(names ...string) Value[C, T] {
	v.row.Aliases = names
	return v
}

// Row implements Param.
func (v Value[C, T]) Row() Row { return v.row }

func (v Value[C, T]) answersTo(name string) bool {
	return name == v.row.Name || slices.Contains(v.row.Aliases, name)
}

func (v Value[C, T]) setDefault(c *C) {
	if v.preset != nil {
		v.store(c, *v.preset)
	}
}

func (v Value[C, T]) parse(c *C, text string) []string {
	parsed, faults := v.parser.Parse(text)
	if len(faults) > 0 {
		return faults
	}
	return v.store(c, parsed)
}
