// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestIsOtherObject(t *testing.T) {
	t.Parallel()
	pod := schema.GroupKind{Kind: "Pod"}
	refused := func(path *field.Path) error {
		return apierrors.NewInvalid(pod, "a-0", field.ErrorList{field.Invalid(path, "1", "field is immutable")})
	}
	cases := map[string]struct {
		err  error
		want bool
	}{
		"no error":                 {nil, false},
		"an error of ours":         {errors.New("metadata.uid"), false},
		"the pod is gone":          {apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, "a-0"), false},
		"a write came between":     {apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, "a-0", nil), false},
		"another field is refused": {refused(field.NewPath("spec", "nodeName")), false},
		"the UID is refused":       {fmt.Errorf("patching pod a-0: %w", refused(field.NewPath("metadata", "uid"))), true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := IsOtherObject(tc.err); got != tc.want {
				t.Errorf("IsOtherObject(%v) = %t, want %t", tc.err, got, tc.want)
			}
		})
	}
}
