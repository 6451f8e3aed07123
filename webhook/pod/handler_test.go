// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/internal/gamepod"
	"github.com/berthgames/berth/internal/ports"
	"github.com/berthgames/berth/network/framework"
)

// plugin is a network plugin that answers as the test says.
type plugin struct {
	admit func(ctx context.Context, req framework.AdmitRequest) error
}

func (plugin) Name() string                                          { return "Test-Network" }
func (plugin) Alias() string                                         { return "" }
func (plugin) Validate(framework.ValidateRequest) framework.Findings { return framework.Findings{} }
func (p plugin) Admit(ctx context.Context, req framework.AdmitRequest) error {
	return p.admit(ctx, req)
}

// passive is a network plugin that does not shape pods.
type passive struct{}

func (passive) Name() string                                          { return "Test-Passive" }
func (passive) Alias() string                                         { return "" }
func (passive) Validate(framework.ValidateRequest) framework.Findings { return framework.Findings{} }

func addPort(_ context.Context, req framework.AdmitRequest) error {
	c := &req.Pod.Spec.Containers[0]
	c.Ports = append(c.Ports, corev1.ContainerPort{ContainerPort: 80, HostPort: 8000})
	return nil
}

func schemeOf(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, gamev1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

// gamePod is a pod as OpenKruise sends it, but for the labels of its GameServer, which it has already.
func gamePod(change ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:        "arena-0",
			Labels:      map[string]string{gamev1alpha1.GameServerOwnerGssKey: "arena"},
			Annotations: map[string]string{gamev1alpha1.GameServerNetworkType: "Test-Network", gamev1alpha1.GameServerNetworkConf: `[{"name":"Port","value":"80"}]`},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "game", Image: "game:1"}}},
	}
	gamepod.Stamp(pod, nil, noon())
	for _, c := range change {
		c(pod)
	}
	return pod
}

func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func request(t *testing.T, pod *corev1.Pod, change ...func(*admission.Request)) admission.Request {
	t.Helper()
	raw, err := json.Marshal(pod)
	if err != nil {
		t.Fatal(err)
	}
	req := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		UID: "request-1", Namespace: "games", Name: pod.Name, Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: raw},
	}}
	for _, c := range change {
		c(&req)
	}
	return req
}

type fixture struct {
	admit     func(context.Context, framework.AdmitRequest) error
	servers   []client.Object
	readError error
	namespace string
	limit     time.Duration
}

func (f fixture) handler(t *testing.T) *Handler {
	t.Helper()
	if f.admit == nil {
		f.admit = addPort
	}
	registry, err := framework.NewRegistry(plugin{admit: f.admit}, passive{})
	if err != nil {
		t.Fatal(err)
	}
	scheme := schemeOf(t)
	live := fake.NewClientBuilder().WithScheme(scheme).WithObjects(f.servers...).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			if f.readError != nil {
				return f.readError
			}
			return c.Get(ctx, key, obj, opts...)
		},
	}).Build()
	return New(Options{Live: live, Scheme: scheme, Plugins: registry, Namespace: f.namespace, Limit: f.limit, Clock: clocktesting.NewFakePassiveClock(noon())})
}

func texts(response admission.Response) []string {
	var ops []string
	for _, op := range response.Patches {
		ops = append(ops, op.Json())
	}
	return ops
}

