// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
)

func TestParse(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		args  []string
		check func(*Options) bool
	}{
		"leader election is on (D-1)":          {check: func(o *Options) bool { return o.LeaderElect }},
		"no limit of requests of ours (D-5)":   {check: func(o *Options) bool { return o.APIServerQPS == 0 }},
		"the webhook listens everywhere":       {check: func(o *Options) bool { return o.webhookHost == "" && o.WebhookPort == 9876 }},
		"an address of the webhook wins":       {args: []string{"--webhook-port=1", "--webhook-bind-address=127.0.0.1:2"}, check: func(o *Options) bool { return o.webhookHost == "127.0.0.1" && o.WebhookPort == 2 }},
		"an address without host is all hosts": {args: []string{"--webhook-bind-address=:9876"}, check: func(o *Options) bool { return o.webhookHost == "" && o.WebhookPort == 9876 }},
		"an empty sync period is none":         {args: []string{"--sync-period="}, check: func(o *Options) bool { return o.SyncPeriod == 0 }},
		"a sync period":                        {args: []string{"--sync-period=30m"}, check: func(o *Options) bool { return o.SyncPeriod == 30*time.Minute }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := NewOptions()
			if err := o.Parse(tc.args); err != nil {
				t.Fatal(err)
			}
			if !tc.check(o) {
				t.Errorf("options %+v", o)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		args []string
		want []string
	}{
		"an unknown flag":                  {args: []string{"--provider=x"}, want: []string{"-provider"}},
		"a word that is no flag":           {args: []string{"start"}, want: []string{`"start"`}},
		"a port out of range":              {args: []string{"--webhook-port=70000"}, want: []string{"--webhook-port=70000"}},
		"an address without port":          {args: []string{"--webhook-bind-address=localhost"}, want: []string{"--webhook-bind-address=localhost"}},
		"an address with a named port":     {args: []string{"--webhook-bind-address=:https"}, want: []string{"--webhook-bind-address=:https"}},
		"a bad period is no default (5.1)": {args: []string{"--sync-period=often"}, want: []string{"sync-period", "often"}},
		"every fault at once": {
			args: []string{"--gameserver-workers=0", "--api-server-qps=-1", "--webhook-server-certs-dir="},
			want: []string{"--gameserver-workers=0", "--api-server-qps=-1", "--webhook-server-certs-dir="},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := NewOptions().Parse(tc.args)
			if err == nil {
				t.Fatal("accepted")
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %q", err, want)
				}
			}
		})
	}
}

func TestParseHelp(t *testing.T) {
	t.Parallel()
	o := NewOptions()
	if err := o.Parse([]string{"--help"}); !errors.Is(err, flag.ErrHelp) {
		t.Fatalf("got %v", err)
	}
	var text strings.Builder
	o.PrintHelp(&text)
	for _, name := range []string{"-leader-elect", "-provider-config", "-kubeconfig", "-zap-log-level", "does not serve"} {
		if !strings.Contains(text.String(), name) {
			t.Errorf("help lacks %q", name)
		}
	}
}

// A flag of upstream that does nothing here is told of, once.
func TestAnnounceTellsOfFlagsWithoutEffect(t *testing.T) {
	t.Parallel()
	var lines []string
	log := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{})
	o := NewOptions()
	if err := o.Parse([]string{"--scale-server-bind-address=:6000", "--leader-elect=false"}); err != nil {
		t.Fatal(err)
	}
	o.announce(log)
	if len(lines) != 1 || !strings.Contains(lines[0], "scale-server-bind-address") || !strings.Contains(lines[0], ":6000") {
		t.Errorf("lines %q", lines)
	}
}
