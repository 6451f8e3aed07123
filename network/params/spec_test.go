// SPDX-License-Identifier: Apache-2.0

package params_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/network/params"
)

type mode string

type config struct {
	Balancers []string
	Fixed     bool
	Weight    int32
	Mode      mode
	Ports     []params.Port
	Hosts     []params.ContainerPorts
}

func spec() params.Spec[config] {
	return params.Spec[config]{
		params.IDs("SlbIds", func(c *config) *[]string { return &c.Balancers }).Required().Describe("load balancers to use"),
		params.Bool("Fixed", func(c *config) *bool { return &c.Fixed }).Default("true"),
		params.Int("Weight", func(c *config) *int32 { return &c.Weight }, 1, 100).Default("10"),
		params.Enum("Mode", func(c *config) *mode { return &c.Mode }, mode("Cluster"), mode("Local")),
		params.PortProtocols("PortProtocols", func(c *config) *[]params.Port { return &c.Ports }),
		params.PortsOfContainers("ContainerPorts", func(c *config) *[]params.ContainerPorts { return &c.Hosts }),
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
	tcp, udp := corev1.ProtocolTCP, corev1.ProtocolUDP
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
			want: config{Balancers: []string{"x"}, Fixed: true, Weight: 10, Ports: []params.Port{
				{Number: 80, Protocols: []corev1.Protocol{tcp}}, {Number: 81, Protocols: []corev1.Protocol{udp}},
				{Number: 82, Protocols: []corev1.Protocol{tcp, udp}}, {Number: 81, Protocols: []corev1.Protocol{tcp}},
			}},
		},
		"one container named twice is merged": {
			given: conf("SlbIds", "x", "ContainerPorts", "game:SameAsHost/TCPUDP", "ContainerPorts", "side:9000", "ContainerPorts", "game:SameAsHost,80/SCTP"),
			want: config{Balancers: []string{"x"}, Fixed: true, Weight: 10, Hosts: []params.ContainerPorts{
				{Container: "game", Ports: []params.Port{
					{SameAsHost: true, Protocols: []corev1.Protocol{tcp, udp}}, {SameAsHost: true, Protocols: []corev1.Protocol{tcp}},
					{Number: 80, Protocols: []corev1.Protocol{corev1.ProtocolSCTP}},
				}},
				{Container: "side", Ports: []params.Port{{Number: 9000, Protocols: []corev1.Protocol{tcp}}}},
			}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, errs, warnings := spec().Parse(tc.given, at())
			if len(errs)+len(warnings) > 0 {
				t.Fatalf("Parse() errors %v, warnings %v, want none", errs, warnings)
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
		"a required parameter is missing": {conf("Fixed", "true"), `spec.network.networkConf: Required value: parameter SlbIds must be given (names separated by commas)`},
		"a parameter is given twice":      {conf("SlbIds", "a", "SlbIds", "b"), `spec.network.networkConf[1].name: Duplicate value: "SlbIds"`},
		"an id is empty":                  {conf("Fixed", "true", "SlbIds", "a,,b"), value + `"a,,b": SlbIds: has an empty name`},
		"an id is given twice":            {conf("Fixed", "true", "SlbIds", "a,b,a"), value + `"a,b,a": SlbIds: "a" is given twice`},
		"a boolean is a number":           {conf("SlbIds", "x", "Fixed", "1"), value + `"1": Fixed: must be true or false`},
		"a number is too large":           {conf("SlbIds", "x", "Weight", "101"), value + `"101": Weight: must be a whole number from 1 to 100`},
		"a number leaves 32 bits":         {conf("SlbIds", "x", "Weight", "4294967297"), value + `"4294967297": Weight: must be a whole number from 1 to 100`},
		"a word is unknown":               {conf("SlbIds", "x", "Mode", "Global"), value + `"Global": Mode: must be one of Cluster, Local`},
		"a port is out of range":          {conf("SlbIds", "x", "PortProtocols", "70000"), value + `"70000": PortProtocols: port of "70000" is out of range, must be from 1 to 65535`},
		"a port is zero":                  {conf("SlbIds", "x", "PortProtocols", "0"), value + `"0": PortProtocols: port of "0" is out of range, must be from 1 to 65535`},
		"a port is negative":              {conf("SlbIds", "x", "ContainerPorts", "game:-1"), value + `"game:-1": ContainerPorts: port of "-1" is out of range, must be from 1 to 65535`},
		"a port is no number":             {conf("SlbIds", "x", "ContainerPorts", "game:http"), value + `"game:http": ContainerPorts: port of "http" must be a number from 1 to 65535, or SameAsHost`},
		"SameAsHost where no host is":     {conf("SlbIds", "x", "PortProtocols", "SameAsHost"), value + `"SameAsHost": PortProtocols: port of "SameAsHost" must be a number from 1 to 65535`},
		"a protocol is unknown":           {conf("SlbIds", "x", "PortProtocols", "80/XYZ"), value + `"80/XYZ": PortProtocols: protocol of "80/XYZ" must be TCP, UDP, SCTP or TCPUDP`},
		"an item has two protocols":       {conf("SlbIds", "x", "PortProtocols", "80/TCP/x"), value + `"80/TCP/x": PortProtocols: protocol of "80/TCP/x" must be TCP, UDP, SCTP or TCPUDP`},
		"a port and protocol repeat":      {conf("SlbIds", "x", "PortProtocols", "80/TCPUDP,80/UDP"), value + `"80/TCPUDP,80/UDP": PortProtocols: port 80/UDP is given twice`},
		"no container is named":           {conf("SlbIds", "x", "ContainerPorts", "80,443"), value + `"80,443": ContainerPorts: must have the form container:port/protocol,...`},
		"two colons":                      {conf("SlbIds", "x", "ContainerPorts", "game:80:81"), value + `"game:80:81": ContainerPorts: must have the form container:port/protocol,...`},
		"a list has an empty item":        {conf("SlbIds", "x", "ContainerPorts", "game:"), value + `"game:": ContainerPorts: port of "" must be a number from 1 to 65535, or SameAsHost`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, errs, warnings := spec().Parse(tc.given, at())
			if len(warnings) > 0 {
				t.Errorf("Parse() warnings %v, want none", warnings)
			}
			if len(errs) != 1 {
				t.Fatalf("Parse() errors %v, want one", errs)
			}
			if diff := cmp.Diff(tc.want, errs[0].Error()); diff != "" {
				t.Errorf("Parse() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseReportsEverythingAtOnce(t *testing.T) {
	t.Parallel()
	_, errs, _ := spec().Parse(conf("Fixed", "maybe", "PortProtocols", "0,80/X"), at())
	if len(errs) != 4 { // a boolean, two ports, and SlbIds is missing
		t.Errorf("Parse() errors %v, want four", errs)
	}
}

func TestUnknownParametersAreWarnings(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ name, want string }{
		"another case":     {"slbids", `did you mean "SlbIds"?`},
		"a letter missing": {"ContainerPort", `did you mean "ContainerPorts"?`},
		"a letter wrong":   {"Wezght", `did you mean "Weight"?`},
		"nothing like it":  {"Foo", `known are SlbIds, Fixed, Weight, Mode, PortProtocols, ContainerPorts`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, errs, warnings := spec().Parse(conf("SlbIds", "x", tc.name, "y"), at())
			if len(errs) > 0 || len(warnings) != 1 || !strings.Contains(warnings[0], tc.want) || !strings.HasPrefix(warnings[0], "spec.network.networkConf[1].name: unknown parameter") {
				t.Errorf("Parse() errors %v, warnings %q, want one warning with %q", errs, warnings, tc.want)
			}
		})
	}
}

func TestDocsDescribeTheTable(t *testing.T) {
	t.Parallel()
	docs := spec().Docs()
	want := params.Doc{Name: "SlbIds", Type: "names separated by commas", Required: true, Description: "load balancers to use"}
	if diff := cmp.Diff(want, docs[0]); diff != "" {
		t.Errorf("Docs()[0] (-want +got):\n%s", diff)
	}
	if got := docs[1].Default; got != "true" {
		t.Errorf("Docs()[1].Default = %q, want true", got)
	}
}

// FuzzContainerPorts: whatever users write, the parser answers; what it accepts it can write and read again.
func FuzzContainerPorts(f *testing.F) {
	for _, seed := range []string{"game:80", "game:80/TCP,81/UDP", "a:SameAsHost/TCPUDP", ":", "a:b:c", "game: 80 / udp", "game:+1", "game:80/TCP/x", "game:99999999999999999999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parsed, errs, _ := spec().Parse(conf("SlbIds", "x", "ContainerPorts", text), at())
		if len(errs) > 0 {
			return
		}
		var items []string
		for _, port := range parsed.Hosts[0].Ports {
			if !port.SameAsHost && (port.Number < 1 || port.Number > 65535) || len(port.Protocols) == 0 {
				t.Fatalf("%q was read as %+v", text, port)
			}
			items = append(items, port.String())
		}
		again, errs, _ := spec().Parse(conf("SlbIds", "x", "ContainerPorts", parsed.Hosts[0].Container+":"+strings.Join(items, ",")), at())
		if diff := cmp.Diff(parsed, again); diff != "" || len(errs) > 0 {
			t.Fatalf("%q: written and read again (-want +got):\n%s%v", text, diff, errs)
		}
	})
}
