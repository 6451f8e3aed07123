// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/network/framework"
)

// plugin is a network plugin that knows one parameter, Port, which must not be "bad".
type plugin struct{}

func (plugin) Name() string  { return "Test-Network" }
func (plugin) Alias() string { return "" }
func (plugin) Validate(req framework.ValidateRequest) framework.Findings {
	var found framework.Findings
	for i, param := range req.Params {
		switch {
		case param.Name != "Port":
			found.Warnings = append(found.Warnings, req.ParamsPath.Index(i).String()+": unknown parameter "+param.Name)
		case param.Value == "bad":
			found.Errors = append(found.Errors, field.Invalid(req.ParamsPath.Index(i).Child("value"), param.Value, "no port"))
		}
	}
	return found
}

type change = func(*gamev1alpha1.GameServerSet)

// set returns a valid set after changes.
func set(changes ...change) *gamev1alpha1.GameServerSet {
	s := &gamev1alpha1.GameServerSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "games", Name: "arena"},
		Spec: gamev1alpha1.GameServerSetSpec{
			Replicas: ptr.To[int32](3),
			GameServerTemplate: gamev1alpha1.GameServerTemplate{PodTemplateSpec: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				Containers: []corev1.Container{{Name: "game", Image: "game:1"}, {Name: "sidecar", Image: "sidecar:1"}},
			}}},
		},
	}
	for _, c := range changes {
		c(s)
	}
	return s
}

func containers(f func([]corev1.Container)) change {
	return func(s *gamev1alpha1.GameServerSet) { f(s.Spec.GameServerTemplate.Spec.Containers) }
}

func reserve(ids ...any) change {
	return func(s *gamev1alpha1.GameServerSet) {
		for _, id := range ids {
			switch id := id.(type) {
			case int:
				s.Spec.ReserveGameServerIds = append(s.Spec.ReserveGameServerIds, intstr.FromInt32(int32(id)))
			case string:
				s.Spec.ReserveGameServerIds = append(s.Spec.ReserveGameServerIds, intstr.FromString(id))
			}
		}
	}
}

func network(networkType string, namesAndValues ...string) change {
	return func(s *gamev1alpha1.GameServerSet) {
		s.Spec.Network = &gamev1alpha1.Network{NetworkType: networkType}
		for i := 0; i < len(namesAndValues); i += 2 {
			s.Spec.Network.NetworkConf = append(s.Spec.Network.NetworkConf,
				gamev1alpha1.NetworkConfParams{Name: namesAndValues[i], Value: namesAndValues[i+1]})
		}
	}
}

func quality(changes ...func(*gamev1alpha1.ServiceQuality)) change {
	q := gamev1alpha1.ServiceQuality{Name: "idle", ContainerName: "game"}
	q.Exec = &corev1.ExecAction{Command: []string{"./idle.sh"}}
	for _, c := range changes {
		c(&q)
	}
	return func(s *gamev1alpha1.GameServerSet) { s.Spec.ServiceQualities = append(s.Spec.ServiceQualities, q) }
}

func action(a gamev1alpha1.ServiceQualityAction) change {
	return quality(func(q *gamev1alpha1.ServiceQuality) {
		q.ServiceQualityAction = []gamev1alpha1.ServiceQualityAction{a}
	})
}

// check is one request and the findings it must get. Every want text must stand in a finding of its own, in order.
type check struct {
	old, set     *gamev1alpha1.GameServerSet
	want         []string
	wantWarnings []string
}

func (c check) run(t *testing.T) {
	t.Helper()
	registry, err := framework.NewRegistry(plugin{})
	if err != nil {
		t.Fatal(err)
	}
	found := GameServerSet(c.old, c.set, registry)
	var errs []string
	for _, e := range found.Errors {
		errs = append(errs, e.Error())
	}
	compare(t, "errors", c.want, errs)
	compare(t, "warnings", c.wantWarnings, found.Warnings)
}

func compare(t *testing.T, what string, want, got []string) {
	t.Helper()
	if !slices.EqualFunc(want, got, func(want, got string) bool { return strings.Contains(got, want) }) {
		t.Errorf("%s (-want substrings +got):\n%s", what, cmp.Diff(want, got))
	}
}

func runAll(t *testing.T, cases map[string]check) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.run(t)
		})
	}
}

