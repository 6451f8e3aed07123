// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"

	"github.com/berthgames/berth/scheduler/indexoffset"
	"github.com/berthgames/berth/scheduler/internal/testcluster"
	"github.com/berthgames/berth/test/manifests"
)

// shipped is the configuration that manifests/scheduler deploys.
func shipped(tb testing.TB) *config.KubeSchedulerConfiguration {
	tb.Helper()
	configMap, ok := manifests.Find[*corev1.ConfigMap](render(tb), "index-offset-scheduler-config")
	if !ok {
		tb.Fatal("There is no configuration")
	}
	return testcluster.Load(tb, []byte(configMap.Data["scheduler-config.yaml"]))
}

func TestShippedConfiguration(t *testing.T) {
	t.Parallel()
	cfg := shipped(t)
	if err := validation.ValidateKubeSchedulerConfiguration(cfg); err != nil {
		t.Error(err)
	}
	got := []any{cfg.LeaderElection.LeaderElect, cfg.LeaderElection.ResourceNamespace, cfg.LeaderElection.ResourceName}
	if diff := cmp.Diff([]any{true, "kruise-game-system", "index-offset-scheduler"}, got); diff != "" {
		t.Errorf("leader election, X-8 (-want +got):\n%s", diff)
	}
	stock := testcluster.New(t, testcluster.Load(t, []byte(stockConfiguration)), nil).Weights(t, "default-scheduler")
	c := testcluster.New(t, cfg, Plugins())
	for _, profile := range []string{"berth-scheduler", "index-offset-scheduler"} {
		weights := c.Weights(t, profile)
		own := weights[indexoffset.Name]
		delete(weights, indexoffset.Name)
		if diff := cmp.Diff(stock, weights); diff != "" {
			t.Errorf("%s: stock score plugins and their weights (-stock +ours):\n%s", profile, diff)
		}
		var most int64
		for _, weight := range weights {
			most += weight * fwk.MaxScore
		}
		if own <= most {
			t.Errorf("%s, X-10: IndexOffset weighs %d; the stock plugins outvote one of its points with up to %d", profile, own, most)
		}
	}
}

const stockConfiguration = `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
`

// The configuration that people run OpenKruiseGame's scheduler with.
func TestSeedConfigurationWorksAsItIs(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("..", "test", "samples", "index-offset-scheduler-config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	cfg := testcluster.Load(t, data)
	if err := validation.ValidateKubeSchedulerConfiguration(cfg); err != nil {
		t.Error(err)
	}
	c := testcluster.New(t, cfg, Plugins())
	if got := c.Weights(t, "index-offset-scheduler")[indexoffset.SeedName]; got != 5 {
		t.Errorf("plugin %s has weight %d, want 5", indexoffset.SeedName, got)
	}
}

func TestBadArgumentsStopTheStart(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		plugin, args string
		want         []string // all of these stand in the error
	}{
		"an unknown argument":       {plugin: "IndexOffset", args: "distnace: Nearest", want: []string{"IndexOffset", "args.distnace", "Nearest"}},
		"a value that is not known": {plugin: "IndexOffset", args: "distance: Far", want: []string{"args.distance", "Far", "Nearest", "Preceding"}},
		"a topology key":            {plugin: "IndexOffset", args: "topologyKey: a/b/c", want: []string{"args.topologyKey", "a/b/c"}},
		"a window":                  {plugin: "IndexOffset", args: "recentWindow: 0s", want: []string{"args.recentWindow", "0s"}},
		"arguments for the seed's name": {
			plugin: "index-offset-scheduler", args: "distance: Nearest", want: []string{"index-offset-scheduler", "args", "IndexOffset"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := testcluster.Load(t, []byte(stockConfiguration+`
profiles:
- plugins: {multiPoint: {enabled: [{name: `+tc.plugin+`}]}}
  pluginConfig: [{name: `+tc.plugin+`, args: {"`+strings.Replace(tc.args, ": ", `": "`, 1)+`"}}]
`))
			_, err := testcluster.Start(t, cfg, Plugins())
			if err == nil {
				t.Fatal("the scheduler starts")
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
}
