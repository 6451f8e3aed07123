// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// wire notes every request of the controller that would change something, also those that fail.
type wire struct {
	mu     sync.Mutex
	writes []write
}

// write is one such request, such as "PATCH gameservers/status".
type write struct {
	namespace, what string
	at              time.Time
}

func (w *wire) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		if req.Method != http.MethodGet && req.Method != http.MethodHead {
			namespace, resource := target(req.URL.Path)
			w.mu.Lock()
			w.writes = append(w.writes, write{namespace: namespace, what: req.Method + " " + resource, at: time.Now()})
			w.mu.Unlock()
		}
		return next.RoundTrip(req)
	})
}

// counts says how many requests of each kind concerned a namespace.
func (w *wire) counts(namespace string) map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	counts := map[string]int{}
	for _, one := range w.writes {
		if one.namespace == namespace {
			counts[one.what]++
		}
	}
	return counts
}

// since lists what was written to any namespace after t.
func (w *wire) since(t time.Time) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []string
	for _, one := range w.writes {
		if one.at.After(t) {
			list = append(list, fmt.Sprintf("%s in %s", one.what, one.namespace))
		}
	}
	return list
}

// quietFor says whether nothing was written for d.
func (w *wire) quietFor(d time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.writes) == 0 || time.Since(w.writes[len(w.writes)-1].at) > d
}

// target reads namespace and resource, with subresource, from a path such as
// /apis/game.kruise.io/v1alpha1/namespaces/<namespace>/gameservers/<name>/status.
func target(path string) (namespace, resource string) {
	_, rest, found := strings.Cut(path, "/namespaces/")
	if !found {
		return "", path
	}
	parts := strings.Split(rest, "/")
	if len(parts) < 2 {
		return parts[0], "namespaces"
	}
	if len(parts) > 3 {
		return parts[0], parts[1] + "/" + parts[3]
	}
	return parts[0], parts[1]
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
