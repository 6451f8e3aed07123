// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/berthgames/berth/internal/ports"
)

// Event reasons of network faults. All but the last are upstream's error types, which people have alerts on.
// Source: network-framework.md, section 5.
const (
	ReasonAPICall        = "apiCallError"
	ReasonInternal       = "internalError"
	ReasonParameter      = "parameterError"
	ReasonRetry          = "retryError"
	ReasonNotImplemented = "notImplementedError"
	ReasonExhausted      = "portsExhausted"
)

// ParameterError means that the user's parameters are wrong. Trying again does not help; new parameters do.
type ParameterError struct {
	// Errs name path, value and what is allowed. Never empty.
	Errs field.ErrorList
}

// Error lists all faults.
func (e *ParameterError) Error() string { return e.Errs.ToAggregate().Error() }

// Unwrap gives the single field errors.
func (e *ParameterError) Unwrap() []error {
	errs := make([]error, len(e.Errs))
	for i, err := range e.Errs {
		errs[i] = err
	}
	return errs
}

// AsParameterError returns errs as one error, nil when there are none.
func AsParameterError(errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return &ParameterError{Errs: errs}
}

// RetryError means that something which others do is not there yet. The same call will succeed later.
type RetryError struct {
	// Err says what is missing.
	Err error
	// After is a good time to try again; zero leaves it to the caller's back-off.
	After time.Duration
}

// Error gives the text of the cause.
func (e *RetryError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *RetryError) Unwrap() error { return e.Err }

// Retryf makes a RetryError from a format, which may wrap a cause with %w.
func Retryf(format string, args ...any) error {
	return &RetryError{Err: fmt.Errorf(format, args...)}
}

// ExhaustedError means that too few numbers of a range are free. It is the chooser's own error, so that the webhook, the
// controller and the scheduler tell it in the same words.
type ExhaustedError = ports.ExhaustedError

// PanicError is a panic of a plugin, caught by its caller.
type PanicError struct {
	// Plugin is the plugin's name, Value what it panicked with, Stack where.
	Plugin string
	Value  any
	Stack  string
}

// Error leaves the stack out; it belongs into the log, not into an Event.
func (e *PanicError) Error() string {
	return fmt.Sprintf("network plugin %s panicked: %v", e.Plugin, e.Value)
}

// EventReason is the reason under which err is announced.
func EventReason(err error) string {
	var (
		parameter *ParameterError
		exhausted *ExhaustedError
		retry     *RetryError
		status    apierrors.APIStatus
	)
	switch {
	case errors.As(err, &parameter):
		return ReasonParameter
	case errors.As(err, &exhausted):
		return ReasonExhausted
	case errors.As(err, &retry):
		return ReasonRetry
	case errors.As(err, &status):
		return ReasonAPICall
	case errors.Is(err, errors.ErrUnsupported):
		return ReasonNotImplemented
	}
	return ReasonInternal
}