func TestHandleAdmits(t *testing.T) {
	t.Parallel()
	const portOp = `{"op":"add","path":"/spec/containers/0/ports","value":[{"containerPort":80,"hostPort":8000}]}`
	server := &gamev1alpha1.GameServer{
		ObjectMeta: metav1.ObjectMeta{Namespace: "games", Name: "arena-0"},
		Spec:       gamev1alpha1.GameServerSpec{Containers: []gamev1alpha1.GameServerContainer{{Name: "game", Image: "game:2"}}},
	}
	cases := map[string]struct {
		fixture
		pod          *corev1.Pod
		change       func(*admission.Request)
		wantOps      []string
		wantWarnings []string
	}{
		"a new pod gets what its plugin adds": {
			pod:     gamePod(),
			wantOps: []string{portOp},
		},
		"overrides of a GameServer that outlived the last pod come first (W-11)": {
			fixture: fixture{servers: []client.Object{server}},
			pod:     gamePod(),
			wantOps: []string{`{"op":"replace","path":"/spec/containers/0/image","value":"game:2"}`, portOp},
		},
		"a network status that stands in the template is dropped": {
			pod:     gamePod(func(p *corev1.Pod) { p.Annotations[gamev1alpha1.GameServerNetworkStatus] = "{}" }),
			wantOps: []string{`{"op":"remove","path":"/metadata/annotations/game.kruise.io~1network-status"}`, portOp},
		},
		"a pod without network keeps its overrides": {
			fixture: fixture{servers: []client.Object{server}},
			pod:     gamePod(func(p *corev1.Pod) { p.Annotations = nil }),
			wantOps: []string{`{"op":"replace","path":"/spec/containers/0/image","value":"game:2"}`},
		},
		"a plugin that shapes no pods changes nothing": {
			pod: gamePod(func(p *corev1.Pod) { p.Annotations[gamev1alpha1.GameServerNetworkType] = "Test-Passive" }),
		},
		"an unknown network type is admitted with a warning (W-3, F12)": {
			pod:          gamePod(func(p *corev1.Pod) { p.Annotations[gamev1alpha1.GameServerNetworkType] = "Cloud-LB" }),
			wantWarnings: []string{`there is no network plugin "Cloud-LB", so the pod gets no network; known are ["Test-Network" "Test-Passive"]`},
		},
		"a pod that is no game server is left alone (G02)": {
			pod: gamePod(func(p *corev1.Pod) { p.Labels = nil }),
		},
		"a pod outside of the manager's namespace is left alone (D-4)": {
			fixture:      fixture{namespace: "other"},
			pod:          gamePod(),
			wantWarnings: []string{`Berth's manager works in namespace "other" only; the pod is left as it is`},
		},
		"a pod without a name is left alone (F21)": {
			pod: gamePod(func(p *corev1.Pod) { p.Name, p.GenerateName = "", "arena-" }),
			wantWarnings: []string{"a pod with label game.kruise.io/owner-gss needs a name of its own, not generateName; " +
				"it is left as it is"},
		},
		"an update passes untouched, whatever the plugin would say (W-6, F2)": {
			fixture: fixture{admit: func(context.Context, framework.AdmitRequest) error { return errors.New("cloud is down") }},
			pod:     gamePod(),
			change:  func(r *admission.Request) { r.Operation = admissionv1.Update },
		},
		"a deletion passes untouched (W-5, F20)": {
			fixture: fixture{admit: func(context.Context, framework.AdmitRequest) error { return errors.New("cloud is down") }},
			pod:     gamePod(),
			change: func(r *admission.Request) {
				r.Operation, r.OldObject, r.Object = admissionv1.Delete, r.Object, runtime.RawExtension{}
			},
		},
		"a subresource passes untouched": {
			pod:    gamePod(),
			change: func(r *admission.Request) { r.SubResource = "binding" },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := request(t, tc.pod)
			if tc.change != nil {
				tc.change(&req)
			}
			got := tc.handler(t).Handle(t.Context(), req)
			if !got.Allowed {
				t.Fatalf("refused: %v", got.Result)
			}
			if diff := cmp.Diff(tc.wantOps, texts(got)); diff != "" {
				t.Errorf("operations (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantWarnings, got.Warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHandleStampsTheWishesOfTheGameServer(t *testing.T) {
	t.Parallel()
	server := func(owner string) client.Object {
		return &gamev1alpha1.GameServer{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "games", Name: "arena-0",
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: owner, Name: "x", UID: "x", Controller: ptr.To(true)}},
			},
			Spec: gamev1alpha1.GameServerSpec{
				OpsState: gamev1alpha1.Maintaining, Containers: []gamev1alpha1.GameServerContainer{{Name: "game", Image: "game:2"}},
			},
		}
	}
	cases := map[string]struct {
		servers                 []client.Object
		wantOpsState, wantImage string
	}{
		"of a new one when there is none":              {wantOpsState: "None", wantImage: "game:1"},
		"of the one that outlived the last pod":        {servers: []client.Object{server("GameServerSet")}, wantOpsState: "Maintaining", wantImage: "game:2"},
		"not of one that goes with a former pod (G-4)": {servers: []client.Object{server("Pod")}, wantOpsState: "None", wantImage: "game:1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bare := gamePod()
			bare.Labels = map[string]string{gamev1alpha1.GameServerOwnerGssKey: "arena"}
			bare.Namespace = "games"
			got, _, err := fixture{servers: tc.servers}.handler(t).shape(t.Context(), bare, request(t, bare))
			if err != nil {
				t.Fatal(err)
			}
			if state := got.Labels[gamev1alpha1.GameServerOpsStateKey]; state != tc.wantOpsState || got.Spec.Containers[0].Image != tc.wantImage {
				t.Errorf("opsState %s and image %s, want %s and %s", state, got.Spec.Containers[0].Image, tc.wantOpsState, tc.wantImage)
			}
			if at := got.Annotations[gamev1alpha1.GameServerOpsStateLastChangedTime]; at != "2026-03-01T12:00:00Z" {
				t.Errorf("opsState since %q", at)
			}
		})
	}
}

func TestHandleRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		fixture
		pod      *corev1.Pod
		wantCode int32
		wantText []string
	}{
		"parameters the plugin cannot read": {
			fixture: fixture{admit: func(context.Context, framework.AdmitRequest) error {
				return framework.AsParameterError(field.ErrorList{field.Invalid(field.NewPath("Port"), "70000", "out of range")})
			}},
			wantCode: http.StatusUnprocessableEntity,
			wantText: []string{"games/arena-0", "Port", "70000", "out of range"},
		},
		"an annotation that is no JSON, without a panic (F4)": {
			pod:      gamePod(func(p *corev1.Pod) { p.Annotations[gamev1alpha1.GameServerNetworkConf] = "invalid-json" }),
			wantCode: http.StatusUnprocessableEntity,
			wantText: []string{"games/arena-0", gamev1alpha1.GameServerNetworkConf, "invalid-json"},
		},
		"no free port": {
			fixture: fixture{admit: func(context.Context, framework.AdmitRequest) error {
				return fmt.Errorf("choosing: %w", &ports.ExhaustedError{Kind: "host port", Range: ports.Range{Min: 1, Max: 2}, Want: 1})
			}},
			wantCode: http.StatusServiceUnavailable,
			wantText: []string{"1 host port in 1-2 wanted, 0 free"},
		},
		"a plugin that is not ready yet (W-4, F8)": {
			fixture: fixture{admit: func(context.Context, framework.AdmitRequest) error {
				return &framework.RetryError{Err: errors.New("has not seen all pods"), After: 1500 * time.Millisecond}
			}},
			wantCode: http.StatusServiceUnavailable,
			wantText: []string{"has not seen all pods", "try again"},
		},
		"a plugin that takes too long (W-2, F5)": {
			fixture: fixture{limit: 20 * time.Millisecond, admit: func(ctx context.Context, req framework.AdmitRequest) error {
				<-ctx.Done()
				return ctx.Err()
			}},
			wantCode: http.StatusServiceUnavailable,
			wantText: []string{"Test-Network", "20ms", "try again"},
		},
		"a plugin that panics (W-15, F4)": {
			fixture:  fixture{admit: func(context.Context, framework.AdmitRequest) error { panic("index out of range") }},
			wantCode: http.StatusInternalServerError,
			wantText: []string{"Test-Network", "index out of range"},
		},
		"a GameServer that cannot be read": {
			fixture:  fixture{readError: errors.New("connection refused")},
			wantCode: http.StatusServiceUnavailable,
			wantText: []string{"reading its GameServer", "connection refused"},
		},
		"a GameServer that wants claims": {
			fixture: fixture{servers: []client.Object{&gamev1alpha1.GameServer{
				ObjectMeta: metav1.ObjectMeta{Namespace: "games", Name: "arena-0"},
				Spec: gamev1alpha1.GameServerSpec{Containers: []gamev1alpha1.GameServerContainer{{
					Name: "game", Resources: corev1.ResourceRequirements{Claims: []corev1.ResourceClaim{{Name: "gpu"}}},
				}}},
			}}},
			wantCode: http.StatusUnprocessableEntity,
			wantText: []string{"its GameServer", "spec.containers[0].resources.claims"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := tc.pod
			if pod == nil {
				pod = gamePod()
			}
			got := tc.handler(t).Handle(t.Context(), request(t, pod))
			if got.Allowed || len(got.Patches) > 0 {
				t.Fatalf("admitted with %v", texts(got))
			}
			if got.Result.Code != tc.wantCode {
				t.Errorf("code %d, want %d", got.Result.Code, tc.wantCode)
			}
			for _, text := range tc.wantText {
				if !strings.Contains(got.Result.Message, text) {
					t.Errorf("message %q lacks %q", got.Result.Message, text)
				}
			}
		})
	}
}

