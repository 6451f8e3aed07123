// SPDX-License-Identifier: Apache-2.0

package qualitytemplate_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/berthgames/berth/internal/qualitytemplate"
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
		"a number between two others":    {`{{if and (ge .Result "5") (not (gt .Result "9"))}}true{{end}}`, "7", "true"},
		"the result comes by a pipe":     {`{{if .Result | eq "a"}}1{{else if eq .Result "b"}}2{{end}}`, "b", "2"},
		"no template":                    {"static-value", "42", "static-value"},
		"a field that is not there":      {"{{.InvalidField}}", "42", "{{.InvalidField}}"},
		"a template that does not parse": {"{{if}}", "42", "{{if}}"},
		"a function with too few values": {"{{eq .Result}}", "42", "{{eq .Result}}"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := qualitytemplate.Render(tc.value, tc.result); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// refused are templates that would run for ever, take much memory, or reach for what is not theirs.
func refused() map[string]string {
	return map[string]string{
		"a loop":                       `{{range 9000000000000000000}}{{end}}`,
		"a loop in a branch":           `{{if .Result}}{{else}}{{range 9000000000000000000}}{{end}}{{end}}`,
		"templates that double":        `{{define "a"}}{{template "b"}}{{template "b"}}{{end}}{{define "b"}}{{end}}{{template "a"}}`,
		"a definition alone":           `{{define "a"}}{{end}}`,
		"a block":                      `{{block "a" .}}{{end}}`,
		"a template that calls itself": `{{define "value"}}{{template "value"}}{{end}}`,
		"with":                         `{{with .Result}}{{.}}{{end}}`,
		"a variable":                   `{{$x := .Result}}{{$x}}`,
		"a wide number":                `{{printf "%999999999d" 1}}`,
		"a foreign function in a pipe": `{{if eq (.Result | print) "1"}}{{end}}`,
		"another field":                `{{.Other}}`,
		"a number without quotes":      `{{if gt .Result 5}}{{end}}`,
		"too much text":                "{{.Result}}" + strings.Repeat("x", qualitytemplate.MostText),
	}
}

func TestTemplatesThatAreNotAllowed(t *testing.T) {
	t.Parallel()
	for name, text := range refused() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := qualitytemplate.Check(text); !errors.Is(err, qualitytemplate.ErrNotAllowed) {
				t.Errorf("got %v, want one that is not allowed", err)
			}
			if got := qualitytemplate.Render(text, "1"); got != text {
				t.Errorf("rendered to %q, want the text", got)
			}
		})
	}
}

func TestATemplateThatDoesNotParseIsNoMatterOfWhatIsAllowed(t *testing.T) {
	t.Parallel()
	if err := qualitytemplate.Check("{{.Result"); err == nil || errors.Is(err, qualitytemplate.ErrNotAllowed) {
		t.Errorf("got %v", err)
	}
}

func TestRenderBoundsItsText(t *testing.T) {
	t.Parallel()
	value := strings.Repeat("{{.Result}}", 50)
	if got := qualitytemplate.Render(value, strings.Repeat("x", qualitytemplate.MostRendered/40)); got != value {
		t.Errorf("got %d characters", len(got))
	}
}

func TestRenderNeverPanics(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.SampledFrom([]string{"{{", "}}", ".Result", "if ", "end", "gt ", `"a"`, " ", "|", "x"})
		qualitytemplate.Render(strings.Join(rapid.SliceOfN(value, 0, 12).Draw(t, "parts"), ""), rapid.String().Draw(t, "result"))
	})
}