func named(name string) change { return func(s *gamev1alpha1.GameServerSet) { s.Name = name } }

func TestNames(t *testing.T) {
	t.Parallel()
	runAll(t, map[string]check{
		"a usual name": {set: set()},
		"the longest name": {
			set: set(named(strings.Repeat("a", 52))),
		},
		"one character more than pods and their labels can carry (A-2)": {
			set:  set(named(strings.Repeat("a", 53))),
			want: []string{"metadata.name: Invalid value: \"" + strings.Repeat("a", 53) + "\": has 53 characters; pods are named and labelled"},
		},
		"a long name that is stored stays editable": {
			old: set(named(strings.Repeat("a", 60))),
			set: set(named(strings.Repeat("a", 60)), reserve(1)),
		},
		"a name with dots makes no host name": {
			set:  set(named("arena.eu")),
			want: []string{`metadata.name: Invalid value: "arena.eu": is part of the host names of its pods`},
		},
	})
}

// Source: core-webhook-and-scaler.md, section 1.6, and fault W-1.
func TestReserveIDs(t *testing.T) {
	t.Parallel()
	runAll(t, map[string]check{
		"numbers and ranges":                  {set: set(reserve(1, "3-5", 7))},
		"an id twice (W-1)":                   {set: set(reserve(1, 1)), want: []string{`spec.reserveGameServerIds[1]: Invalid value: "1"`}},
		"a negative id (W-1)":                 {set: set(reserve(-1)), want: []string{`spec.reserveGameServerIds[0]: Invalid value: "-1"`}},
		"a range backwards (W-1)":             {set: set(reserve("3-1")), want: []string{`spec.reserveGameServerIds[0]: Invalid value: "3-1"`}},
		"an overlap with a range (W-1)":       {set: set(reserve("1-3", 2)), want: []string{`spec.reserveGameServerIds[1]: Invalid value: "2"`}},
		"letters (W-1)":                       {set: set(reserve("a-b")), want: []string{`spec.reserveGameServerIds[0]: Invalid value: "a-b"`}},
		"two dashes (W-1)":                    {set: set(reserve("1-2-3")), want: []string{`spec.reserveGameServerIds[0]: Invalid value: "1-2-3"`}},
		"empty text (W-1)":                    {set: set(reserve("")), want: []string{`spec.reserveGameServerIds[0]: Invalid value: ""`}},
		"bad ids that are stored stay (A-1)":  {old: set(reserve("a-b")), set: set(reserve("a-b"), named("arena"), network("Test-Network")), wantWarnings: []string{"spec.network: was added"}},
		"bad ids that are touched are judged": {old: set(reserve("a-b")), set: set(reserve("a-b", 1)), want: []string{`"a-b"`}},
	})
}

func replicas(n int32) change {
	return func(s *gamev1alpha1.GameServerSet) { s.Spec.Replicas = &n }
}

// OpenKruise counts reserved ids out in memory.
func TestReservedIDsBelowTheServersAreBounded(t *testing.T) {
	t.Parallel()
	huge := reserve("0-2000000000")
	refused := []string{`spec.reserveGameServerIds: Invalid value: "0-2000000000": with 3 replicas, 2000000001 reserved ids ` +
		`are below the highest server; there may be 1048576`}
	runAll(t, map[string]check{
		"a huge range below the servers":             {set: set(huge), want: refused},
		"a huge range above the servers":             {set: set(reserve("3-2000000000"))},
		"a huge range that comes later":              {old: set(), set: set(huge), want: refused},
		"a huge range that more servers must skip":   {old: set(huge, replicas(0)), set: set(huge), want: refused},
		"no server has to skip it":                   {set: set(huge, replicas(0))},
		"fewer servers with one that is stored":      {old: set(huge), set: set(huge, replicas(1))},
		"another edit with one that is stored":       {old: set(huge), set: set(huge, quality())},
		"the most that may be reserved":              {set: set(reserve("0-1048575"))},
		"one more":                                   {set: set(reserve("0-1048576")), want: []string{"1048577 reserved ids"}},
		"bad ids that are stored do not stop growth": {old: set(reserve("a-b")), set: set(reserve("a-b"), replicas(4))},
	})
}

