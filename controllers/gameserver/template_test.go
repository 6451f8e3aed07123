// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestRender(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ value, result, want string }{
		"the result alone":                  {"{{.Result}}", "42", "42"},
		"the result in a text":              {"players-{{.Result}}", "42", "players-42"},
		"the result is empty":               {"value-{{.Result}}", "", "value-"},
		"eq holds":                          {`{{if eq .Result "0"}}WaitToBeDeleted{{else}}None{{end}}`, "0", "WaitToBeDeleted"},
		"eq does not hold":                  {`{{if eq .Result "0"}}1{{else}}100{{end}}`, "50", "100"},
		"ne":                                {`{{if ne .Result "0"}}yes{{else}}no{{end}}`, "42", "yes"},
		"gt compares numbers":               {`{{if gt .Result "80"}}high{{else}}normal{{end}}`, "85", "high"},
		"gt is not by text":                 {`{{if gt .Result "100"}}true{{end}}`, "150", "true"},
		"gt of numbers of different length": {`{{if gt .Result "9"}}true{{end}}`, "10", "true"},
		"gt compares texts when one is no number": {`{{if gt .Result "abc"}}true{{end}}`, "xyz", "true"},
		"lt":                             {`{{if lt .Result "50"}}true{{end}}`, "42", "true"},
		"le of the same number":          {`{{if le .Result "42.0"}}true{{end}}`, "42", "true"},
		"ge of a smaller one":            {`{{if ge .Result "43"}}true{{else}}false{{end}}`, "42", "false"},
		"no template":                    {"static-value", "42", "static-value"},
		"a field that is not there":      {"{{.InvalidField}}", "42", "{{.InvalidField}}"},
		"a template that does not parse": {"{{if}}", "42", "{{if}}"},
		"a function with too few values": {"{{eq .Result}}", "42", "{{eq .Result}}"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := render(tc.value, tc.result); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestRenderBoundsItsText(t *testing.T) {
	t.Parallel()
	value := `{{range $i := 1000000000}}{{$.Result}}{{end}}`
	if got := render(value, strings.Repeat("x", 100)); got != value {
		t.Errorf("got %d characters", len(got))
	}
}

func TestRenderNeverPanics(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.SampledFrom([]string{"{{", "}}", ".Result", "if ", "end", "gt ", `"a"`, " ", "|", "x"})
		render(strings.Join(rapid.SliceOfN(value, 0, 12).Draw(t, "parts"), ""), rapid.String().Draw(t, "result"))
	})
}
