// SPDX-License-Identifier: Apache-2.0

// Package params reads the parameters of network plugins.
//
// A plugin declares its parameters once, in a table. The table fills the plugin's own struct from networkConf, reports
// every fault with its field path, and is the source of the documentation, so that manual, admission and plugin cannot part:
//
//	func spec() params.Spec[config] {
//		return params.Spec[config]{
//			params.IDs("SlbIds", func(c *config) *[]string { return &c.balancers }).Required().Doc("load balancers to use"),
//			params.PortProtocols("PortProtocols", func(c *config) *[]params.PortProtocol { return &c.ports }).Required(),
//			params.Bool("Fixed", func(c *config) *bool { return &c.fixed }).Default(false).Doc("keep ports over re-creation"),
//		}
//	}
//
// Names are compared exactly, as upstream does. Blanks around names and values do not matter, nor does the case of words in
// values.
package params

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/network/framework"
)

// Spec is the table of a plugin whose parameters end up in C.
type Spec[C any] []Param[C]

// Param is one row of a Spec. It is made by One, Each and the functions named after types.
type Param[C any] interface {
	// Row describes the parameter for people.
	Row() Row
	// answersTo reports whether the parameter has this name.
	answersTo(name string) bool
	// setDefault fills C with what holds when the parameter is missing.
	setDefault(c *C)
	// parse reads a value into C. It returns a sentence for every fault.
	parse(c *C, value string) []string
}

// Row describes a parameter for people.
type Row struct {
	Name string
	// Aliases are other names that are read too.
	Aliases []string
	// Type says how a value looks.
	Type string
	// Default is what holds when the parameter is missing, empty for none.
	Default  string
	Required bool
	// Repeated parameters may be given several times.
	Repeated    bool
	Description string
}

// Rows describes all parameters in the order of the table.
func (s Spec[C]) Rows() []Row {
	rows := make([]Row, len(s))
	for i, p := range s {
		rows[i] = p.Row()
	}
	return rows
}

// Parse reads conf. path is the field path of conf. Errors speak of bad values, of parameters that are missing and of
// those given too often; warnings of names the plugin does not know. With errors C is incomplete.
func (s Spec[C]) Parse(conf []gamev1alpha1.NetworkConfParams, path *field.Path) (C, framework.Findings) {
	var (
		c     C
		found framework.Findings
	)
	for _, p := range s {
		p.setDefault(&c)
	}
	given := make([]int, len(s))
	for i, param := range conf {
		name := strings.TrimSpace(param.Name)
		row := slices.IndexFunc(s, func(p Param[C]) bool { return p.answersTo(name) })
		if row < 0 {
			found.Warnings = append(found.Warnings, s.unknown(name, path.Index(i).Child("name")))
			continue
		}
		given[row]++
		if given[row] > 1 && !s[row].Row().Repeated {
			found.Errors = append(found.Errors, field.Invalid(path.Index(i).Child("name"), param.Name, "may be given only once"))
			continue
		}
		for _, fault := range s[row].parse(&c, strings.TrimSpace(param.Value)) {
			found.Errors = append(found.Errors, field.Invalid(path.Index(i).Child("value"), param.Value, name+": "+fault))
		}
	}
	for i, p := range s {
		if row := p.Row(); row.Required && given[i] == 0 {
			found.Errors = append(found.Errors, field.Required(path, fmt.Sprintf("parameter %s is missing: %s", row.Name, row.Type)))
		}
	}
	return c, found
}

func (s Spec[C]) unknown(name string, path *field.Path) string {
	names := make([]string, len(s))
	for i, row := range s.Rows() {
		names[i] = row.Name
	}
	if near := nearest(name, names); near != "" {
		return fmt.Sprintf("%s: unknown parameter %q has no effect; did you mean %q?", path, name, near)
	}
	return fmt.Sprintf("%s: unknown parameter %q has no effect; known are %s", path, name, strings.Join(names, ", "))
}