func TestTemplate(t *testing.T) {
	t.Parallel()
	claims := func(names ...string) change {
		return func(s *gamev1alpha1.GameServerSet) {
			for _, name := range names {
				s.Spec.GameServerTemplate.VolumeClaimTemplates = append(s.Spec.GameServerTemplate.VolumeClaimTemplates,
					corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}})
			}
		}
	}
	ports := func(ports ...corev1.ContainerPort) change {
		return containers(func(c []corev1.Container) { c[0].Ports = ports })
	}
	none := func(s *gamev1alpha1.GameServerSet) { s.Spec.GameServerTemplate.Spec.Containers = nil }
	restart := func(policy corev1.RestartPolicy) change {
		return func(s *gamev1alpha1.GameServerSet) { s.Spec.GameServerTemplate.Spec.RestartPolicy = policy }
	}
	runAll(t, map[string]check{
		"no container": {
			set:  set(none),
			want: []string{"spec.gameServerTemplate.spec.containers: Required value"},
		},
		"a template without containers that is stored stays editable": {old: set(none), set: set(none, reserve(1))},
		"restart policy Always": {set: set(restart(corev1.RestartPolicyAlways))},
		"another restart policy": {
			set:  set(restart(corev1.RestartPolicyNever)),
			want: []string{`spec.gameServerTemplate.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"`},
		},
		"a container without name": {
			set:  set(containers(func(c []corev1.Container) { c[1].Name = "" })),
			want: []string{"spec.gameServerTemplate.spec.containers[1].name: Required value"},
		},
		"two containers of one name": {
			set:  set(containers(func(c []corev1.Container) { c[1].Name = "game" })),
			want: []string{`spec.gameServerTemplate.spec.containers[1].name: Duplicate value: "game"`},
		},
		"a container without image": {
			set:  set(containers(func(c []corev1.Container) { c[0].Image = "" })),
			want: []string{"spec.gameServerTemplate.spec.containers[0].image: Required value"},
		},
		"an init container counts too": {
			set: set(func(s *gamev1alpha1.GameServerSet) {
				s.Spec.GameServerTemplate.Spec.InitContainers = []corev1.Container{{Name: "game", Image: "x"}}
			}),
			want: []string{`spec.gameServerTemplate.spec.containers[0].name: Duplicate value: "game"`},
		},
		"port 70000": {
			set:  set(ports(corev1.ContainerPort{ContainerPort: 70000})),
			want: []string{"spec.gameServerTemplate.spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535"},
		},
		"host port 70000 and an unknown protocol": {
			set: set(ports(corev1.ContainerPort{ContainerPort: 80, HostPort: 70000, Protocol: "XYZ"})),
			want: []string{
				"spec.gameServerTemplate.spec.containers[0].ports[0].hostPort: Invalid value: 70000",
				`spec.gameServerTemplate.spec.containers[0].ports[0].protocol: Unsupported value: "XYZ": supported values: "TCP", "UDP", "SCTP"`,
			},
		},
		"two ports for one name": {
			set:  set(ports(corev1.ContainerPort{Name: "game", ContainerPort: 80}, corev1.ContainerPort{Name: "game", ContainerPort: 81})),
			want: []string{`spec.gameServerTemplate.spec.containers[0].ports[1].name: Duplicate value: "game"`},
		},
		"volume claims of one name, and without": {
			set: set(claims("data", "data", "")),
			want: []string{
				`spec.gameServerTemplate.volumeClaimTemplates[1].metadata.name: Duplicate value: "data"`,
				"spec.gameServerTemplate.volumeClaimTemplates[2].metadata.name: Required value",
			},
		},
		"a label that no pod can carry": {
			set: set(func(s *gamev1alpha1.GameServerSet) {
				s.Spec.GameServerTemplate.Labels = map[string]string{"zone": "a b"}
			}),
			want: []string{`spec.gameServerTemplate.metadata.labels: Invalid value: "a b"`},
		},
		"an owner label of another set is replaced": {
			set: set(func(s *gamev1alpha1.GameServerSet) {
				s.Spec.GameServerTemplate.Labels = map[string]string{gamev1alpha1.GameServerOwnerGssKey: "other"}
			}),
			wantWarnings: []string{`spec.gameServerTemplate.metadata.labels[game.kruise.io/owner-gss]: "other" is replaced`},
		},
	})
}

