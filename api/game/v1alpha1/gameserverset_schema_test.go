// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// set returns a GameServerSet with the given spec, as YAML flow or block text.
func set(t *testing.T, name, spec string) *unstructured.Unstructured {
	t.Helper()
	obj := parse(t, "{apiVersion: game.kruise.io/v1alpha1, kind: GameServerSet, metadata: {name: "+name+"}}")
	if spec != "" {
		obj.Object["spec"] = parse(t, "{kind: Wrapper, apiVersion: v1, spec: "+spec+"}").Object["spec"]
	}
	return obj
}

// checkMessages fails unless got is empty when want is, and otherwise one error that holds every wanted part.
func checkMessages(t *testing.T, got, want []string) {
	t.Helper()
	if len(want) == 0 {
		if len(got) > 0 {
			t.Errorf("refused: %q", got)
		}
		return
	}
	for _, message := range got {
		if containsAll(message, want) {
			return
		}
	}
	t.Errorf("got %q, want an error with all of %q", got, want)
}

func containsAll(text string, parts []string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}

func TestCreateGameServerSet(t *testing.T) {
	longest := strings.Repeat("a", 52)
	cases := map[string]struct {
		name string
		spec string
		want []string // parts of one error; none: accepted
	}{
		"replicas alone are enough":                 {spec: `{replicas: 0}`},
		"empty policies mean the defaults":          {spec: `{replicas: 1, gameServerTemplate: {reclaimPolicy: ""}, updateStrategy: {type: "", rollingUpdate: {podUpdatePolicy: ""}}, scaleStrategy: {scaleDownStrategyType: ""}, persistentVolumeClaimRetentionPolicy: {whenDeleted: ""}}`},
		"every policy that exists":                  {spec: `{replicas: 1, gameServerTemplate: {reclaimPolicy: Delete}, updateStrategy: {type: RollingUpdate, rollingUpdate: {podUpdatePolicy: InPlaceOnly}}, scaleStrategy: {scaleDownStrategyType: ReserveIds}, persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete, whenScaled: Retain}}`},
		"ids and ranges in reserveGameServerIds":    {spec: `{replicas: 1, reserveGameServerIds: [1, "3-5", 0]}`},
		"maxUnavailable as number and percentage":   {spec: `{replicas: 1, updateStrategy: {rollingUpdate: {maxUnavailable: 100%}}, scaleStrategy: {maxUnavailable: 3}}`},
		"OnDelete without rollingUpdate":            {spec: `{replicas: 1, updateStrategy: {type: OnDelete}}`},
		"a network type that only plugins can know": {spec: `{replicas: 1, network: {networkType: Some-Cloud, networkConf: [{name: a, value: b}, {name: a, value: c}]}}`},
		"the same headless service for two sets":    {spec: `{replicas: 1, serviceName: shared}`},
		"templates and any word in an action":       {spec: `{replicas: 1, serviceQualities: [{name: idle, permanent: false, serviceQualityAction: [{state: true, opsState: "{{.Result}} x", updatePriority: "{{.Result}}", deletionPriority: -1, networkDisabled: true}]}]}`},
		"the longest name":                          {name: longest, spec: `{replicas: 1}`},

		"no spec":           {want: []string{"spec: Required value"}},
		"no replicas":       {spec: `{gameServerTemplate: {}}`, want: []string{"spec.replicas: Required value"}},
		"negative replicas": {spec: `{replicas: -1}`, want: []string{"spec.replicas", "-1", "greater than or equal to 0"}},
		"replicas as text":  {spec: `{replicas: "three"}`, want: []string{"spec.replicas", "must be of type integer"}},
		"a name without room for the revision (A-2)": {name: longest + "a", spec: `{replicas: 1}`, want: []string{"metadata.name must be at most 52"}},
		"network without type":                       {spec: `{replicas: 1, network: {}}`, want: []string{"spec.network.networkType: Required value", "must name a network plugin"}},
		"network with an empty type":                 {spec: `{replicas: 1, network: {networkType: "", networkConf: []}}`, want: []string{"spec.network.networkType: Required value"}},
		"misspelt reclaimPolicy (A-3)":               {spec: `{replicas: 1, gameServerTemplate: {reclaimPolicy: cascade}}`, want: []string{"spec.gameServerTemplate.reclaimPolicy", `"cascade"`, `"Cascade", "Delete"`}},
		"misspelt scaleDownStrategyType (A-3)":       {spec: `{replicas: 1, scaleStrategy: {scaleDownStrategyType: ReserveIDs}}`, want: []string{"spec.scaleStrategy.scaleDownStrategyType", `"ReserveIDs"`, `"General", "ReserveIds"`}},
		"misspelt update type (A-3)":                 {spec: `{replicas: 1, updateStrategy: {type: Rolling}}`, want: []string{"spec.updateStrategy.type", `"Rolling"`}},
		"misspelt podUpdatePolicy (A-3)":             {spec: `{replicas: 1, updateStrategy: {rollingUpdate: {podUpdatePolicy: Recreate}}}`, want: []string{"spec.updateStrategy.rollingUpdate.podUpdatePolicy", `"Recreate"`}},
		"misspelt whenDeleted (A-3)":                 {spec: `{replicas: 1, persistentVolumeClaimRetentionPolicy: {whenDeleted: Keep}}`, want: []string{"spec.persistentVolumeClaimRetentionPolicy.whenDeleted", "'Keep' must be Retain or Delete"}},
		"misspelt whenScaled (A-3)":                  {spec: `{replicas: 1, persistentVolumeClaimRetentionPolicy: {whenScaled: Keep}}`, want: []string{"spec.persistentVolumeClaimRetentionPolicy.whenScaled", "'Keep' must be Retain or Delete"}},
		"OnDelete with rollingUpdate (A-5)":          {spec: `{replicas: 1, updateStrategy: {type: OnDelete, rollingUpdate: {}}}`, want: []string{"spec.updateStrategy.rollingUpdate: Forbidden", "type is OnDelete"}},
		"an id twice":                                {spec: `{replicas: 1, reserveGameServerIds: [4, 7, 4]}`, want: []string{"spec.reserveGameServerIds[2]: Duplicate value: 4"}},
		"a range twice":                              {spec: `{replicas: 1, reserveGameServerIds: ["1-2", "1-2"]}`, want: []string{`spec.reserveGameServerIds[1]: Duplicate value: "1-2"`}},
		"a quality name twice":                       {spec: `{replicas: 1, serviceQualities: [{name: idle, permanent: true}, {name: idle, permanent: true}]}`, want: []string{"spec.serviceQualities[1]: Duplicate value", `"idle"`}},
		"a negative partition":                       {spec: `{replicas: 1, updateStrategy: {rollingUpdate: {partition: -1}}}`, want: []string{"spec.updateStrategy.rollingUpdate.partition", "-1"}},
		"minReadySeconds above Kruise's limit":       {spec: `{replicas: 1, updateStrategy: {rollingUpdate: {minReadySeconds: 301}}}`, want: []string{"spec.updateStrategy.rollingUpdate.minReadySeconds", "301", "300"}},
		"a negative maxUnavailable":                  {spec: `{replicas: 1, updateStrategy: {rollingUpdate: {maxUnavailable: -1}}}`, want: []string{"spec.updateStrategy.rollingUpdate.maxUnavailable", "must be 1 or more"}},
		"maxUnavailable that is no percentage":       {spec: `{replicas: 1, scaleStrategy: {maxUnavailable: half}}`, want: []string{"spec.scaleStrategy.maxUnavailable", `"half"`}},
		"maxUnavailable that stops everything":       {spec: `{replicas: 1, scaleStrategy: {maxUnavailable: 0}}`, want: []string{"spec.scaleStrategy.maxUnavailable", "must be 1 or more"}},
		"maxUnavailable of 0%":                       {spec: `{replicas: 1, updateStrategy: {rollingUpdate: {maxUnavailable: 0%}}}`, want: []string{"spec.updateStrategy.rollingUpdate.maxUnavailable", `"0%"`}},
		"maxUnavailable above 100%":                  {spec: `{replicas: 1, scaleStrategy: {maxUnavailable: 101%}}`, want: []string{"spec.scaleStrategy.maxUnavailable", `"101%"`}},
	}
	server := newAPIServer(t, "gameserversets")
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.name == "" {
				tc.name = "arena"
			}
			checkMessages(t, server.create(t, set(t, tc.name, tc.spec)), tc.want)
		})
	}
}

