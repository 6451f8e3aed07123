// SPDX-License-Identifier: Apache-2.0

package network

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"github.com/berthgames/berth/internal/ports"
	"github.com/berthgames/berth/network/kubernetes/hostport"
)

func TestPlugins(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		hostPort *hostport.Options
		want     []string
		wantErr  string
	}{
		"a provider that is off has no plugins": {},
		"host ports":                            {hostPort: &hostport.Options{Range: ports.Range{Min: 8000, Max: 9000}}, want: []string{"Kubernetes-HostPort"}},
		"F7, F10: a bad range is told": {
			hostPort: &hostport.Options{Range: ports.Range{Min: 9000, Max: 8000}},
			wantErr:  "making network plugin Kubernetes-HostPort: range 9000-8000 must lie within 1-65535 and must not end before it begins",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			registry, err := Plugins(Deps{Clock: clock.RealClock{}, HostPort: tc.hostPort})
			if tc.wantErr != "" {
				if err == nil || err.Error() != tc.wantErr {
					t.Errorf("error %v, want %s", err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, registry.Names()); diff != "" {
				t.Errorf("plugins (-want +got):\n%s", diff)
			}
		})
	}
}
