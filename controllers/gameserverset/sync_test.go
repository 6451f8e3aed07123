// SPDX-License-Identifier: Apache-2.0

package gameserverset

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/berthgames/berth/test/build"
)

func TestFinishTellsTroubleApart(t *testing.T) {
	t.Parallel()
	resource := schema.GroupResource{Group: "apps.kruise.io", Resource: "statefulsets"}
	denied := apierrors.NewForbidden(resource, "arena", errors.New("no"))
	for name, tc := range map[string]struct {
		err            error
		wantErr        bool
		wantReason     string
		wantRecheck    time.Duration
		wantUnfinished bool
	}{
		"no trouble":               {},
		"somebody wrote meanwhile": {err: fmt.Errorf("x: %w", apierrors.NewConflict(resource, "arena", errors.New("x"))), wantRecheck: conflictDelay, wantUnfinished: true},
		"it is there already":      {err: apierrors.NewAlreadyExists(resource, "arena"), wantRecheck: conflictDelay, wantUnfinished: true},
		"refused":                  {err: fmt.Errorf("x: %w", denied), wantReason: ReasonRefused, wantRecheck: minRefusedDelay},
		"too many requests":        {err: apierrors.NewTooManyRequests("x", 1), wantErr: true, wantUnfinished: true},
		"a fault of the server":    {err: apierrors.NewInternalError(errors.New("x")), wantErr: true, wantUnfinished: true},
		"no connection":            {err: errors.New("dial"), wantErr: true, wantUnfinished: true},
		"gone meanwhile":           {err: apierrors.NewNotFound(resource, "arena"), wantErr: true, wantUnfinished: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &pass{set: build.GameServerSet("arena").Obj()}
			if err := p.finish("WorkloadReady", tc.err); (err != nil) != tc.wantErr {
				t.Errorf("error %v, want one: %v", err, tc.wantErr)
			}
			reason := ""
			if len(p.findings) > 0 {
				reason = p.findings[0].reason
			}
			if reason != tc.wantReason || p.recheckAfter != tc.wantRecheck || p.unfinished != tc.wantUnfinished {
				t.Errorf("reason %q, recheck %v, unfinished %v; want %q, %v, %v",
					reason, p.recheckAfter, p.unfinished, tc.wantReason, tc.wantRecheck, tc.wantUnfinished)
			}
		})
	}
}

func TestRefusalHoldsTheWordsOfOpenKruise(t *testing.T) {
	t.Parallel()
	err := &apierrors.StatusError{}
	err.ErrStatus.Code = http.StatusBadRequest
	err.ErrStatus.Message = `admission webhook "vpodprobemarker.kb.io" denied the request: current no support http probe`
	why, refused := refusal(fmt.Errorf("creating: %w", err))
	if !refused || why != err.ErrStatus.Message {
		t.Errorf("refusal() = %q, %v", why, refused)
	}
	if _, refused := refusal(nil); refused {
		t.Error("no error is no refusal")
	}
}
