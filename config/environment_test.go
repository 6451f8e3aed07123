// SPDX-License-Identifier: Apache-2.0

package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestNetworkWaitFromEnv(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		env     map[string]string
		want    NetworkWait
		wantErr string
	}{
		"unset means 60 s and 5 s": {
			want: NetworkWait{Total: time.Minute, ProbeInterval: 5 * time.Second},
		},
		"empty means unset": {
			env:  map[string]string{NetworkTotalWaitTimeEnv: "", NetworkProbeIntervalTimeEnv: ""},
			want: NetworkWait{Total: time.Minute, ProbeInterval: 5 * time.Second},
		},
		"both are whole seconds": {
			env:  map[string]string{NetworkTotalWaitTimeEnv: "90", NetworkProbeIntervalTimeEnv: "7"},
			want: NetworkWait{Total: 90 * time.Second, ProbeInterval: 7 * time.Second},
		},
		"zero is a value": {
			env: map[string]string{NetworkTotalWaitTimeEnv: "0", NetworkProbeIntervalTimeEnv: "0"},
		},
		"a bad number is shown as it was written (F26)": {
			env:     map[string]string{NetworkTotalWaitTimeEnv: "60s"},
			wantErr: `NETWORK_TOTAL_WAIT_TIME="60s"`,
		},
		"a negative number is refused": {
			env:     map[string]string{NetworkProbeIntervalTimeEnv: "-1"},
			wantErr: `NETWORK_PROBE_INTERVAL_TIME="-1"`,
		},
		"a number of more than 32 bits is refused": {
			env:     map[string]string{NetworkTotalWaitTimeEnv: "2147483648"},
			wantErr: `NETWORK_TOTAL_WAIT_TIME="2147483648"`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := NetworkWaitFromEnv(func(name string) string { return tc.env[name] })
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Errorf("error %v, want one with %s", err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("times (-want +got):\n%s", diff)
			}
		})
	}
}
