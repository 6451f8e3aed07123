// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// badSamples holds wrong GameServerSets. Each file begins with a comment "# want: ..." a line: texts that the answer of
// the API server must contain. A file named *-warning.yaml is accepted with a warning, one named *-update.yaml holds a
// good document and a wrong edit of it.
const badSamples = "../samples/bad"

func TestWrongGameServerSetsAreRefused(t *testing.T) {
	e := newEnv(t, "e2e-refusal")
	files, err := filepath.Glob(filepath.Join(badSamples, "*.yaml"))
	e.must(err, "listing the wrong samples")
	if len(files) < 10 {
		t.Fatalf("only %d wrong samples in %s", len(files), badSamples)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			sample, err := readBadSample(file)
			if err != nil {
				t.Fatal(err)
			}
			if sample.before != "" {
				if answer, err := berth.Apply(t.Context(), []byte(sample.before), "-n", e.namespace); err != nil {
					t.Fatalf("the good document before the wrong edit was refused: %s", answer)
				}
			}
			answer, err := berth.Apply(t.Context(), []byte(sample.document), "-n", e.namespace)
			if sample.warning == (err != nil) {
				t.Errorf("refused: %t, want %t; the answer was: %s", err != nil, !sample.warning, answer)
			}
			for _, want := range sample.want {
				if !strings.Contains(answer, want) {
					t.Errorf("the answer does not contain %q: %s", want, answer)
				}
			}
		})
	}
}

type badSample struct {
	want             []string
	before, document string
	warning          bool
}

func readBadSample(file string) (badSample, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return badSample{}, err
	}
	sample := badSample{document: string(data), warning: strings.HasSuffix(file, "-warning.yaml")}
	for line := range strings.Lines(sample.document) {
		if want, ok := strings.CutPrefix(line, "# want: "); ok {
			sample.want = append(sample.want, strings.TrimSpace(want))
		}
	}
	if strings.HasSuffix(file, "-update.yaml") {
		var found bool
		if sample.before, sample.document, found = strings.Cut(sample.document, "\n---\n"); !found {
			sample.before = ""
		}
	}
	var probe map[string]any
	return sample, yaml.Unmarshal([]byte(sample.document), &probe)
}