func TestUpdateGameServerSet(t *testing.T) {
	cases := map[string]struct {
		stored string
		spec   string
		want   []string // parts of one error; none: accepted
	}{
		"the network type may not change":         {stored: `{replicas: 1, network: {networkType: A}}`, spec: `{replicas: 1, network: {networkType: B}}`, want: []string{"spec.network.networkType: Forbidden", "may not change from 'A' to 'B'"}},
		"the network type may not be emptied":     {stored: `{replicas: 1, network: {networkType: A}}`, spec: `{replicas: 1, network: {networkType: ""}}`, want: []string{"spec.network.networkType", "may not change"}},
		"the network type may not be left out":    {stored: `{replicas: 1, network: {networkType: A}}`, spec: `{replicas: 1, network: {}}`, want: []string{"spec.network.networkType", "may not change"}},
		"the network may go (W-9)":                {stored: `{replicas: 1, network: {networkType: A}}`, spec: `{replicas: 1}`},
		"the network may come later (W-9)":        {stored: `{replicas: 1}`, spec: `{replicas: 1, network: {networkType: A}}`},
		"a network that comes later needs a type": {stored: `{replicas: 1}`, spec: `{replicas: 1, network: {}}`, want: []string{"spec.network.networkType: Required value"}},
		"the network conf may change":             {stored: `{replicas: 1, network: {networkType: A}}`, spec: `{replicas: 1, network: {networkType: A, networkConf: [{name: a, value: b}]}}`},
		"serviceName may not change (A-6)":        {stored: `{replicas: 1, serviceName: one}`, spec: `{replicas: 1, serviceName: two}`, want: []string{"spec.serviceName: Forbidden", "may not change from 'one' to 'two'"}},
		"serviceName may not come later (A-6)":    {stored: `{replicas: 1}`, spec: `{replicas: 1, serviceName: two}`, want: []string{"spec.serviceName: Forbidden"}},
		"serviceName may not go (A-6)":            {stored: `{replicas: 1, serviceName: one}`, spec: `{replicas: 1}`, want: []string{"spec.serviceName: Forbidden"}},
		"serviceName may be spelt out":            {stored: `{replicas: 1}`, spec: `{replicas: 1, serviceName: arena}`},

		"a stored empty network type does not stop another change": {stored: `{replicas: 1, network: {networkType: ""}}`, spec: `{replicas: 2, network: {networkType: "", networkConf: [{name: a, value: b}]}}`},
		"a stored empty network type may be set":                   {stored: `{replicas: 1, network: {}}`, spec: `{replicas: 1, network: {networkType: A}}`},
		"a stored bad reclaimPolicy does not stop another change":  {stored: `{replicas: 1, gameServerTemplate: {reclaimPolicy: cascade}}`, spec: `{replicas: 2, gameServerTemplate: {reclaimPolicy: cascade, spec: {}}}`},
		"a bad reclaimPolicy may not become another bad one":       {stored: `{replicas: 1, gameServerTemplate: {reclaimPolicy: cascade}}`, spec: `{replicas: 1, gameServerTemplate: {reclaimPolicy: keep}}`, want: []string{"spec.gameServerTemplate.reclaimPolicy", `"keep"`}},
		"a stored contradiction does not stop another change":      {stored: `{replicas: 1, updateStrategy: {type: OnDelete, rollingUpdate: {partition: 1}}}`, spec: `{replicas: 1, updateStrategy: {type: OnDelete, rollingUpdate: {partition: 2}}}`},
		"a contradiction may not come later":                       {stored: `{replicas: 1, updateStrategy: {rollingUpdate: {partition: 1}}}`, spec: `{replicas: 1, updateStrategy: {type: OnDelete, rollingUpdate: {partition: 1}}}`, want: []string{"spec.updateStrategy.rollingUpdate: Forbidden"}},
		"a stored double id does not stop another change":          {stored: `{replicas: 1, reserveGameServerIds: [1, 1]}`, spec: `{replicas: 2, reserveGameServerIds: [1, 1, 3]}`},
		"a stored bad PVC policy does not stop another change":     {stored: `{replicas: 1, persistentVolumeClaimRetentionPolicy: {whenDeleted: Keep}}`, spec: `{replicas: 2, persistentVolumeClaimRetentionPolicy: {whenDeleted: Keep}}`},
		"a stored bad PVC policy does not stop its neighbour":      {stored: `{replicas: 1, persistentVolumeClaimRetentionPolicy: {whenDeleted: Keep}}`, spec: `{replicas: 1, persistentVolumeClaimRetentionPolicy: {whenDeleted: Keep, whenScaled: Retain}}`},
		"a stored bad maxUnavailable does not stop its neighbour":  {stored: `{replicas: 1, scaleStrategy: {maxUnavailable: -1}}`, spec: `{replicas: 1, scaleStrategy: {maxUnavailable: -1, scaleDownStrategyType: ReserveIds}}`},
	}
	server := newAPIServer(t, "gameserversets")
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			checkMessages(t, server.update(t, stored(set(t, "arena", tc.spec)), stored(set(t, "arena", tc.stored))), tc.want)
		})
	}
}

