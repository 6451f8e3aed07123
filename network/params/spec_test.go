// SPDX-License-Identifier: Apache-2.0

package params_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/internal/ports"
	"github.com/berthgames/berth/network/params"
)

type config struct {
	Balancers []string
	Fixed     bool
	Weight    int
	Mode      string
	Ports     []params.PortProtocol
	Hosts     []params.ContainerPorts
	Width     ports.Range
	Names     []string
	Paths     []string
}

func spec() params.Spec[config] {
	return params.Spec[config]{
		params.IDs("SlbIds", func(c *config) *[]string { return &c.Balancers }).Required().Doc("load balancers to use"),
		params.Bool("Fixed", func(c *config) *bool { return &c.Fixed }).Default(true),
		params.Int("Weight", func(c *config) *int { return &c.Weight }, 1, 100).Default(10),
		params.OneOf("Mode", func(c *config) *string { return &c.Mode }, "Cluster", "Local"),
		params.PortProtocols("PortProtocols", func(c *config) *[]params.PortProtocol { return &c.Ports }),
		params.PortsOfContainers("ContainerPorts", func(c *config) *[]params.ContainerPorts { return &c.Hosts }),
		params.PortRange("Bandwidth", func(c *config) *ports.Range { return &c.Width }).Alias("BandWidth"),
		params.List("Names", func(c *config) *[]string { return &c.Names }),
		params.Each("Path", func(c *config) *[]string { return &c.Paths }, params.TextParser()),
	}
}

// conf makes parameters from name, value, name, value, ...
func conf(pairs ...string) []gamev1alpha1.NetworkConfParams {
	var list []gamev1alpha1.NetworkConfParams
	for i := 0; i+1 < len(pairs); i += 2 {
		list = append(list, gamev1alpha1.NetworkConfParams{Name: pairs[i], Value: pairs[i+1]})
	}
	return list
}

func at() *field.Path { return field.NewPath("spec", "network", "networkConf") }

func TestParseFillsTheStruct(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		given []gamev1alpha1.NetworkConfParams
		want  config
	}{
		"absent parameters have their defaults": {
			given: conf("SlbIds", "lb-1"),
			want:  config{Balancers: []string{"lb-1"}, Fixed: true, Weight: 10},
		},
		"blanks and the case of words do not matter": {
			given: conf(" SlbIds ", " lb-1 , lb-2", "Fixed", "FALSE", "Mode", "local", "Weight", " 100 "),
			want:  config{Balancers: []string{"lb-1", "lb-2"}, Weight: 100, Mode: "Local"},
		},
		"ports are TCP unless they say otherwise": {
			given: conf("SlbIds", "x", "PortProtocols", "80, 81/udp ,82/TCPUDP,81"),
			want: config{Balancers: []string{"x"}, Fixed: true, Weight: 10, Ports: []params.PortProtocol{
				{Port: 80, Protocols: ports.TCP}, {Port: 81, Protocols: ports.UDP},
				{Port: 82, Protocols: ports.TCP | ports.UDP}, {Port: 81, Protocols: ports.TCP},
			}},
		},
		"one container named twice is merged": {
			given: conf("SlbIds", "x", "ContainerPorts", "game:SameAsHost/TCPUDP", "ContainerPorts", "side:9000", "ContainerPorts", "game:SameAsHost,80/SCTP"),
			want: config{Balancers: []string{"x"}, Fixed: true, Weight: 10, Hosts: []params.ContainerPorts{
				{Container: "game", Ports: []params.PortProtocol{
					{SameAsHost: true, Protocols: ports.TCP | ports.UDP}, {SameAsHost: true, Protocols: ports.TCP},
					{Port: 80, Protocols: ports.SCTP},
				}},
				{Container: "side", Ports: []params.PortProtocol{{Port: 9000, Protocols: ports.TCP}}},
			}},
		},
		"empty and repeated names are dropped": {
			given: conf("SlbIds", "a,,b,a,", "Names", ""),
			want:  config{Balancers: []string{"a", "b"}, Fixed: true, Weight: 10},
		},
		"a range, under another spelling of its name": {
			given: conf("SlbIds", "x", "BandWidth", "500 - 700"),
			want:  config{Balancers: []string{"x"}, Fixed: true, Weight: 10, Width: ports.Range{Min: 500, Max: 700}},
		},
		"a parameter that may be repeated keeps its order, and a range may be one number": {
			given: conf("SlbIds", "x", "Path", "/b", "Bandwidth", "80", "Path", "/a"),
			want:  config{Balancers: []string{"x"}, Fixed: true, Weight: 10, Width: ports.Range{Min: 80, Max: 80}, Paths: []string{"/b", "/a"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, found := spec().Parse(tc.given, at())
			if len(found.Errors)+len(found.Warnings) > 0 {
				t.Fatalf("Parse() findings %v, want none", found)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("Parse() (-want +got):\n%s", diff)
			}
		})
	}
}

