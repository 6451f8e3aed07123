// SPDX-License-Identifier: Apache-2.0

package gameserverset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/test/build"
)

// Rows of core-controllers.md 5.4, and S-19.
func TestDeletingLabels(t *testing.T) {
	t.Parallel()
	const byPod = "pod"
	type gs struct{ name, owner, label string }
	for name, tc := range map[string]struct {
		members     string
		gameServers []gs
		want        map[string]string
	}{
		"ids that left are marked": {
			members:     "0,1",
			gameServers: []gs{{name: "arena-0"}, {name: "arena-2"}, {name: "arena-3"}, {name: "arena-4"}},
			want:        map[string]string{"arena-2": "true", "arena-3": "true", "arena-4": "true"},
		},
		"members without a GameServer":     {members: "0,1,3"},
		"S-19: a member is not deleted":    {members: "0", gameServers: []gs{{name: "arena-0", label: "true"}}, want: map[string]string{"arena-0": "false"}},
		"S-19: what is right is left":      {members: "0", gameServers: []gs{{name: "arena-0", label: "false"}, {name: "arena-1", label: "true"}}},
		"one that came back and left":      {members: "0", gameServers: []gs{{name: "arena-1", label: "false"}}, want: map[string]string{"arena-1": "true"}},
		"Cascade: it dies with its pod":    {members: "0", gameServers: []gs{{name: "arena-1", owner: byPod}}},
		"Cascade: a wrong mark goes":       {members: "0", gameServers: []gs{{name: "arena-0", owner: byPod, label: "true"}}, want: map[string]string{"arena-0": "false"}},
		"a GameServer that is none of ids": {members: "0", gameServers: []gs{{name: "arena-x"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := build.GameServerSet("arena").UID("s").Obj()
			all := map[string]*gamev1alpha1.GameServer{}
			for _, g := range tc.gameServers {
				obj := &gamev1alpha1.GameServer{ObjectMeta: metav1.ObjectMeta{Name: g.name, OwnerReferences: controlledBy("GameServerSet", "arena", "s")}}
				if g.owner == byPod {
					obj.OwnerReferences = controlledBy("Pod", g.name, "p")
				}
				if g.label != "" {
					obj.Labels = map[string]string{gamev1alpha1.GameServerDeletingKey: g.label}
				}
				all[g.name] = obj
			}
			var got map[string]string
			for _, l := range deletingLabels(set, ids(tc.members), all) {
				got = with(got, l.gs.Name, l.value)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
		})
	}
}
