// SPDX-License-Identifier: Apache-2.0

package processpod

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestRewriteListen(t *testing.T) {
	t.Parallel()
	ports := map[int32]int{9876: 20017, 8080: 20018}
	cases := map[string]struct{ name, value, want string }{
		"a declared number in a port flag":            {"--webhook-port", "9876", "20017"},
		"a declared number in a port variable":        {"WEBHOOK_PORT", "9876", "20017"},
		"an undeclared number in a port flag":         {"--webhook-port", "9443", "9443"},
		"no number in a port flag":                    {"--webhook-port", "https", "https"},
		"a declared number in another flag":           {"--qps", "8080", "8080"},
		"an address without host":                     {"--metrics-bind-address", ":8080", "127.0.0.1:20018"},
		"an address of all interfaces":                {"METRICS_ADDR", "0.0.0.0:8080", "127.0.0.1:20018"},
		"an address of all interfaces in version 6":   {"--metrics", "[::]:8080", "127.0.0.1:20018"},
		"an address of the loopback interface":        {"--metrics", "127.0.0.1:8080", "127.0.0.1:20018"},
		"an address called localhost":                 {"--metrics", "localhost:8080", "127.0.0.1:20018"},
		"an address of somebody else":                 {"--peer", "10.0.0.1:8080", "10.0.0.1:8080"},
		"a name of somebody else":                     {"--scaler-address", "scaler.keda:8080", "scaler.keda:8080"},
		"an undeclared port without host":             {"--metrics", ":1234", ":1234"},
		"any free port":                               {"--metrics", ":0", "127.0.0.1:0"},
		"any free port of the loopback interface":     {"--metrics", "127.0.0.1:0", "127.0.0.1:0"},
		"an address of all interfaces without a port": {"--bind-address", "0.0.0.0", "127.0.0.1"},
		"the same in version 6":                       {"--bind-address", "::", "127.0.0.1"},
		"an address of somebody else without a port":  {"--bind-address", "10.0.0.1", "10.0.0.1"},
		"a number that turns something off":           {"--metrics-bind-address", "0", "0"},
		"nothing":                                     {"--bind-address", "", ""},
		"a path":                                      {"--config", "/etc/config.toml", "/etc/config.toml"},
		"a time":                                      {"--start", "12:30:00", "12:30:00"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := rewriteListen(tc.name, tc.value, ports); got != tc.want {
				t.Errorf("%s=%s became %q, want %q", tc.name, tc.value, got, tc.want)
			}
		})
	}
}

func TestUndeclared(t *testing.T) {
	t.Parallel()
	ports := map[int32]int{8080: 8080}
	cases := map[string]struct{ value, want string }{
		"declared":                           {":8080", ""},
		"not declared":                       {":8081", "8081"},
		"not declared, on all interfaces":    {"0.0.0.0:8081", "8081"},
		"not declared, but on one interface": {"127.0.0.1:8081", ""},
		"any free port":                      {":0", ""},
		"no port":                            {":https", ""},
		"no address":                         {"text", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := undeclared(tc.value, ports); got != tc.want {
				t.Errorf("got %q for %q, want %q", got, tc.value, tc.want)
			}
		})
	}
}

func TestRewriteArgs(t *testing.T) {
	t.Parallel()
	args := []string{"run", "--a=1", "--b", "2", "--c", "--d=x=y", "last", "more"}
	want := []string{"<:run>", "--a=<--a:1>", "--b", "<--b:2>", "--c", "--d=<--d:x=y>", "<:last>", "<:more>"}
	got := rewriteArgs(args, func(name, value string) string { return "<" + name + ":" + value + ">" })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	if args[0] != "run" {
		t.Error("the arguments handed in were changed")
	}
}

func TestRewritePaths(t *testing.T) {
	t.Parallel()
	mounts := []mount{
		{path: "/etc", target: "/state/etc"}, {path: "/etc/kruise", target: "/state/kruise"}, {path: "/tmp", target: "/tmp/state/tmp"},
	}
	cases := map[string]struct{ text, want string }{
		"a mount path alone":                    {"/etc", "/state/etc"},
		"a file in a mount":                     {"/etc/a.toml", "/state/etc/a.toml"},
		"a mount within a mount":                {"/etc/kruise/a.toml", "/state/kruise/a.toml"},
		"a path that only begins alike":         {"/etcetera", "/etcetera"},
		"a path that only ends alike":           {"/usr/etc", "/usr/etc"},
		"a list of paths":                       {"/etc/a,/etc/kruise:/usr", "/state/etc/a,/state/kruise:/usr"},
		"a path behind an equals sign":          {"file=/etc/a", "file=/state/etc/a"},
		"a target that holds a mount path":      {"/tmp/certs/", "/tmp/state/tmp/certs/"},
		"text without a path":                   {"a b", "a b"},
		"a URL that is no path in this machine": {"http://host/etc", "http://host/etc"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := rewritePaths(tc.text, mounts); got != tc.want {
				t.Errorf("%q became %q, want %q", tc.text, got, tc.want)
			}
		})
	}
}

func TestRewritePathsKeepsEverythingElse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-z=,:/ é]{0,30}`).Draw(t, "text")
		if got := rewritePaths(text, []mount{{path: "/NOWHERE", target: "/x"}}); got != text {
			t.Errorf("%q became %q", text, got)
		}
		same := rapid.SampledFrom([]string{"/a", "/a/b", "/"}).Draw(t, "path")
		if got := rewritePaths(text, []mount{{path: same, target: same}}); got != text {
			t.Errorf("%q became %q although %s stands for itself", text, got, same)
		}
	})
}
