// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// IsOtherObject reports whether a patch that carried a UID was refused because the object of that name is another one by
// now. The API server answers 422 with metadata.uid as the cause, since a UID cannot be changed.
func IsOtherObject(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	return slices.ContainsFunc(status.Status().Details.Causes, func(cause metav1.StatusCause) bool {
		return cause.Field == "metadata.uid"
	})
}
