// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/berthgames/berth/api/schedulerconfig"
)

func jsonArgs(s string) runtime.Object {
	return &runtime.Unknown{Raw: []byte(s), ContentType: runtime.ContentTypeJSON}
}

func TestDecodeIndexOffsetArgs(t *testing.T) {
	t.Parallel()
	defaults := schedulerconfig.IndexOffsetArgs{
		Distance: schedulerconfig.DistanceNearest, TopologyKey: "kubernetes.io/hostname",
	}
	cases := map[string]struct {
		obj  runtime.Object
		want schedulerconfig.IndexOffsetArgs
	}{
		"no pluginConfig at all":         {obj: nil, want: defaults},
		"pluginConfig without args":      {obj: &runtime.Unknown{}, want: defaults},
		"an empty object":                {obj: jsonArgs(`{}`), want: defaults},
		"null stands for left out":       {obj: jsonArgs(`{"distance":null,"recentWindow":null}`), want: defaults},
		"apiVersion and kind are stated": {obj: jsonArgs(`{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"IndexOffsetArgs"}`), want: defaults},
		"everything is set": {
			obj: jsonArgs(`{"distance":"Nearest","topologyKey":"example.com/rack","recentWindow":"1h30m"}`),
			want: schedulerconfig.IndexOffsetArgs{
				Distance: schedulerconfig.DistanceNearest, TopologyKey: "example.com/rack", RecentWindow: ptr.To(90 * time.Minute),
			},
		},
		"YAML": {
			obj:  &runtime.Unknown{Raw: []byte("distance: Preceding\n"), ContentType: runtime.ContentTypeYAML},
			want: schedulerconfig.IndexOffsetArgs{Distance: schedulerconfig.DistancePreceding, TopologyKey: "kubernetes.io/hostname"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := DecodeIndexOffsetArgs(field.NewPath("args"), tc.obj)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, *got); diff != "" {
				t.Errorf("args (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeIndexOffsetArgsNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		obj  runtime.Object
		want []string // all of these stand in the error
	}{
		"an unknown name":       {obj: jsonArgs(`{"distnace":"Nearest"}`), want: []string{"args.distnace", "Nearest", "not an argument"}},
		"a name in other case":  {obj: jsonArgs(`{"Distance":"Nearest"}`), want: []string{"args.Distance", "not an argument"}},
		"a number for a text":   {obj: jsonArgs(`{"topologyKey":7}`), want: []string{"args.topologyKey", "7"}},
		"no duration":           {obj: jsonArgs(`{"recentWindow":"5 apples"}`), want: []string{"args.recentWindow", "5 apples"}},
		"a duration as number":  {obj: jsonArgs(`{"recentWindow":60}`), want: []string{"args.recentWindow", "60"}},
		"two errors, both said": {obj: jsonArgs(`{"a":1,"b":2}`), want: []string{"args.a", "args.b"}},
		"a name given twice":    {obj: jsonArgs(`{"distance":"Nearest","distance":"Preceding"}`), want: []string{"duplicate", "distance"}},
		"a list":                {obj: jsonArgs(`[1]`), want: []string{"args", "must be an object"}},
		"another kind":          {obj: jsonArgs(`{"kind":"NodeAffinityArgs"}`), want: []string{"args.kind", "NodeAffinityArgs", "IndexOffsetArgs"}},
		"another version":       {obj: jsonArgs(`{"apiVersion":"v2"}`), want: []string{"args.apiVersion", "v2", APIVersion}},
		"bad YAML":              {obj: &runtime.Unknown{Raw: []byte("a: b: c"), ContentType: runtime.ContentTypeYAML}, want: []string{"YAML"}},
		"another content type":  {obj: &runtime.Unknown{Raw: []byte("x"), ContentType: "text/plain"}, want: []string{"text/plain"}},
		"not the framework's":   {obj: &metav1.Status{}, want: []string{"v1.Status"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := DecodeIndexOffsetArgs(field.NewPath("args"), tc.obj)
			if err == nil {
				t.Fatalf("no error, args %+v", got)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
}

func FuzzDecodeIndexOffsetArgs(f *testing.F) {
	f.Add([]byte(`{"distance":"Nearest","recentWindow":"1h"}`))
	f.Add([]byte(`{"a":[{"b":null}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		args, err := DecodeIndexOffsetArgs(nil, &runtime.Unknown{Raw: raw, ContentType: runtime.ContentTypeJSON})
		if (args == nil) != (err != nil) {
			t.Errorf("args %v with error %v, want exactly one", args, err)
		}
	})
}
