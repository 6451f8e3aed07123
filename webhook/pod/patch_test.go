// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"encoding/json"
	"fmt"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	type ops = []string
	cases := map[string]struct {
		raw    string
		change func(*corev1.Pod)
		want   ops
	}{
		"nothing changed": {
			raw:    `{"spec":{"containers":[{"name":"game"}]}}`,
			change: func(*corev1.Pod) {},
		},
		"a host port is appended beside what the template has": {
			raw: `{"spec":{"containers":[{"name":"game","ports":[{"containerPort":80,"future":{"a":1}}]}]}}`,
			change: func(p *corev1.Pod) {
				p.Spec.Containers[0].Ports = append(p.Spec.Containers[0].Ports, corev1.ContainerPort{ContainerPort: 81, HostPort: 8001})
			},
			want: ops{`{"op":"add","path":"/spec/containers/0/ports/1","value":{"containerPort":81,"hostPort":8001}}`},
		},
		"a list that raw leaves out is added whole": {
			raw: `{"spec":{"containers":[{"name":"game"}]}}`,
			change: func(p *corev1.Pod) {
				p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80}}
			},
			want: ops{`{"op":"add","path":"/spec/containers/0/ports","value":[{"containerPort":80}]}`},
		},
		"an object that raw leaves out and the library spells out is added whole": {
			raw: `{"spec":{"containers":[{"name":"game"}]}}`,
			change: func(p *corev1.Pod) {
				p.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
			},
			want: ops{`{"op":"add","path":"/spec/containers/0/resources","value":{"limits":{"cpu":"1"}}}`},
		},
		"a null is replaced": {
			raw:    `{"metadata":{"annotations":null},"spec":{"containers":[]}}`,
			change: func(p *corev1.Pod) { p.Annotations = map[string]string{"a/b~c": "x"} },
			want:   ops{`{"op":"replace","path":"/metadata/annotations","value":{"a/b~c":"x"}}`},
		},
		"a key with slash and tilde is escaped": {
			raw:    `{"metadata":{"annotations":{"x":"y"}},"spec":{"containers":[]}}`,
			change: func(p *corev1.Pod) { p.Annotations["a/b~c"] = "x" },
			want:   ops{`{"op":"add","path":"/metadata/annotations/a~1b~0c","value":"x"}`},
		},
		"an element before the others leaves them alone": {
			raw: `{"spec":{"containers":[{"name":"game","env":[{"name":"A","value":"1","future":true}]}]}}`,
			change: func(p *corev1.Pod) {
				p.Spec.Containers[0].Env = append([]corev1.EnvVar{{Name: "PORT"}}, p.Spec.Containers[0].Env...)
			},
			want: ops{`{"op":"add","path":"/spec/containers/0/env/0","value":{"name":"PORT"}}`},
		},
		"removed elements go from behind": {
			raw:    `{"spec":{"containers":[{"name":"a"},{"name":"b"},{"name":"c"}]}}`,
			change: func(p *corev1.Pod) { p.Spec.Containers = p.Spec.Containers[:1] },
			want:   ops{`{"op":"remove","path":"/spec/containers/2"}`, `{"op":"remove","path":"/spec/containers/1"}`},
		},
		"a removed key is removed": {
			raw:    `{"metadata":{"annotations":{"x":"y","z":"1"}},"spec":{"containers":[]}}`,
			change: func(p *corev1.Pod) { delete(p.Annotations, "x") },
			want:   ops{`{"op":"remove","path":"/metadata/annotations/x"}`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := &corev1.Pod{}
			if err := json.Unmarshal([]byte(tc.raw), before); err != nil {
				t.Fatal(err)
			}
			after := before.DeepCopy()
			tc.change(after)
			patch, err := diff([]byte(tc.raw), before, after)
			if err != nil {
				t.Fatal(err)
			}
			var got ops
			for _, op := range patch {
				got = append(got, op.Json())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("operations (-want +got):\n%s", diff)
			}
		})
	}
}

// A pod as a newer API server may send it: fields unknown to us at every level, fields left out, fields null.
type wire struct {
	raw     map[string]any
	unknown int
}

