// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"runtime/debug"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/berthgames/berth/network/framework"
)

// callAdmit turns a panic of the plugin into an error.
func callAdmit(ctx context.Context, name string, admitter framework.Admitter, req framework.AdmitRequest) (err error) {
	defer func() {
		if value := recover(); value != nil {
			fault := &framework.PanicError{Plugin: name, Value: value, Stack: string(debug.Stack())}
			log.FromContext(ctx).Error(fault, "Network plugin panicked", "pod", klog.KObj(req.Pod), "stack", fault.Stack)
			err = fault
		}
	}()
	return admitter.Admit(ctx, req)
}

// refuse says no in the API's own terms: bad parameters are Invalid; what may work later is ServiceUnavailable, so that
// the workload's controller tries again; the rest is an internal error. The text tells which pod, and everything the
// error knows, because the workload's controller copies it into its Event.
// Source: network-framework.md, section 5.
func refuse(pod *corev1.Pod, err error) admission.Response {
	status := metav1.Status{
		Status:  metav1.StatusFailure,
		Message: fmt.Sprintf("pod %s: %v", klog.KObj(pod), err),
		Code:    http.StatusInternalServerError,
		Reason:  metav1.StatusReasonInternalError,
	}
	var (
		parameter *framework.ParameterError
		exhausted *framework.ExhaustedError
		retry     *framework.RetryError
	)
	switch {
	case errors.As(err, &parameter):
		status.Code, status.Reason = http.StatusUnprocessableEntity, metav1.StatusReasonInvalid
	case errors.As(err, &exhausted):
		status.Code, status.Reason = http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable
	case errors.As(err, &retry):
		status.Code, status.Reason = http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable
		if seconds := math.Ceil(retry.After.Seconds()); seconds > 0 {
			status.Details = &metav1.StatusDetails{RetryAfterSeconds: int32(min(seconds, math.MaxInt32))}
		}
		status.Message += " (try again)"
	}
	response := admission.Denied("")
	response.Result = &status
	return response
}
