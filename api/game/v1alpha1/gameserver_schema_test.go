// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// server returns a GameServer with the given spec and status, as YAML flow text.
func server(t *testing.T, spec, status string) *unstructured.Unstructured {
	t.Helper()
	return parse(t, "{apiVersion: game.kruise.io/v1alpha1, kind: GameServer, metadata: {name: arena-0}, spec: "+spec+", status: "+status+"}")
}

func TestCreateGameServer(t *testing.T) {
	cases := map[string]struct {
		spec string
		want []string // parts of one error; none: accepted
	}{
		"an empty spec":                {spec: `{}`},
		"what the manager creates":     {spec: `{opsState: None, updatePriority: 0, deletionPriority: 0, networkDisabled: false}`},
		"priorities as text":           {spec: `{updatePriority: "10", deletionPriority: "007"}`},
		"the largest priority":         {spec: `{updatePriority: 2147483647, deletionPriority: "2147483647"}`},
		"any word as opsState":         {spec: `{opsState: kill}`},
		"an empty opsState":            {spec: `{opsState: ""}`},
		"an opsState of 63 characters": {spec: `{opsState: ` + strings.Repeat("x", 63) + `}`},
		"overrides of two containers":  {spec: `{containers: [{name: a, image: a:2}, {name: b, resources: {limits: {cpu: 1, memory: 1Gi}}}]}`},

		"an opsState with a space (A-4)":       {spec: `{opsState: "a b"}`, want: []string{"spec.opsState", "'a b' must be a label value"}},
		"an opsState with a slash (A-4)":       {spec: `{opsState: a/b}`, want: []string{"spec.opsState", "'a/b' must be a label value"}},
		"an opsState of 64 characters":         {spec: `{opsState: ` + strings.Repeat("x", 64) + `}`, want: []string{"spec.opsState", "63"}},
		"an opsState that ends with a dot":     {spec: `{opsState: a.}`, want: []string{"spec.opsState", "'a.'"}},
		"a negative priority (A-4)":            {spec: `{updatePriority: -5}`, want: []string{"spec.updatePriority", "'-5' must be an integer from 0 to 2147483647"}},
		"a negative priority as text (A-4)":    {spec: `{updatePriority: "-5"}`, want: []string{"spec.updatePriority", "'-5'"}},
		"a priority that is a word (A-4)":      {spec: `{deletionPriority: high}`, want: []string{"spec.deletionPriority", "'high' must be an integer"}},
		"an empty priority":                    {spec: `{deletionPriority: ""}`, want: []string{"spec.deletionPriority"}},
		"a template as priority":               {spec: `{deletionPriority: "{{.Result}}"}`, want: []string{"spec.deletionPriority"}},
		"a priority above 32 bits":             {spec: `{updatePriority: 2147483648}`, want: []string{"spec.updatePriority", "'2147483648'"}},
		"a priority above 32 bits as text":     {spec: `{updatePriority: "2147483648"}`, want: []string{"spec.updatePriority"}},
		"a priority above 64 bits as text":     {spec: `{updatePriority: "99999999999999999999"}`, want: []string{"spec.updatePriority"}},
		"networkDisabled as text":              {spec: `{networkDisabled: "true"}`, want: []string{"spec.networkDisabled", "boolean"}},
		"two overrides of one container (A-4)": {spec: `{containers: [{name: a, image: a:2}, {name: a, image: a:3}]}`, want: []string{"spec.containers[1]: Duplicate value", `"a"`}},
		"an override without container":        {spec: `{containers: [{image: a:2}]}`, want: []string{"spec.containers[0].name: Required value"}},
	}
	apiServer := newAPIServer(t, "gameservers")
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			checkMessages(t, apiServer.create(t, server(t, tc.spec, `{}`)), tc.want)
		})
	}
}

