// SPDX-License-Identifier: Apache-2.0

// Package audit reads the API server's audit log and tells who wrote what.
package audit

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// Write is one request that may have changed something in the cluster, also when it was refused.
type Write struct {
	Time        time.Time `json:"time"` // of the request's arrival
	User        string    `json:"user"`
	UserAgent   string    `json:"userAgent"`
	Verb        string    `json:"verb"` // create, update, patch, delete or deletecollection
	Group       string    `json:"group,omitempty"`
	Resource    string    `json:"resource"`
	Subresource string    `json:"subresource,omitempty"`
	Namespace   string    `json:"namespace,omitempty"`
	Name        string    `json:"name,omitempty"`
	Code        int32     `json:"code"` // HTTP status of the answer
}

// IsLease tells whether the write is about a lease: of a leader, or of a node.
func (w Write) IsLease() bool { return w.Group == "coordination.k8s.io" && w.Resource == "leases" }

// Filter chooses writes. Its zero value chooses all.
type Filter struct {
	// Since leaves out requests that arrived earlier.
	Since time.Time
	// ClientPrefix is the beginning of the user name or of the user agent.
	ClientPrefix string
}

func (f Filter) keeps(w Write) bool {
	return !w.Time.Before(f.Since) &&
		(strings.HasPrefix(w.User, f.ClientPrefix) || strings.HasPrefix(w.UserAgent, f.ClientPrefix))
}

// Read returns the writes in the audit logs of a folder (the current and the rotated ones) in the order of arrival.
func Read(folder string, f Filter) ([]Write, error) {
	logs, err := filepath.Glob(filepath.Join(folder, "audit*.log"))
	if err != nil {
		return nil, fmt.Errorf("listing audit logs: %w", err)
	}
	if len(logs) == 0 {
		return nil, fmt.Errorf("there is no audit log in %s; start the playground with --audit", folder)
	}
	var writes []Write
	for _, path := range logs {
		if writes, err = appendFile(writes, path, f); err != nil {
			return nil, fmt.Errorf("reading audit log %s: %w", path, err)
		}
	}
	slices.SortStableFunc(writes, func(a, b Write) int { return a.Time.Compare(b.Time) })
	return writes, nil
}

func appendFile(writes []Write, path string, f Filter) ([]Write, error) {
	log, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // only read
	return appendWrites(writes, log, f)
}

// appendWrites adds the writes of one log. A line that is not complete at the end of the log is still being written;
// its request is not answered yet and does not count.
func appendWrites(writes []Write, log io.Reader, f Filter) ([]Write, error) {
	reader := bufio.NewReader(log)
	for number := 1; ; number++ {
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return writes, nil
		}
		if err != nil {
			return nil, err
		}
		var event auditv1.Event
		if err := json.Unmarshal(line, &event); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if w, ok := writeOf(&event); ok && f.keeps(w) {
			writes = append(writes, w)
		}
	}
}

// writeOf returns the write that an event is about. Dry runs change nothing and do not count, nor do requests that only
// ask something by creating an object which is never stored: reviews and tokens.
func writeOf(e *auditv1.Event) (Write, bool) {
	if e.Stage != auditv1.StageResponseComplete || e.ObjectRef == nil {
		return Write{}, false
	}
	switch e.Verb {
	case "create", "update", "patch", "delete", "deletecollection":
	default:
		return Write{}, false
	}
	ref := e.ObjectRef
	question := ref.APIGroup == "authentication.k8s.io" || ref.APIGroup == "authorization.k8s.io" ||
		(ref.Resource == "serviceaccounts" && ref.Subresource == "token")
	if question || strings.Contains(e.RequestURI, "dryRun=All") {
		return Write{}, false
	}
	w := Write{
		Time: e.RequestReceivedTimestamp.Time, User: e.User.Username, UserAgent: e.UserAgent, Verb: e.Verb,
		Group: ref.APIGroup, Resource: ref.Resource, Subresource: ref.Subresource, Namespace: ref.Namespace, Name: ref.Name,
	}
	if e.ResponseStatus != nil {
		w.Code = e.ResponseStatus.Code
	}
	return w, true
}

// Count is the number of equal writes of one client.
type Count struct {
	User      string `json:"user"`
	UserAgent string `json:"userAgent"`
	Verb      string `json:"verb"`
	Resource  string `json:"resource"` // with group and subresource: "gameservers.game.kruise.io/status"
	Count     int    `json:"count"`
}

// Counts adds up writes, the most frequent first.
func Counts(writes []Write) []Count {
	totals := map[Count]int{}
	for _, w := range writes {
		totals[Count{User: w.User, UserAgent: w.UserAgent, Verb: w.Verb, Resource: resourceName(w)}]++
	}
	counts := make([]Count, 0, len(totals))
	for c, n := range totals {
		c.Count = n
		counts = append(counts, c)
	}
	slices.SortFunc(counts, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.User, b.User), cmp.Compare(a.UserAgent, b.UserAgent),
			cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Verb, b.Verb))
	})
	return counts
}

func resourceName(w Write) string {
	name := w.Resource
	if w.Group != "" {
		name += "." + w.Group
	}
	if w.Subresource != "" {
		name += "/" + w.Subresource
	}
	return name
}