// stored gives an object what the API server adds when it stores one, and a client sends back.
func stored(obj *unstructured.Unstructured) *unstructured.Unstructured {
	obj.SetResourceVersion("1")
	obj.SetGeneration(1)
	return obj
}

func TestStatusOfABadGameServerSetCanBeWritten(t *testing.T) {
	server := newAPIServer(t, "gameserversets")
	before := stored(set(t, strings.Repeat("a", 63), `{
		replicas: 1,
		gameServerTemplate: {reclaimPolicy: cascade},
		network: {networkType: ""},
		reserveGameServerIds: [1, 1],
		serviceQualities: [{name: idle, permanent: true}, {name: idle, permanent: true}],
		persistentVolumeClaimRetentionPolicy: {whenScaled: Keep},
		scaleStrategy: {maxUnavailable: -1},
		updateStrategy: {type: OnDelete, rollingUpdate: {}},
	}`))
	if got := server.create(t, before); len(got) == 0 {
		t.Fatal("the stored object is good, so the test shows nothing")
	}
	after := before.DeepCopy()
	after.Object["status"] = map[string]any{
		"replicas": int64(1), "readyReplicas": int64(0), "availableReplicas": int64(0), "currentReplicas": int64(1), "updatedReplicas": int64(1),
	}
	checkMessages(t, server.updateStatus(t, after, before), nil)
}

func TestGameServerTemplateIsStoredAsItIs(t *testing.T) {
	server := newAPIServer(t, "gameserversets")
	given := set(t, "arena", `{
		replicas: 1,
		gameServerTemplate: {
			metadata: {labels: {a: b}, someNewField: 1},
			spec: {containers: [{name: game, image: game, someNewField: {x: 1}}], anotherNewField: [1]},
			volumeClaimTemplates: [{metadata: {name: data}, spec: {aThirdNewField: true}}],
		},
	}`)
	got := given.DeepCopy()
	if unknown := server.prune(got); len(unknown) > 0 {
		t.Errorf("the API server would warn about %q", unknown)
	}
	if diff := cmp.Diff(given.Object, got.Object); diff != "" {
		t.Errorf("storing changes the template (-given +stored):\n%s", diff)
	}
}

func TestMisspeltFieldsAreNoticed(t *testing.T) {
	server := newAPIServer(t, "gameserversets")
	got := server.prune(set(t, "arena", `{replicas: 1, updateStrategy: {rolingUpdate: {}}}`))
	if diff := cmp.Diff([]string{"spec.updateStrategy.rolingUpdate"}, got); diff != "" {
		t.Errorf("unknown fields (-want +got):\n%s", diff)
	}
}