// F6: after the time limit upstream's plugin went on working on the pod that was being answered.
func TestHandleSharesNoPodWithALatePlugin(t *testing.T) {
	t.Parallel()
	release, gone := make(chan struct{}), make(chan struct{})
	h := fixture{limit: 10 * time.Millisecond, admit: func(_ context.Context, req framework.AdmitRequest) error {
		defer close(gone)
		<-release
		req.Pod.Spec.Containers[0].Image = "late"
		return nil
	}}.handler(t)
	got := h.Handle(t.Context(), request(t, gamePod()))
	close(release)
	<-gone
	if got.Allowed {
		t.Error("a pod was admitted without its network")
	}
}

// W-7, F1: the plugin learns that nothing will be stored, and answers as it would otherwise.
func TestHandleTellsThePluginOfADryRun(t *testing.T) {
	t.Parallel()
	var seen framework.AdmitRequest
	h := fixture{admit: func(ctx context.Context, req framework.AdmitRequest) error {
		seen = req
		return addPort(ctx, req)
	}}.handler(t)
	dry := true
	got := h.Handle(t.Context(), request(t, gamePod(), func(r *admission.Request) { r.DryRun = &dry }))
	if !got.Allowed || len(got.Patches) != 1 {
		t.Fatalf("answered %v %v, want the patch of a real request", got.Result, texts(got))
	}
	want := []gamev1alpha1.NetworkConfParams{{Name: "Port", Value: "80"}}
	if diff := cmp.Diff(want, seen.Params); diff != "" {
		t.Errorf("parameters (-want +got):\n%s", diff)
	}
	if !seen.DryRun || seen.RequestUID != "request-1" || seen.Pod.Namespace != "games" {
		t.Errorf("plugin saw dry run %t, request %q, namespace %q", seen.DryRun, seen.RequestUID, seen.Pod.Namespace)
	}
}

func TestMetricsCountOutcomes(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewPedanticRegistry()
	metrics, err := NewMetrics(registry)
	if err != nil {
		t.Fatal(err)
	}
	metrics.admitted("Test-Network", nil)
	metrics.admitted("Test-Network", framework.Retryf("later"))
	want := `
# HELP berth_webhook_pod_admissions_total Answers of network plugins to new pods, by plugin and outcome: "admitted", or the reason of the refusal.
# TYPE berth_webhook_pod_admissions_total counter
berth_webhook_pod_admissions_total{outcome="admitted",plugin="Test-Network"} 1
berth_webhook_pod_admissions_total{outcome="retryError",plugin="Test-Network"} 1
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}