// Source: core-api.md sections 2.5 and 6, fault S-5.
func TestServiceQualities(t *testing.T) {
	t.Parallel()
	with := func(f func(*gamev1alpha1.ServiceQuality)) *gamev1alpha1.GameServerSet { return set(quality(f)) }
	const first = "spec.serviceQualities[0]"
	runAll(t, map[string]check{
		"a usual quality": {set: set(quality())},
		"a TCP probe by port name": {set: with(func(q *gamev1alpha1.ServiceQuality) {
			q.Exec, q.TCPSocket = nil, &corev1.TCPSocketAction{Port: intstr.FromString("game")}
		})},
		"an HTTP probe, which OpenKruise refuses": {
			set: with(func(q *gamev1alpha1.ServiceQuality) {
				q.Exec, q.HTTPGet = nil, &corev1.HTTPGetAction{Port: intstr.FromInt32(80)}
			}),
			want: []string{first + ".httpGet: Forbidden"},
		},
		"a gRPC probe, which OpenKruise refuses": {
			set:  with(func(q *gamev1alpha1.ServiceQuality) { q.Exec, q.GRPC = nil, &corev1.GRPCAction{Port: 80} }),
			want: []string{first + ".grpc: Forbidden"},
		},
		"no probe at all": {
			set:  with(func(q *gamev1alpha1.ServiceQuality) { q.Exec = nil }),
			want: []string{first + ".exec: Required value"},
		},
		"two probes": {
			set: with(func(q *gamev1alpha1.ServiceQuality) {
				q.TCPSocket = &corev1.TCPSocketAction{Port: intstr.FromInt32(80)}
			}),
			want: []string{first + ".tcpSocket: Forbidden"},
		},
		"no command": {
			set:  with(func(q *gamev1alpha1.ServiceQuality) { q.Exec.Command = nil }),
			want: []string{first + ".exec.command: Required value"},
		},
		"a TCP port out of range": {
			set: with(func(q *gamev1alpha1.ServiceQuality) {
				q.Exec, q.TCPSocket = nil, &corev1.TCPSocketAction{Port: intstr.FromInt32(70000)}
			}),
			want: []string{first + `.tcpSocket.port: Invalid value: "70000"`},
		},
		"a container that the template lacks": {
			set:  with(func(q *gamev1alpha1.ServiceQuality) { q.ContainerName = "game-server" }),
			want: []string{first + `.containerName: Invalid value: "game-server": is no container of the template, which has ["game" "sidecar"]`},
		},
		"no container name": {
			set:  with(func(q *gamev1alpha1.ServiceQuality) { q.ContainerName = "" }),
			want: []string{first + ".containerName: Required value"},
		},
		"an empty name": {
			set:  with(func(q *gamev1alpha1.ServiceQuality) { q.Name = "" }),
			want: []string{first + ".name: Required value"},
		},
		"a name that makes no condition type": {
			set:  with(func(q *gamev1alpha1.ServiceQuality) { q.Name = "player#count" }),
			want: []string{first + `.name: Invalid value: "player#count"`},
		},
		"a negative threshold": {
			set:  with(func(q *gamev1alpha1.ServiceQuality) { q.FailureThreshold = -1 }),
			want: []string{first + ".failureThreshold: Invalid value: -1"},
		},
		"a grace period, which nothing reads": {
			set:          with(func(q *gamev1alpha1.ServiceQuality) { q.TerminationGracePeriodSeconds = ptr.To[int64](1) }),
			wantWarnings: []string{first + ".terminationGracePeriodSeconds: has no use"},
		},
		"a bad quality that is stored stays when another one comes": {
			old: with(func(q *gamev1alpha1.ServiceQuality) { q.Exec = nil }),
			set: set(quality(func(q *gamev1alpha1.ServiceQuality) { q.Exec = nil }), quality(func(q *gamev1alpha1.ServiceQuality) { q.Name = "busy" })),
		},
		"a quality whose container leaves the template": {
			old: set(quality(func(q *gamev1alpha1.ServiceQuality) { q.ContainerName = "sidecar" })),
			set: set(quality(func(q *gamev1alpha1.ServiceQuality) { q.ContainerName = "sidecar" }), func(s *gamev1alpha1.GameServerSet) {
				s.Spec.GameServerTemplate.Spec.Containers = s.Spec.GameServerTemplate.Spec.Containers[:1]
			}),
			want: []string{first + `.containerName: Invalid value: "sidecar": is no container of the template, which has ["game"]`},
		},
	})
}