func TestUpdateGameServerChecksOnlyWhatChanges(t *testing.T) {
	const bad = `opsState: "a b", updatePriority: -5, deletionPriority: high`
	cases := map[string]struct {
		stored string
		spec   string
		want   []string // parts of one error; none: accepted
	}{
		"a good value beside stored bad ones":       {stored: `{` + bad + `}`, spec: `{` + bad + `, networkDisabled: true}`},
		"one bad value mended":                      {stored: `{` + bad + `}`, spec: `{opsState: None, updatePriority: -5, deletionPriority: high}`},
		"a bad value taken away":                    {stored: `{` + bad + `}`, spec: `{opsState: "a b", deletionPriority: high}`},
		"an opsState changed to a bad one":          {stored: `{opsState: None}`, spec: `{opsState: a/b}`, want: []string{"spec.opsState", "'a/b'"}},
		"a bad opsState changed to another bad one": {stored: `{` + bad + `}`, spec: `{opsState: "a c", updatePriority: -5, deletionPriority: high}`, want: []string{"spec.opsState", "'a c'"}},
		"a priority changed to a bad one":           {stored: `{` + bad + `}`, spec: `{opsState: "a b", updatePriority: -6, deletionPriority: high}`, want: []string{"spec.updatePriority", "'-6'"}},
		"a priority changed from text to number":    {stored: `{updatePriority: "5"}`, spec: `{updatePriority: 5}`},
		"a bad priority that comes later":           {stored: `{}`, spec: `{deletionPriority: high}`, want: []string{"spec.deletionPriority", "'high'"}},
	}
	apiServer := newAPIServer(t, "gameservers")
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := apiServer.update(t, stored(server(t, tc.spec, `{}`)), stored(server(t, tc.stored, `{}`)))
			checkMessages(t, got, tc.want)
		})
	}
}

func TestStatusOfABadGameServerCanBeWritten(t *testing.T) {
	const spec = `{opsState: "a b", updatePriority: -5, deletionPriority: high, containers: [{name: a}, {name: a}]}`
	apiServer := newAPIServer(t, "gameservers")
	before := stored(server(t, spec, `{}`))
	if got := apiServer.create(t, before); len(got) == 0 {
		t.Fatal("the stored object is good, so the test shows nothing")
	}
	after := stored(server(t, spec, `{desiredState: Ready, currentState: Ready, updatePriority: "0", deletionPriority: "0"}`))
	checkMessages(t, apiServer.updateStatus(t, after, before), nil)
}

// The status as upstream writes it: priorities as text, null for unset times, a pod status with anything in it.
func TestStatusOfUpstreamLosesNothing(t *testing.T) {
	const status = `{
		desiredState: Ready, currentState: Creating, updatePriority: "0", deletionPriority: "0", lastTransitionTime: "2025-07-01T00:00:00Z",
		networkStatus: {networkType: Kubernetes-HostPort, desiredNetworkState: Ready, currentNetworkState: Waiting,
			externalAddresses: [{ip: "", endPoint: game.example.com, ports: [{name: game, protocol: UDP, port: "8000"}], portRange: {protocol: TCP, portRange: 1000-2000}}],
			createTime: null, lastTransitionTime: null},
		podStatus: {phase: Pending, conditions: [{type: Ready, status: "False", lastProbeTime: null, someNewField: 1}]},
		serviceQualitiesConditions: [{name: idle, status: "False", result: "7", lastProbeTime: null, lastTransitionTime: null, lastActionTransitionTime: "2025-07-01T00:00:00Z"}],
		conditions: [{type: PodNormal, status: "True", lastProbeTime: null, lastTransitionTime: "2025-07-01T00:00:00Z"}],
	}`
	apiServer := newAPIServer(t, "gameservers")
	before, after := stored(server(t, `{}`, `{}`)), stored(server(t, `{}`, status))
	given := after.DeepCopy()
	if unknown := apiServer.prune(after); len(unknown) > 0 {
		t.Errorf("the schema does not know %q", unknown)
	}
	if diff := cmp.Diff(given.Object, after.Object); diff != "" {
		t.Errorf("storing changes the status (-given +stored):\n%s", diff)
	}
	checkMessages(t, apiServer.updateStatus(t, after, before), nil)
}
