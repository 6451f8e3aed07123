// SPDX-License-Identifier: Apache-2.0

package podnetwork

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berthgames/berth/internal/apply"
	"github.com/berthgames/berth/network/framework"
)

// The patch touches one annotation, whatever else was on the pod, and holds for this pod only.
func TestPatchIsOneAnnotationAndTheUID(t *testing.T) {
	t.Parallel()
	for name, stored := range map[string]string{"first": "", "later": "old"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := podSaying("1", stored)
			pod.Annotations["other"] = "x"
			pod.Labels = map[string]string{"other": "x"}
			before, after := statusChange(pod, "new")
			got, err := apply.MergePatch(before, after)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(`{"metadata":{"annotations":{"game.kruise.io/network-status":"new"},"uid":"1"}}`, string(got)); diff != "" {
				t.Errorf("patch (-want +got):\n%s", diff)
			}
		})
	}
}

// Fault F4: upstream's manager died of it.
func TestPanicsAreContained(t *testing.T) {
	t.Parallel()
	_, err := contained("Test", func() (int, error) {
		var ports []int
		return ports[len(ports)], nil
	})
	var panicked *framework.PanicError
	if !errors.As(err, &panicked) || panicked.Plugin != "Test" || panicked.Stack == "" {
		t.Errorf("got %v, want a PanicError with a stack", err)
	}
	if got, err := contained("Test", func() (int, error) { return 1, nil }); got != 1 || err != nil {
		t.Errorf("got %d, %v from a call that went well", got, err)
	}
}
