// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/berthgames/berth/test/expect"
)

// restTime is how long a steady cluster is watched.
const restTime = 60 * time.Second

// write is one write request of the API server's audit log.
type write struct {
	User        string `json:"user"`
	Verb        string `json:"verb"`
	Resource    string `json:"resource"`
	Subresource string `json:"subresource"`
	Namespace   string `json:"namespace"`
	Name        string `json:"name"`
}

// TestNoWritesAtRest leaves 100 ready servers alone for a minute: our manager and our scheduler may renew their leases
// and write nothing else.
func TestNoWritesAtRest(t *testing.T) {
	const size = 100
	e := newEnv(t, "e2e-rest")
	set := e.create(simple("rest", size))
	e.allReady(set.Name, expect.First(size)...)

	// Ready servers are not yet the end of the story: the set's own status follows a moment later.
	e.eventually("five seconds without a write of ours", func(ctx context.Context) error {
		since := time.Now()
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Second):
		}
		return noWrites(e.writesSince(since))
	})
	since := time.Now()
	select {
	case <-t.Context().Done():
	case <-time.After(restTime):
	}
	if err := noWrites(e.writesSince(since)); err != nil {
		t.Error(err)
	}
	if leases := e.leaseRenewalsSince(since); leases == 0 {
		t.Error("not even a lease was renewed: the audit log or this test is wrong")
	}
}

func (e env) writesSince(since time.Time) []write {
	return e.audited(since, func(w write) bool { return w.Resource != "leases" })
}

func (e env) leaseRenewalsSince(since time.Time) int {
	return len(e.audited(since, func(w write) bool { return w.Resource == "leases" }))
}

// audited lists the writes of our service accounts that keep lets through.
func (e env) audited(since time.Time, keep func(write) bool) []write {
	e.Helper()
	text, err := berth.Playground(e.Context(), "audit", "writes", "--since", since.Format(time.RFC3339Nano), "-o", "json")
	e.must(err, "reading the audit log")
	var log struct {
		Writes []write `json:"writes"`
	}
	e.must(json.Unmarshal([]byte(text), &log), "reading the audit log")
	var ours []write
	for _, w := range log.Writes {
		if strings.HasPrefix(w.User, "system:serviceaccount:"+systemNamespace+":") && keep(w) {
			ours = append(ours, w)
		}
	}
	return ours
}

func noWrites(writes []write) error {
	if len(writes) == 0 {
		return nil
	}
	return fmt.Errorf("%d writes, the first are %+v", len(writes), writes[:min(len(writes), 5)])
}