func drawWire(t *rapid.T) wire {
	w := wire{}
	future := func(in map[string]any) map[string]any {
		if rapid.Bool().Draw(t, "unknown field") {
			w.unknown++
			in[fmt.Sprintf("future%d", w.unknown)] = map[string]any{"n": json.Number("9007199254740993")}
		}
		return in
	}
	names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-c]{1,2}`), 0, 3, rapid.ID[string])
	var containers []any
	for _, name := range names.Draw(t, "containers") {
		container := future(map[string]any{"name": name})
		if rapid.Bool().Draw(t, "resources given") {
			container["resources"] = future(map[string]any{"limits": map[string]any{"cpu": "1"}})
		}
		if rapid.Bool().Draw(t, "env given") {
			var env []any
			for _, key := range names.Draw(t, "env") {
				env = append(env, future(map[string]any{"name": key, "value": "v"}))
			}
			container["env"] = env
		}
		containers = append(containers, container)
	}
	metadata := future(map[string]any{"name": "arena-0", "annotations": nil})
	if rapid.Bool().Draw(t, "annotations given") {
		metadata["annotations"] = map[string]any{"a/b": "1", "c~d": "2"}
	}
	w.raw = future(map[string]any{"metadata": metadata, "spec": future(map[string]any{"containers": containers})})
	return w
}

func drawChange(t *rapid.T, pod *corev1.Pod) {
	if rapid.Bool().Draw(t, "annotate") {
		if pod.Annotations == nil {
			pod.Annotations = map[string]string{}
		}
		pod.Annotations[rapid.SampledFrom([]string{"a/b", "new/~key"}).Draw(t, "key")] = "changed"
	}
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		switch rapid.IntRange(0, 4).Draw(t, "change") {
		case 1:
			c.Image = "game:2"
		case 2:
			overlay(&c.Resources.Requests, corev1.ResourceList{"example.com/gpu": resource.MustParse("2")})
		case 3:
			c.Env = append([]corev1.EnvVar{{Name: "FIRST"}}, c.Env...)
		case 4:
			c.Ports = append(c.Ports, corev1.ContainerPort{ContainerPort: 80, HostPort: 8000, Protocol: corev1.ProtocolUDP})
		}
	}
	if rapid.Bool().Draw(t, "gate") {
		pod.Spec.ReadinessGates = append(pod.Spec.ReadinessGates, corev1.PodReadinessGate{ConditionType: "example.com/net"})
	}
}

// W-8: upstream's patch dropped the fields its library did not know.
func TestDiffMakesTheChangeAndLosesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := drawWire(t)
		raw, err := json.Marshal(w.raw)
		if err != nil {
			t.Fatal(err)
		}
		before := &corev1.Pod{}
		if err := json.Unmarshal(raw, before); err != nil {
			t.Fatal(err)
		}
		after := before.DeepCopy()
		drawChange(t, after)

		ops, err := diff(raw, before, after)
		if err != nil {
			t.Fatal(err)
		}
		if equality.Semantic.DeepEqual(before, after) && len(ops) > 0 {
			t.Fatalf("operations without a change: %v", ops)
		}
		text, err := json.Marshal(ops)
		if err != nil {
			t.Fatal(err)
		}
		patch, err := jsonpatch.DecodePatch(text)
		if err != nil {
			t.Fatal(err)
		}
		patched, err := patch.Apply(raw)
		if err != nil {
			t.Fatalf("the API server could not apply %s to %s: %v", text, raw, err)
		}
		got := &corev1.Pod{}
		if err := json.Unmarshal(patched, got); err != nil {
			t.Fatal(err)
		}
		if !equality.Semantic.DeepEqual(after, got) {
			t.Fatalf("patched pod (-want +got):\n%s", cmp.Diff(after, got))
		}
		value, err := generic(patched)
		if err != nil {
			t.Fatal(err)
		}
		if n := countFuture(value); n != w.unknown {
			t.Fatalf("%d of %d unknown fields are left after %s on %s", n, w.unknown, text, raw)
		}
	})
}

func countFuture(value any) int {
	n := 0
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if len(key) > 6 && key[:6] == "future" {
				n++
			}
			n += countFuture(inner)
		}
	case []any:
		for _, inner := range v {
			n += countFuture(inner)
		}
	}
	return n
}
