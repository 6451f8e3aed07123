// SPDX-License-Identifier: Apache-2.0

package gameserverset

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/events"

	"github.com/berthgames/berth/internal/idset"
	"github.com/berthgames/berth/test/build"
)

func TestEvents(t *testing.T) {
	t.Parallel()
	recorder := events.NewFakeRecorder(10)
	r := reporter{recorder: recorder, set: build.GameServerSet("arena").Obj()}
	r.workloadCreated(ids("0-2"))
	r.scaled(3, 2, ids("0-2"), ids("0,2"))
	r.scaled(2, 3, ids("0,2"), ids("0,2,3"))
	r.killed(3, 2, ids("1"))
	r.reserveIDsRebuilt("1,x")
	r.warn(finding{reason: ReasonRefused, message: "100% wrong"})
	close(recorder.Events)
	var got []string
	for event := range recorder.Events {
		got = append(got, event)
	}
	want := []string{
		"Normal CreateWorkload created StatefulSet arena with servers 0-2",
		"Normal Scale scale from 3 to 2; servers added: none; removed: 1",
		"Normal Scale scale from 2 to 3; servers added: 3; removed: none",
		"Normal Kill replicas lowered from 3 to 2 for servers in opsState Kill: 1",
		`Normal ReserveIdsRebuilt annotation game.kruise.io/reserve-ids was "1,x", which is no list of ids; it was written anew from spec.reserveGameServerIds`,
		"Warning Refused 100% wrong",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestTextOfEventsIsBounded(t *testing.T) {
	t.Parallel()
	odd := make([]int32, 0, 1000)
	for i := range int32(1000) {
		odd = append(odd, 2*i+1)
	}
	recorder := events.NewFakeRecorder(2)
	r := reporter{recorder: recorder, set: build.GameServerSet(strings.Repeat("n", 61)).Obj()}
	r.scaled(2147483647, 2147483647, idset.Of(odd...), idset.Range(0, 2000).Minus(idset.Of(odd...)))
	r.warn(finding{reason: ReasonRefused, message: strings.Repeat("ä", 1000)})
	for range 2 {
		if text := <-recorder.Events; len(text) > 1024 {
			t.Errorf("%d bytes: %s", len(text), text)
		}
	}
	if got := bounded(strings.Repeat("ä", 1000)); !strings.HasSuffix(got, "ä...") {
		t.Errorf("cut in the middle of a letter: %q", got[len(got)-8:])
	}
}
