// SPDX-License-Identifier: Apache-2.0

package params_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berthgames/berth/network/params"
)

// The parsers answer whatever users write, and what they accept reads back the same when it is written in full.

func FuzzContainerPorts(f *testing.F) {
	for _, seed := range []string{
		"game:80", "game:80/TCP,81/UDP", "a:SameAsHost/TCPUDP", ":", "a:b:c", "game: 80 / udp", "game:+1", "game:80/TCP/x", "game:99999999999999999999",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parsed, faults := params.ContainerPortsParser().Parse(text)
		if len(faults) > 0 {
			return
		}
		again, faults := params.ContainerPortsParser().Parse(parsed.Container + ":" + join(t, parsed.Ports))
		if diff := cmp.Diff(parsed, again); diff != "" || len(faults) > 0 {
			t.Fatalf("%q: written and read again (-want +got):\n%s%v", text, diff, faults)
		}
	})
}

func FuzzPortProtocols(f *testing.F) {
	for _, seed := range []string{"80", "80/TCP,81/UDP", "1/sctp", "80/TCPUDP,80", ",", "-1", "0x50"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parsed, faults := params.PortProtocolsParser().Parse(text)
		if len(faults) > 0 {
			return
		}
		again, faults := params.PortProtocolsParser().Parse(join(t, parsed))
		if diff := cmp.Diff(parsed, again); diff != "" || len(faults) > 0 {
			t.Fatalf("%q: written and read again (-want +got):\n%s%v", text, diff, faults)
		}
	})
}

func join(t *testing.T, items []params.PortProtocol) string {
	t.Helper()
	texts := make([]string, len(items))
	for i, item := range items {
		if item.Protocols == 0 || !item.SameAsHost && (item.Port < 1 || item.Port > 65535) {
			t.Fatalf("accepted %+v", item)
		}
		texts[i] = item.String()
	}
	return strings.Join(texts, ",")
}

func FuzzRange(f *testing.F) {
	for _, seed := range []string{"80", "80-90", "90-80", "-", "-1", "1-2-3"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, faults := params.RangeParser().Parse(text)
		if len(faults) > 0 {
			return
		}
		if err := r.Validate(); err != nil {
			t.Fatalf("%q was accepted: %v", text, err)
		}
		if again, faults := params.RangeParser().Parse(r.String()); again != r || len(faults) > 0 {
			t.Fatalf("%q: %s reads as %s, %v", text, r, again, faults)
		}
	})
}

func FuzzIDs(f *testing.F) {
	for _, seed := range []string{"a", "a,b", ",", " a , a "} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ids, faults := params.IDsParser().Parse(text)
		if (len(ids) == 0) != (len(faults) > 0) {
			t.Fatalf("%q: %d ids, faults %v", text, len(ids), faults)
		}
		seen := map[string]bool{}
		for _, id := range ids {
			if id == "" || id != strings.TrimSpace(id) || seen[id] {
				t.Fatalf("%q gave %q", text, ids)
			}
			seen[id] = true
		}
	})
}

// The words and numbers that are accepted are those that are listed.
func FuzzScalars(f *testing.F) {
	for _, seed := range []string{"true", "T", "1", "100", "101", "-0", "local", "Cluster", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if n, faults := params.IntParser(1, 100).Parse(text); len(faults) == 0 && (n < 1 || n > 100) {
			t.Errorf("%q was read as %d", text, n)
		}
		if word, faults := params.WordParser("Cluster", "Local").Parse(text); len(faults) == 0 && !strings.EqualFold(word, text) {
			t.Errorf("%q was read as %s", text, word)
		}
		if b, faults := params.BoolParser().Parse(text); len(faults) == 0 && b != strings.ContainsAny(text[:1], "tT1") {
			t.Errorf("%q was read as %v", text, b)
		}
	})
}

// Whatever the name of a parameter is, it is read, or there is one finding about it.
func FuzzUnknownNames(f *testing.F) {
	f.Add("slbids")
	f.Add("")
	f.Fuzz(func(t *testing.T, name string) {
		_, found := spec().Parse(conf("SlbIds", "x", name, "1"), at())
		if len(found.Errors)+len(found.Warnings) > 1 {
			t.Errorf("%q: %v", name, found)
		}
	})
}
