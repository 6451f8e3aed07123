// SPDX-License-Identifier: Apache-2.0

package indexoffset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// pod is a bare pod of namespace games.
func pod(name string, changes ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "games", Name: name, UID: types.UID("uid-" + name),
		Labels: map[string]string{}, Annotations: map[string]string{},
	}}
	for _, change := range changes {
		change(p)
	}
	return p
}

func label(key, value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Labels[key] = value }
}

func gss(name string) func(*corev1.Pod) { return label("game.kruise.io/owner-gss", name) }

func selector(value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Annotations[SelectorAnnotation] = value }
}

func owner(kind, uid string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.OwnerReferences = append(p.OwnerReferences, metav1.OwnerReference{
			APIVersion: "apps.kruise.io/v1beta1", Kind: kind, Name: "game", UID: types.UID(uid),
		})
	}
}

func TestIdentify(t *testing.T) {
	t.Parallel()
	type who struct {
		Set, Owner, Selector string
		Ordinal              int32
	}
	cases := map[string]struct {
		pod  *corev1.Pod
		want who
	}{
		"a pod of a StatefulSet, of either make":          {pod: pod("game-3", owner("StatefulSet", "u1")), want: who{Owner: "u1", Ordinal: 3}},
		"X-11 a pod of a GameServerSet":                   {pod: pod("game-4", gss("game"), owner("StatefulSet", "u1")), want: who{Set: "game", Ordinal: 4}},
		"X-11 a game server adopted by another kind":      {pod: pod("game-4", gss("game"), owner("Job", "u2")), want: who{Set: "game", Ordinal: 4}},
		"X-11 the index stands in a label":                {pod: pod("anything", gss("game"), label("apps.kubernetes.io/pod-index", "12")), want: who{Set: "game", Ordinal: 12}},
		"a label that is no index is not used":            {pod: pod("game-7", gss("game"), label("apps.kubernetes.io/pod-index", "x")), want: who{Set: "game", Ordinal: 7}},
		"the largest ordinal":                             {pod: pod("game-2147483647", gss("game")), want: who{Set: "game", Ordinal: 2147483647}},
		"a selector replaces the set":                     {pod: pod("game-1", gss("game"), selector("tier=hot")), want: who{Selector: "tier=hot", Ordinal: 1}},
		"X-6 a selector with dots, slashes and dashes":    {pod: pod("game-1", selector("app.kubernetes.io/name=x-1.2_y")), want: who{Selector: "app.kubernetes.io/name=x-1.2_y", Ordinal: 1}},
		"X-6 a set-based selector, in one form":           {pod: pod("game-1", selector(" tier in (b, a),!cold ")), want: who{Selector: "!cold,tier in (a,b)", Ordinal: 1}},
		"a blank selector is none":                        {pod: pod("game-1", gss("game"), selector(" ")), want: who{Set: "game", Ordinal: 1}},
		"a bare pod with a selector takes part as a peer": {pod: pod("game-1", selector("a=b")), want: who{Selector: "a=b", Ordinal: 1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, ok, err := identify(tc.pod)
			if !ok || err != nil {
				t.Fatalf("identify says %v, error %v", ok, err)
			}
			got := who{Selector: s.key, Ordinal: s.ordinal}
			namespace := s.namespace
			if s.selector == nil {
				g := s.group.Value()
				got.Set, got.Owner, namespace = g.set, g.owner, g.namespace
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("subject (-want +got):\n%s", diff)
			}
			if namespace != "games" {
				t.Errorf("namespace is %q", namespace)
			}
		})
	}
}

// neutralPods are the pods of X-3, which upstream fails to schedule.
var neutralPods = map[string]*corev1.Pod{
	"X-3 without an owner":           pod("game-1"),
	"X-3 with another owner kind":    pod("game-1", owner("ReplicaSet", "u1")),
	"X-3 with two owners":            pod("game-1", owner("StatefulSet", "u1"), owner("StatefulSet", "u2")),
	"X-3 without a number":           pod("game-x", owner("StatefulSet", "u1")),
	"X-3 without a dash":             pod("game", gss("game")),
	"X-3 with a dash at the end":     pod("game-", gss("game")),
	"X-3 with a number out of range": pod("game-2147483648", gss("game")),
}

func TestIdentifyLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	for name, p := range neutralPods {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if s, ok, err := identify(p); ok || err != nil {
				t.Errorf("identify says %v with %+v, error %v; want nothing", ok, s, err)
			}
		})
	}
}

func TestIdentifyRefusesABadSelector(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"a=b,", "=", "a in b", "a b", "-bad-=x"} {
		if _, ok, err := identify(pod("game-1", gss("game"), selector(value))); ok || err == nil {
			t.Errorf("selector %q: identify says %v, error %v; want an error", value, ok, err)
		}
	}
}
