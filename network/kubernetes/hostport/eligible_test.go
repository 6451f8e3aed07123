// SPDX-License-Identifier: Apache-2.0

package hostport

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthgames/berth/internal/ports"
)

func TestSelectorMatches(t *testing.T) {
	t.Parallel()
	label := func(key, value string) func(*corev1.Node) { return func(n *corev1.Node) { n.Labels[key] = value } }
	taint := func(effect corev1.TaintEffect) func(*corev1.Node) {
		return func(n *corev1.Node) {
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "gpu", Value: "yes", Effect: effect})
		}
	}
	cordoned := func(n *corev1.Node) { n.Spec.Unschedulable = true }
	require := func(terms ...corev1.NodeSelectorRequirement) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: terms}},
			}}}
		}
	}
	tolerate := func(toleration corev1.Toleration) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { pod.Spec.Tolerations = append(pod.Spec.Tolerations, toleration) }
	}
	plain := func(*corev1.Pod) {}
	cases := map[string]struct {
		pod  func(*corev1.Pod)
		node *corev1.Node
		want bool
	}{
		"any pod on a plain node":             {plain, node("n1"), true},
		"a node selector that fits":           {func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"pool": "a"} }, node("n1", label("pool", "a")), true},
		"a node selector that does not fit":   {func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"pool": "a"} }, node("n1"), false},
		"required affinity that fits":         {require(corev1.NodeSelectorRequirement{Key: "pool", Operator: corev1.NodeSelectorOpIn, Values: []string{"a", "b"}}), node("n1", label("pool", "b")), true},
		"required affinity that does not fit": {require(corev1.NodeSelectorRequirement{Key: "pool", Operator: corev1.NodeSelectorOpExists}), node("n1"), false},
		"affinity that makes no sense":        {require(corev1.NodeSelectorRequirement{Key: "pool", Operator: "Like"}), node("n1", label("pool", "b")), false},
		"a taint":                             {plain, node("n1", taint(corev1.TaintEffectNoSchedule)), false},
		"a taint that evicts":                 {plain, node("n1", taint(corev1.TaintEffectNoExecute)), false},
		"a taint that only discourages":       {plain, node("n1", taint(corev1.TaintEffectPreferNoSchedule)), true},
		"a taint that is tolerated":           {tolerate(corev1.Toleration{Key: "gpu", Operator: corev1.TolerationOpExists}), node("n1", taint(corev1.TaintEffectNoSchedule)), true},
		"one taint of two is tolerated": {
			tolerate(corev1.Toleration{Key: "gpu", Effect: corev1.TaintEffectNoSchedule, Operator: corev1.TolerationOpExists}),
			node("n1", taint(corev1.TaintEffectNoSchedule), taint(corev1.TaintEffectNoExecute)), false,
		},
		"a cordoned node": {plain, node("n1", cordoned), false},
		"a cordoned node that is tolerated": {
			tolerate(corev1.Toleration{Key: corev1.TaintNodeUnschedulable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}),
			node("n1", cordoned), true,
		},
		"a pod that names its node":         {func(p *corev1.Pod) { p.Spec.NodeName = "n1" }, node("n1"), true},
		"a pod that names another node":     {func(p *corev1.Pod) { p.Spec.NodeName = "n2" }, node("n1"), false},
		"a volume of the node (S10)":        {claims("local"), node("n1"), true},
		"a volume of another node (S10)":    {claims("local"), node("n2"), false},
		"a claim that is not bound":         {claims("unbound"), node("n2"), true},
		"a claim that is not there":         {claims("missing"), node("n2"), true},
		"a claim whose volume is not there": {claims("lost"), node("n2"), true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlugin(t, ports.Range{Min: 8000, Max: 8001}, claim("local", "disk"), claim("unbound", ""), claim("lost", "gone"), localVolume("disk", "n1"))
			s, err := p.selectorOf(t.Context(), gamePod(tc.pod))
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Matches(tc.node); got != tc.want {
				t.Errorf("matches: %v, want %v", got, tc.want)
			}
		})
	}
}

func claims(name string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name},
		}}}
	}
}

func claim(name, volume string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "games", Name: name}, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: volume},
	}
}

func localVolume(name, nodeName string) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeSpec{NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{
				{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{nodeName}},
			}}},
		}}},
	}
}

// Pods of one template share one answer, whatever their names.
func TestSelectorKey(t *testing.T) {
	t.Parallel()
	key := func(change ...func(*corev1.Pod)) string {
		s, err := newSelector(gamePod(change...), nil)
		if err != nil {
			t.Fatal(err)
		}
		return s.Key()
	}
	pool := func(value string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { pod.Spec.NodeSelector = map[string]string{"pool": value, "zone": "z"} }
	}
	if a, b := key(pool("a")), key(pool("a"), func(pod *corev1.Pod) { pod.Name = "arena-7" }); a != b {
		t.Errorf("pods of one template differ: %s and %s", a, b)
	}
	if a, b := key(pool("a")), key(pool("b")); a == b {
		t.Errorf("pods of two pools share %s", a)
	}
}

func TestRequestsOf(t *testing.T) {
	t.Parallel()
	pod := gamePod(func(pod *corev1.Pod) {
		for i := range pod.Spec.Containers {
			pod.Spec.Containers[i].Resources.Requests = corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("1Gi"),
			}
		}
	})
	if got, want := requestsOf(pod), (ports.Resources{MilliCPU: 1000, Memory: 2 << 30, Pods: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