// A value that holds a template is judged when the probe has given its output. Source: core-controllers.md, section 3.4.
func TestServiceQualityActions(t *testing.T) {
	t.Parallel()
	const first = "spec.serviceQualities[0].serviceQualityAction[0]"
	text := func(s string) *intstr.IntOrString { return ptr.To(intstr.FromString(s)) }
	spec := func(f func(*gamev1alpha1.GameServerSpec)) *gamev1alpha1.GameServerSet {
		a := gamev1alpha1.ServiceQualityAction{}
		f(&a.GameServerSpec)
		return set(action(a))
	}
	runAll(t, map[string]check{
		"templates in every place that may hold one": {
			set: set(action(gamev1alpha1.ServiceQualityAction{
				GameServerSpec: gamev1alpha1.GameServerSpec{
					OpsState: `{{if gt .Result "3"}}Allocated{{else}}None{{end}}`, UpdatePriority: text("{{.Result}}"), DeletionPriority: text("1{{.Result}}"),
				},
				Labels:      map[string]string{"current-players": "{{.Result}}"},
				Annotations: map[string]string{"info": "players-{{.Result}}"},
			})),
		},
		"integer text":      {set: spec(func(s *gamev1alpha1.GameServerSpec) { s.UpdatePriority = text("20") })},
		"a word of its own": {set: spec(func(s *gamev1alpha1.GameServerSpec) { s.OpsState = "GateMaintaining" })},
		"an opsState that is no label value (A-4)": {
			set:  spec(func(s *gamev1alpha1.GameServerSpec) { s.OpsState = "a b" }),
			want: []string{first + `.opsState: Invalid value: "a b"`},
		},
		"a negative priority (A-4)": {
			set:  spec(func(s *gamev1alpha1.GameServerSpec) { s.UpdatePriority = text("-5") }),
			want: []string{first + `.updatePriority: Invalid value: "-5"`},
		},
		"a priority that is a word (A-4)": {
			set:  spec(func(s *gamev1alpha1.GameServerSpec) { s.DeletionPriority = text("high") }),
			want: []string{first + `.deletionPriority: Invalid value: "high"`},
		},
		"a label value that no object can carry": {
			set:  set(action(gamev1alpha1.ServiceQualityAction{Labels: map[string]string{"players": "a b"}})),
			want: []string{first + `.labels[players]: Invalid value: "a b"`},
		},
		"keys that no object can carry": {
			set:  set(action(gamev1alpha1.ServiceQualityAction{Labels: map[string]string{"a b": "x"}, Annotations: map[string]string{"c d": "x"}})),
			want: []string{first + `.labels[a b]: Invalid value: "a b"`, first + `.annotations: Invalid value: "c d"`},
		},
		"templates that would never end": {
			set: set(action(gamev1alpha1.ServiceQualityAction{
				GameServerSpec: gamev1alpha1.GameServerSpec{OpsState: `{{range 9000000000000000000}}{{end}}`, UpdatePriority: text(`{{printf "%9d" 1}}`)},
				Annotations:    map[string]string{"info": `{{define "a"}}{{end}}`},
			})),
			want: []string{
				first + `.opsState: Invalid value: "{{range 9000000000000000000}}{{end}}": {{range 9000000000000000000}}{{end}}: not allowed in a template; ` +
					"a template may hold text, {{.Result}}, {{if}} and {{else}}",
				first + `.updatePriority: Invalid value: "{{printf \"%9d\" 1}}": printf: not allowed`,
				first + `.annotations[info]: Invalid value: "{{define \"a\"}}{{end}}": define or block: not allowed`,
			},
		},
		"a template that cannot be read": {
			set:          set(action(gamev1alpha1.ServiceQualityAction{Annotations: map[string]string{"info": "{{.Result"}})),
			wantWarnings: []string{first + `.annotations[info]: "{{.Result" is no template that can be read`},
		},
	})
}

