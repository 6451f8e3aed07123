// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// line is one line of an audit log as the API server writes it.
func line(second int, verb, stage, uri, ref string) string {
	return fmt.Sprintf(`{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"x","stage":%q,"requestURI":%q,`+
		`"verb":%q,"user":{"username":"system:serviceaccount:ns:manager"},"userAgent":"manager/v1","objectRef":%s,`+
		`"responseStatus":{"metadata":{},"code":200},"requestReceivedTimestamp":"2026-01-01T00:00:%02d.000000Z"}`+"\n",
		stage, uri, verb, ref, second)
}

func second(n int) time.Time { return time.Date(2026, 1, 1, 0, 0, n, 0, time.UTC) }

const (
	done = "ResponseComplete"
	pod  = `{"resource":"pods","namespace":"ns","name":"p","apiVersion":"v1"}`
)

func TestAppendWrites(t *testing.T) {
	t.Parallel()
	base := Write{
		Time: second(1), User: "system:serviceaccount:ns:manager", UserAgent: "manager/v1", Verb: "update",
		Resource: "pods", Namespace: "ns", Name: "p", Code: 200,
	}
	verb := func(v string) []Write { w := base; w.Verb = v; return []Write{w} }
	cases := map[string]struct {
		log    string
		filter Filter
		want   []Write
	}{
		"an update":                       {log: line(1, "update", done, "/api", pod), want: []Write{base}},
		"a creation":                      {log: line(1, "create", done, "/api", pod), want: verb("create")},
		"a patch":                         {log: line(1, "patch", done, "/api", pod), want: verb("patch")},
		"a deletion":                      {log: line(1, "delete", done, "/api", pod), want: verb("delete")},
		"a deletion of many":              {log: line(1, "deletecollection", done, "/api", pod), want: verb("deletecollection")},
		"a read":                          {log: line(1, "get", done, "/api", pod)},
		"a watch":                         {log: line(1, "watch", done, "/api", pod)},
		"a request that has just arrived": {log: line(1, "update", "RequestReceived", "/api", pod)},
		"a dry run":                       {log: line(1, "update", done, "/api?dryRun=All&fieldManager=x", pod)},
		"a review":                        {log: line(1, "create", done, "/api", `{"resource":"subjectaccessreviews","apiGroup":"authorization.k8s.io"}`)},
		"a token":                         {log: line(1, "create", done, "/api", `{"resource":"serviceaccounts","subresource":"token"}`)},
		"a request about no object":       {log: line(1, "create", done, "/x", "null")},
		"a line that is still written":    {log: line(1, "update", done, "/api", pod) + `{"kind":"Ev`, want: []Write{base}},
		"before the time asked for":       {log: line(1, "update", done, "/api", pod), filter: Filter{Since: second(2)}},
		"at the time asked for":           {log: line(1, "update", done, "/api", pod), filter: Filter{Since: second(1)}, want: []Write{base}},
		"a user asked for": {
			log: line(1, "update", done, "/api", pod), filter: Filter{ClientPrefix: "system:serviceaccount:ns:"}, want: []Write{base},
		},
		"a client asked for":  {log: line(1, "update", done, "/api", pod), filter: Filter{ClientPrefix: "manager/"}, want: []Write{base}},
		"another client":      {log: line(1, "update", done, "/api", pod), filter: Filter{ClientPrefix: "scheduler"}},
		"an empty log":        {},
		"a refused write too": {log: strings.Replace(line(1, "update", done, "/api", pod), "200", "409", 1), want: func() []Write { w := base; w.Code = 409; return []Write{w} }()},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := appendWrites(nil, strings.NewReader(tc.log), tc.filter)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBrokenLogsAreNoSilence(t *testing.T) {
	t.Parallel()
	if _, err := appendWrites(nil, strings.NewReader("{}\nbroken\n"), Filter{}); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("error %v, want one that names line 2", err)
	}
	if _, err := Read(t.TempDir(), Filter{}); err == nil {
		t.Error("a folder without logs looks like a cluster without writes")
	}
}

func TestReadPutsRotatedLogsInOrder(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, content := range map[string]string{
		"audit-2026-01-01T00-00-02.000.log": line(1, "update", done, "/api", pod),
		"audit.log":                         line(3, "update", done, "/api", pod) + line(2, "update", done, "/api", pod),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	writes, err := Read(folder, Filter{})
	if err != nil {
		t.Fatal(err)
	}
	var got []time.Time
	for _, w := range writes {
		got = append(got, w.Time)
	}
	if diff := cmp.Diff([]time.Time{second(1), second(2), second(3)}, got); diff != "" {
		t.Errorf("times (-want +got):\n%s", diff)
	}
}

func TestCounts(t *testing.T) {
	t.Parallel()
	status := Write{User: "m", Verb: "patch", Group: "game.kruise.io", Resource: "gameservers", Subresource: "status"}
	lease := Write{User: "m", Verb: "update", Group: "coordination.k8s.io", Resource: "leases"}
	another := status
	another.Name = "different"
	want := []Count{
		{User: "m", Verb: "patch", Resource: "gameservers.game.kruise.io/status", Count: 2},
		{User: "m", Verb: "update", Resource: "leases.coordination.k8s.io", Count: 1},
	}
	if diff := cmp.Diff(want, Counts([]Write{status, lease, another})); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if !lease.IsLease() || status.IsLease() {
		t.Error("leases are not told from other writes")
	}
}
