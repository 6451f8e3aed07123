// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/berthgames/berth/api/schedulerconfig"
)

func TestValidateIndexOffsetArgs(t *testing.T) {
	t.Parallel()
	valid := func(change func(*schedulerconfig.IndexOffsetArgs)) schedulerconfig.IndexOffsetArgs {
		args := schedulerconfig.IndexOffsetArgs{Distance: schedulerconfig.DistanceNearest, TopologyKey: "kubernetes.io/hostname"}
		change(&args)
		return args
	}
	cases := map[string]struct {
		args schedulerconfig.IndexOffsetArgs
		want []string // the fields that are refused
	}{
		"the defaults": {args: valid(func(*schedulerconfig.IndexOffsetArgs) {})},
		"upstream's distance": {args: valid(func(a *schedulerconfig.IndexOffsetArgs) {
			a.Distance = schedulerconfig.DistancePreceding
		})},
		"a window for new servers": {args: valid(func(a *schedulerconfig.IndexOffsetArgs) { a.RecentWindow = ptr.To(time.Hour) })},
		"an unknown distance": {
			args: valid(func(a *schedulerconfig.IndexOffsetArgs) { a.Distance = "nearest" }),
			want: []string{"args.distance"},
		},
		"no topology key": {
			args: valid(func(a *schedulerconfig.IndexOffsetArgs) { a.TopologyKey = "" }),
			want: []string{"args.topologyKey"},
		},
		"a topology key that is no label": {
			args: valid(func(a *schedulerconfig.IndexOffsetArgs) { a.TopologyKey = "a/b/c" }),
			want: []string{"args.topologyKey"},
		},
		"an empty window": {
			args: valid(func(a *schedulerconfig.IndexOffsetArgs) { a.RecentWindow = ptr.To(time.Duration(0)) }),
			want: []string{"args.recentWindow"},
		},
		"a window with upstream's distance": {
			args: valid(func(a *schedulerconfig.IndexOffsetArgs) {
				a.Distance, a.RecentWindow = schedulerconfig.DistancePreceding, ptr.To(time.Hour)
			}),
			want: []string{"args.recentWindow"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, err := range ValidateIndexOffsetArgs(field.NewPath("args"), &tc.args) {
				got = append(got, err.Field)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("refused fields (-want +got):\n%s", diff)
			}
		})
	}
}