// Source: core-webhook-and-scaler.md, section 1.6, core-api.md section 6, network-framework.md section 8.
func TestNetwork(t *testing.T) {
	t.Parallel()
	const conf = "spec.network.networkConf"
	other := func(s *gamev1alpha1.GameServerSet) { s.Spec.GameServerTemplate.Spec.Containers[0].Image = "game:2" }
	runAll(t, map[string]check{
		"a known type":         {set: set(network("Test-Network", "Port", "80"))},
		"network without type": {set: set(network("")), want: []string{"spec.network.networkType: Required value: must name a network plugin: Test-Network"}},
		"a type that no plugin has": {
			set:  set(network("AlibabaCloud-LB")),
			want: []string{`spec.network.networkType: Unsupported value: "AlibabaCloud-LB": supported values: "Test-Network"`},
		},
		"a type in another case": {
			set:  set(network("test-network")),
			want: []string{`spec.network.networkType: Unsupported value: "test-network"`},
		},
		"a change of the type": {
			old: set(network("Test-Network")), set: set(network("Other-Network")),
			want: []string{`spec.network.networkType: Invalid value: "Other-Network": may not change from Test-Network`},
		},
		"a stored type whose plugin was switched off stays editable": {
			old: set(network("Gone-Network", "Port", "bad")), set: set(network("Gone-Network", "Port", "80"), reserve(1)),
		},
		"network added later is checked like a creation (W-9)": {
			old: set(), set: set(network("AlibabaCloud-LB")),
			want:         []string{`spec.network.networkType: Unsupported value: "AlibabaCloud-LB"`},
			wantWarnings: []string{"spec.network: was added: running servers get it only when they are updated"},
		},
		"an empty type that is filled later is checked (W-9)": {
			old: set(network("")), set: set(network("AlibabaCloud-LB")),
			want: []string{`spec.network.networkType: Unsupported value: "AlibabaCloud-LB"`},
		},
		"network removed (W-9)": {
			old: set(network("Test-Network")), set: set(),
			wantWarnings: []string{"spec.network: was removed"},
		},
		"a parameter the plugin refuses": {
			set:  set(network("Test-Network", "Port", "bad")),
			want: []string{conf + `[0].value: Invalid value: "bad": no port`},
		},
		"a parameter the plugin does not know is a warning": {
			set:          set(network("Test-Network", "Prot", "80")),
			wantWarnings: []string{conf + "[0]: unknown parameter Prot"},
		},
		"a parameter without name": {
			set:          set(network("Test-Network", "", "80")),
			want:         []string{conf + "[0].name: Required value"},
			wantWarnings: []string{conf + "[0]: unknown parameter"},
		},
		"stored bad parameters do not stop other edits": {
			old: set(network("Test-Network", "Port", "bad")), set: set(network("Test-Network", "Port", "bad"), reserve(1)),
		},
		"a change of containers has the parameters checked again": {
			old: set(network("Test-Network", "Port", "bad")), set: set(network("Test-Network", "Port", "bad"), other),
			want: []string{conf + "[0].value"},
		},
		"the host network has the parameters checked again": {
			old: set(network("Test-Network", "Port", "bad")), set: set(network("Test-Network", "Port", "bad"), func(s *gamev1alpha1.GameServerSet) {
				s.Spec.GameServerTemplate.Spec.HostNetwork = true
			}),
			want: []string{conf + "[0].value"},
		},
		"AllowNotReadyContainers with a container that does not exist": {
			set:          set(network("Test-Network", "AllowNotReadyContainers", "sidecar, ,proxy")),
			want:         []string{conf + `[0].value: Invalid value: "proxy": is no container of the template, which has ["game" "sidecar"]`},
			wantWarnings: []string{conf + "[0]: unknown parameter AllowNotReadyContainers"},
		},
	})
}

func TestUnknownFields(t *testing.T) {
	t.Parallel()
	const misspelt = `{"spec":{"gameServerTemplate":{"spec":{"contaners":[],"containers":[{"name":"game","imagee":"x"}]}}}}`
	cases := map[string]struct {
		old, now string
		want     []string
	}{
		"nothing unknown": {now: `{"spec":{"replicas":1}}`},
		"misspelt fields of the pod template (A-8)": {
			now: misspelt,
			want: []string{
				"spec.gameServerTemplate.spec.containers[0].imagee: unknown field",
				"spec.gameServerTemplate.spec.contaners: unknown field",
			},
		},
		"fields that were there before are not told again": {old: misspelt, now: misspelt},
		"an object that cannot be read":                    {now: `{"spec":7}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := UnknownFields([]byte(tc.old), []byte(tc.now))
			slices.Sort(got)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}
