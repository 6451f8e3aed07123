// SPDX-License-Identifier: Apache-2.0

package podnetwork

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestNotesAreBounded(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		note string
		want int
	}{
		"short":            {"x", 1},
		"just fits":        {strings.Repeat("x", mostNote), mostNote},
		"long":             {strings.Repeat("x", 2000), mostNote},
		"cut in character": {strings.Repeat("é", 2000), mostNote - 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := troubleOf(errors.New(tc.note)).note
			if len(got) != tc.want || !utf8.ValidString(got) || (got != tc.note) != strings.HasSuffix(got, "...") {
				t.Errorf("a note of %d bytes, want %d, ending in %q", len(got), tc.want, got[max(0, len(got)-5):])
			}
		})
	}
}
