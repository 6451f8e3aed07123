// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

type named string

func (n named) Name() string                    { return string(n) }
func (named) Alias() string                     { return "" }
func (named) Validate(ValidateRequest) Findings { return Findings{} }

// observer has a picture of the cluster, or fails to get one.
type observer struct {
	named
	observed bool
	err      error
}

func (o *observer) Observe(context.Context, cache.Informers) error { return o.err }
func (o *observer) Observed() bool                                 { return o.observed }

func TestNewRegistry(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		plugins []Plugin
		wantErr string
	}{
		"none":         {},
		"two":          {plugins: []Plugin{named("b"), named("a")}},
		"nil":          {plugins: []Plugin{nil}, wantErr: "network plugin 0 is nil"},
		"without name": {plugins: []Plugin{named("")}, wantErr: "network plugin 0 (framework.named) has no name"},
		"twice":        {plugins: []Plugin{named("a"), named("a")}, wantErr: `network plugin "a" is registered twice`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := NewRegistry(tc.plugins...)
			if tc.wantErr != "" {
				if err == nil || err.Error() != tc.wantErr {
					t.Errorf("error %v, want %s", err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range tc.plugins {
				if got, ok := r.Get(p.Name()); !ok || got != p {
					t.Errorf("%s: got %v", p.Name(), got)
				}
			}
		})
	}
}

func TestRegistryNames(t *testing.T) {
	t.Parallel()
	r, err := NewRegistry(named("b"), named("C"), named("a"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"C", "a", "b"}, r.Names()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if _, ok := r.Get("A"); ok {
		t.Error("case does not matter")
	}
	if _, ok := (&Registry{}).Get("a"); ok {
		t.Error("the empty registry has a plugin")
	}
}

func TestRegistryObserves(t *testing.T) {
	t.Parallel()
	blind, seeing := &observer{named: "blind"}, &observer{named: "seeing", observed: true}
	r, err := NewRegistry(blind, seeing, named("pure"))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Observe(t.Context(), nil); err != nil {
		t.Errorf("observing: %v", err)
	}
	if err := r.Observed(); err == nil || err.Error() != "network plugin blind has not seen the whole cluster yet" {
		t.Errorf("observed: %v", err)
	}
	blind.observed = true
	if err := r.Observed(); err != nil {
		t.Errorf("observed: %v", err)
	}
	blind.err = errors.New("no informer")
	want := "connecting network plugin blind to the cluster's events: no informer"
	if err := r.Observe(t.Context(), nil); err == nil || err.Error() != want {
		t.Errorf("observing: %v, want %s", err, want)
	}
}

// Every kind of error keeps its cause and has the event reason that upstream's alerts know.
func TestEventReason(t *testing.T) {
	t.Parallel()
	bad := field.Invalid(field.NewPath("p"), "x%d", "must be 100%")
	cases := map[string]struct {
		err  error
		want string
	}{
		"parameters":       {AsParameterError(field.ErrorList{bad}), ReasonParameter},
		"retry":            {Retryf("waiting for %w", errors.New("a cloud")), ReasonRetry},
		"exhausted":        {&ExhaustedError{Kind: "port", Want: 1}, ReasonExhausted},
		"the API":          {apierrors.NewNotFound(schema.GroupResource{Resource: "nodes"}, "n1"), ReasonAPICall},
		"not implemented":  {errors.ErrUnsupported, ReasonNotImplemented},
		"a panic":          {&PanicError{Plugin: "X", Value: "boom"}, ReasonInternal},
		"anything else":    {errors.New("oh"), ReasonInternal},
		"retry of the API": {Retryf("reading: %w", apierrors.NewConflict(schema.GroupResource{}, "n1", nil)), ReasonRetry},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := EventReason(fmt.Errorf("reconciling: %w", tc.err)); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestErrorsKeepTextAndCause(t *testing.T) {
	t.Parallel()
	if err := AsParameterError(nil); err != nil {
		t.Errorf("no faults are an error: %v", err)
	}
	bad := field.Invalid(field.NewPath("p"), "x%d", "must be 100%")
	err := AsParameterError(field.ErrorList{bad})
	if want := `p: Invalid value: "x%d": must be 100%`; err.Error() != want {
		t.Errorf("text %s, want %s", err, want)
	}
	if !errors.Is(err, bad) {
		t.Error("the field error is lost")
	}
	cause := errors.New("cause")
	if !errors.Is(Retryf("waiting: %w", cause), cause) {
		t.Error("the cause is lost")
	}
	if got := (&PanicError{Plugin: "X", Value: "boom", Stack: "goroutine 1"}).Error(); got != "network plugin X panicked: boom" {
		t.Errorf("text %s", got)
	}
}