// The rows of network-kubernetes.md A2 that a parser alone can judge are among these.
func TestParseReportsWhatIsWrong(t *testing.T) {
	t.Parallel()
	const value = `spec.network.networkConf[1].value: Invalid value: `
	cases := map[string]struct {
		given []gamev1alpha1.NetworkConfParams
		want  string
	}{
		"a required parameter is missing": {conf("Fixed", "true"), `spec.network.networkConf: Required value: parameter SlbIds is missing: id,id,...`},
		"a parameter is given twice":      {conf("SlbIds", "a", "SlbIds", "b"), `spec.network.networkConf[1].name: Invalid value: "SlbIds": may be given only once`},
		"no id is given":                  {conf("Fixed", "true", "SlbIds", " ,"), value + `" ,": SlbIds: must name at least one id`},
		"a boolean is a word":             {conf("SlbIds", "x", "Fixed", "yes"), value + `"yes": Fixed: must be true or false`},
		"a range ends before it begins":   {conf("SlbIds", "x", "Bandwidth", "9-8"), value + `"9-8": Bandwidth: range 9-8 must lie within 1-65535 and must not end before it begins`},
		"a range is no range":             {conf("SlbIds", "x", "Bandwidth", "a-8"), value + `"a-8": Bandwidth: must be two ports from 1 to 65535 with a dash between them`},
		"a protocol is missing":           {conf("SlbIds", "x", "PortProtocols", "80/"), value + `"80/": PortProtocols: item "80/": protocol must be TCP, UDP, SCTP or TCPUDP`},
		"a port repeats in another value": {conf("ContainerPorts", "game:80", "ContainerPorts", "game:80/TCPUDP", "SlbIds", "x"), value + `"game:80/TCPUDP": ContainerPorts: port 80/TCP is given twice`},
		"a number is too large":           {conf("SlbIds", "x", "Weight", "101"), value + `"101": Weight: must be a whole number from 1 to 100`},
		"a number leaves 32 bits":         {conf("SlbIds", "x", "Weight", "4294967297"), value + `"4294967297": Weight: must be a whole number from 1 to 100`},
		"a word is unknown":               {conf("SlbIds", "x", "Mode", "Global"), value + `"Global": Mode: must be one of Cluster, Local`},
		"a port is out of range":          {conf("SlbIds", "x", "PortProtocols", "70000"), value + `"70000": PortProtocols: item "70000": port must be a number from 1 to 65535`},
		"a port is zero":                  {conf("SlbIds", "x", "PortProtocols", "0"), value + `"0": PortProtocols: item "0": port must be a number from 1 to 65535`},
		"a port is negative":              {conf("SlbIds", "x", "ContainerPorts", "game:-1"), value + `"game:-1": ContainerPorts: item "-1": port must be a number from 1 to 65535 or SameAsHost`},
		"a port is no number":             {conf("SlbIds", "x", "ContainerPorts", "game:http"), value + `"game:http": ContainerPorts: item "http": port must be a number from 1 to 65535 or SameAsHost`},
		"SameAsHost where no host is":     {conf("SlbIds", "x", "PortProtocols", "SameAsHost"), value + `"SameAsHost": PortProtocols: item "SameAsHost": port must be a number from 1 to 65535`},
		"a protocol is unknown":           {conf("SlbIds", "x", "PortProtocols", "80/XYZ"), value + `"80/XYZ": PortProtocols: item "80/XYZ": protocol must be TCP, UDP, SCTP or TCPUDP`},
		"an item has two protocols":       {conf("SlbIds", "x", "PortProtocols", "80/TCP/x"), value + `"80/TCP/x": PortProtocols: item "80/TCP/x" must have the form port/protocol`},
		"a port and protocol repeat":      {conf("SlbIds", "x", "PortProtocols", "80/TCPUDP,80/UDP"), value + `"80/TCPUDP,80/UDP": PortProtocols: port 80/UDP is given twice`},
		"no container is named":           {conf("SlbIds", "x", "ContainerPorts", "80,443"), value + `"80,443": ContainerPorts: must have the form container:port/protocol,port/protocol,...`},
		"two colons":                      {conf("SlbIds", "x", "ContainerPorts", "game:80:81"), value + `"game:80:81": ContainerPorts: must have the form container:port/protocol,port/protocol,...`},
		"a list has an empty item":        {conf("SlbIds", "x", "ContainerPorts", "game:"), value + `"game:": ContainerPorts: item "": port must be a number from 1 to 65535 or SameAsHost`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, found := spec().Parse(tc.given, at())
			if len(found.Errors) != 1 || len(found.Warnings) > 0 {
				t.Fatalf("Parse() findings %v, want one error", found)
			}
			if diff := cmp.Diff(tc.want, found.Errors[0].Error()); diff != "" {
				t.Errorf("Parse() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseReportsEverythingAtOnce(t *testing.T) {
	t.Parallel()
	_, found := spec().Parse(conf("Fixed", "maybe", "PortProtocols", "0,80/X"), at())
	if len(found.Errors) != 4 { // a boolean, two ports, and SlbIds is missing
		t.Errorf("Parse() errors %v, want four", found.Errors)
	}
}

func TestUnknownParametersAreWarnings(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ name, want string }{
		"another case":     {"slbids", `did you mean "SlbIds"?`},
		"a letter missing": {"ContainerPort", `did you mean "ContainerPorts"?`},
		"a letter wrong":   {"Wezght", `did you mean "Weight"?`},
		"nothing like it":  {"Foo", `known are SlbIds, Fixed, Weight, Mode, PortProtocols, ContainerPorts, Bandwidth, Names, Path`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, found := spec().Parse(conf("SlbIds", "x", tc.name, "y"), at())
			if len(found.Errors) > 0 || len(found.Warnings) != 1 || !strings.Contains(found.Warnings[0], tc.want) ||
				!strings.HasPrefix(found.Warnings[0], "spec.network.networkConf[1].name: unknown parameter") {
				t.Errorf("Parse() findings %v, want one warning with %q", found, tc.want)
			}
		})
	}
}

func TestRowsDescribeTheTable(t *testing.T) {
	t.Parallel()
	want := []params.Row{
		{Name: "SlbIds", Type: "id,id,...", Required: true, Description: "load balancers to use"},
		{Name: "Fixed", Type: "true or false", Default: "true"},
		{Name: "Weight", Type: "a whole number from 1 to 100", Default: "10"},
		{Name: "Mode", Type: "one of Cluster, Local"},
		{Name: "PortProtocols", Type: "port/protocol,port/protocol,..."},
		{Name: "ContainerPorts", Type: "container:port/protocol,port/protocol,...", Repeated: true},
		{Name: "Bandwidth", Aliases: []string{"BandWidth"}, Type: "first-last"},
		{Name: "Names", Type: "name,name,..."},
		{Name: "Path", Type: "text", Repeated: true},
	}
	if diff := cmp.Diff(want, spec().Rows()); diff != "" {
		t.Errorf("Rows() (-want +got):\n%s", diff)
	}
}
