// SPDX-License-Identifier: Apache-2.0

package ports

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a pod is told that may use the nodes a and b, with the numbers 8000 to 8003 of which 8003 is blocked.
func TestOutlook(t *testing.T) {
	t.Parallel()
	both := []Port{{TCP, 8000}, {UDP, 8000}}
	cases := map[string]struct {
		taken map[string][]Port // by node
		held  []Port
		want  Outlook
	}{
		"nothing is in use": {held: both, want: Outlook{Eligible: 2, Fitting: 2, MostFree: 3}},
		"a blocked number in use does not count": {
			taken: map[string][]Port{"a": {{TCP, 8003}}, "b": {{TCP, 8003}}},
			held:  both, want: Outlook{Eligible: 2, Fitting: 2, MostFree: 3},
		},
		"the emptiest node counts": {
			taken: map[string][]Port{"a": {{TCP, 8000}}, "b": {{TCP, 8000}, {TCP, 8001}}},
			held:  both, want: Outlook{Eligible: 2, MostFree: 2},
		},
		"a number in use in both protocols counts once": {
			taken: map[string][]Port{"a": {{TCP, 8000}, {UDP, 8000}}, "b": {{TCP, 8000}, {UDP, 8000}}},
			held:  both, want: Outlook{Eligible: 2, MostFree: 2},
		},
		"each protocol has numbers free, no number has both": {
			taken: map[string][]Port{"a": {{TCP, 8000}, {TCP, 8001}, {UDP, 8002}}, "b": {{TCP, 8000}, {UDP, 8001}, {UDP, 8002}}},
			held:  both, want: Outlook{Eligible: 2},
		},
		"different numbers per protocol need not be free in the other": {
			taken: map[string][]Port{"a": {{TCP, 8000}, {UDP, 8001}}, "b": {{TCP, 8000}, {UDP, 8001}}},
			held:  []Port{{TCP, 8000}, {UDP, 8001}}, want: Outlook{Eligible: 2, MostFree: 2},
		},
		"of different numbers per protocol the scarcest counts": {
			taken: map[string][]Port{"a": {{TCP, 8000}, {TCP, 8001}, {TCP, 8002}}, "b": {{TCP, 8000}, {TCP, 8001}, {TCP, 8002}}},
			held:  []Port{{TCP, 8000}, {UDP, 8001}}, want: Outlook{Eligible: 2},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 8000, 8003, 8003)
			for _, node := range []string{"a", "b"} {
				w.node(node, 10)
				for _, p := range tc.taken[node] {
					w.foreign(node, p.Number, p.Protocol)
				}
			}
			if diff := cmp.Diff(tc.want, w.ledger.Outlook(nil, tc.held)); diff != "" {
				t.Errorf("outlook (-want +got):\n%s", diff)
			}
		})
	}
}
