// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berthgames/berth/internal/ports"
)

// shipped is the file that OpenKruiseGame v1.0.0 installs. Source: network-framework.md, section 4.2.
func shipped(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "test", "samples", "config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func portsOf(low, high int32, blocked ...int32) *Ports {
	return &Ports{Range: ports.Range{Min: low, Max: high}, Blocked: blocked}
}

func TestLoadTakesTheFileThatUpstreamShips(t *testing.T) {
	t.Parallel()
	got, err := Load(shipped(t))
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		Kubernetes:   Kubernetes{Enable: true, HostPort: portsOf(8000, 9000)},
		AlibabaCloud: AlibabaCloud{Enable: true, SLB: portsOf(500, 700, 593), NLB: portsOf(1000, 1502, 1025, 1068, 1434)},
		HwCloud:      HwCloud{Enable: true, ELB: portsOf(500, 700)},
		Volcengine:   Volcengine{Enable: true, CLB: portsOf(550, 600, 593)},
		TencentCloud: TencentCloud{Enable: true, CLB: portsOf(700, 750)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		file string
		want Config
	}{
		"an empty file enables nothing": {},
		"a provider without enable is off, and its values do not matter (network-framework 4.2)": {
			file: "[aws.nlb]\nmin_port = 9\nmax_port = 1\n",
		},
		"a provider that is off may hold nonsense": {
			file: "[jdcloud]\nenable = false\n[jdcloud.nlb]\nmin_port = \"x\"\nblock_ports = 3\n",
		},
		"a missing section leaves its siblings alone (F11)": {
			file: "[alibabacloud]\nenable = true\n[alibabacloud.slb]\nmin_port = 500\nmax_port = 700\nblock_ports = [593]\n",
			want: Config{AlibabaCloud: AlibabaCloud{Enable: true, SLB: portsOf(500, 700, 593)}},
		},
		"a v1.0.0 file without hwcloud.cce.elb keeps hwcloud": {
			file: "[hwcloud]\nenable = true\n[hwcloud.elb]\nmin_port = 500\nmax_port = 700\n",
			want: Config{HwCloud: HwCloud{Enable: true, ELB: portsOf(500, 700)}},
		},
		"the newer section hwcloud.cce.elb is read": {
			file: "[hwcloud]\nenable = true\n[hwcloud.cce.elb]\nmin_port = 32768\nmax_port = 65535\nblock_ports = []\n",
			want: Config{HwCloud: HwCloud{Enable: true, CCEELB: portsOf(32768, 65535)}},
		},
		"upper and lower case do not matter": {
			file: "[Kubernetes]\nENABLE = true\n[Kubernetes.hostport]\nMax_Port = 9000\nmin_port = 8000\n",
			want: Config{Kubernetes: Kubernetes{Enable: true, HostPort: portsOf(8000, 9000)}},
		},
		"one single port is a range": {
			file: "[kubernetes]\nenable = true\n[kubernetes.hostPort]\nmin_port = 8000\nmax_port = 8000\n",
			want: Config{Kubernetes: Kubernetes{Enable: true, HostPort: portsOf(8000, 8000)}},
		},
		"blocked ports may stand at both ends and twice": {
			file: "[kubernetes]\nenable = true\n[kubernetes.hostPort]\nmin_port = 1\nmax_port = 65535\nblock_ports = [65535, 1, 22, 22]\n",
			want: Config{Kubernetes: Kubernetes{Enable: true, HostPort: portsOf(1, 65535, 1, 22, 65535)}},
		},
		"fifty listeners fit one AWS load balancer": {
			file: "[aws]\nenable = true\n[aws.nlb]\nmin_port = 30001\nmax_port = 30050\n",
			want: Config{AWS: AWS{Enable: true, NLB: portsOf(30001, 30050)}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Load([]byte(tc.file))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("configuration (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	hostPort := func(lines ...string) string {
		return "[kubernetes]\nenable = true\n[kubernetes.hostPort]\n" + strings.Join(lines, "\n") + "\n"
	}
	cases := map[string]struct {
		file string
		want []string
	}{
		"an unknown section": {
			file: "[gcp]\nenable = false\n",
			want: []string{`[gcp]: unknown section`},
		},
		"an unknown section below a provider that is off": {
			file: "[aws]\nenable = false\n[aws.alb]\nmin_port = 1\n",
			want: []string{`[aws.alb]: unknown section`},
		},
		"an unknown key": {
			file: hostPort(`min_port = 8000`, `max_port = 9000`, `maxport = 1`),
			want: []string{`[kubernetes.hostPort] maxport = 1: unknown key`},
		},
		"a key outside of every section": {
			file: "enable = true\n",
			want: []string{`enable = true: unknown key`},
		},
		"a section that is a number": {
			file: "kubernetes = 3\n",
			want: []string{`kubernetes = 3: must be a section`},
		},
		"an enable that is no boolean": {
			file: "[aws]\nenable = \"yes\"\n",
			want: []string{`[aws] enable = "yes": must be true or false`},
		},
		"a port that is text": {
			file: hostPort(`min_port = "8000"`, `max_port = 9000`),
			want: []string{`[kubernetes.hostPort] min_port = "8000": must be an integer from 1 to 65535`},
		},
		"port 0": {
			file: hostPort(`min_port = 0`, `max_port = 9000`),
			want: []string{`[kubernetes.hostPort] min_port = 0: must be an integer from 1 to 65535`},
		},
		"a port above 65535": {
			file: hostPort(`min_port = 8000`, `max_port = 70000`),
			want: []string{`[kubernetes.hostPort] max_port = 70000: must be an integer from 1 to 65535`},
		},
		"a range that ends before it begins": {
			file: hostPort(`min_port = 9000`, `max_port = 8000`),
			want: []string{`[kubernetes.hostPort] max_port = 8000: must not be below min_port, which is 9000`},
		},
		"a range without an end": {
			file: hostPort(`min_port = 9000`),
			want: []string{`[kubernetes.hostPort] max_port: is missing; the section needs it`},
		},
		"a blocked port outside of the range": {
			file: hostPort(`min_port = 8000`, `max_port = 9000`, `block_ports = [8500, 9001]`),
			want: []string{`[kubernetes.hostPort] block_ports = 9001: must lie between min_port and max_port, 8000-9000`},
		},
		"blocked ports that are no list": {
			file: hostPort(`min_port = 8000`, `max_port = 9000`, `block_ports = 8500`),
			want: []string{`[kubernetes.hostPort] block_ports = 8500: must be a list of integers`},
		},
		"a blocked port that is text": {
			file: hostPort(`min_port = 8000`, `max_port = 9000`, `block_ports = ["x"]`),
			want: []string{`[kubernetes.hostPort] block_ports = "x": every element must be an integer from 1 to 65535`},
		},
		"a range that is blocked as a whole": {
			file: hostPort(`min_port = 8000`, `max_port = 8001`, `block_ports = [8000, 8001]`),
			want: []string{`[kubernetes.hostPort] block_ports = [8000 8001]: leaves no number of 8000-8001 to give out`},
		},
		"more listeners than one AWS load balancer has": {
			file: "[aws]\nenable = true\n[aws.nlb]\nmin_port = 30000\nmax_port = 30050\n",
			want: []string{`[aws.nlb] max_port = 30050: leaves 51 numbers of 30000-30050 to give out, and one load balancer has at most 50 listeners`},
		},
		"one key in two spellings": {
			file: hostPort(`min_port = 8000`, `MIN_PORT = 8001`, `max_port = 9000`),
			want: []string{`[kubernetes.hostPort] min_port: is given more than once, as MIN_PORT and min_port`},
		},
		"every fault at once, unknown keys last": {
			file: "typo = 1\n" + hostPort(`min_port = -1`, `max_port = 70000`) + "[aws]\nenable = 1\nregion = \"x\"\n",
			want: []string{
				`[kubernetes.hostPort] min_port = -1: must be an integer from 1 to 65535`,
				`[kubernetes.hostPort] max_port = 70000: must be an integer from 1 to 65535`,
				`[aws] enable = 1: must be true or false`,
				`typo = 1: unknown key`,
				`[aws] region = "x": unknown key`,
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Load([]byte(tc.file))
			var errs Errors
			if !errors.As(err, &errs) {
				t.Fatalf("Load gave %v, want Errors", err)
			}
			var got []string
			for _, e := range errs {
				got = append(got, e.Error())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLoadFileNamesTheFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	missing := filepath.Join(dir, "missing.toml")
	if _, err := LoadFile(missing); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), missing) {
		t.Errorf("a missing file gave %v", err)
	}
	broken := filepath.Join(dir, "broken.toml")
	if err := os.WriteFile(broken, []byte("[kubernetes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadFile(broken); err == nil || !strings.Contains(err.Error(), broken) || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("a file that is no TOML gave %v, want its name and the line", err)
	}
}

// FuzzLoad looks for a file that makes Load panic, give half a configuration, or say less than what is wrong where.
func FuzzLoad(f *testing.F) {
	f.Add(shipped(f))
	f.Add([]byte("[kubernetes]\nenable = true\n[kubernetes.hostPort]\nmin_port = 70000\n"))
	f.Add([]byte("[hwcloud]\nenable = true\n[hwcloud.cce.elb]\nblock_ports = [[1], {a = 2}, 3.5, 1979-05-27]\n"))
	f.Add([]byte("kubernetes = [{enable = true}]\nAWS.nlb.min_port = 3\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		cfg, err := Load(data)
		if err != nil {
			if diff := cmp.Diff(Config{}, cfg); diff != "" {
				t.Errorf("a refused file gave a configuration:\n%s", diff)
			}
			var errs Errors
			if errors.As(err, &errs) {
				for _, e := range errs {
					if e.Section+e.Key == "" || e.Rule == "" {
						t.Errorf("fault without place or rule: %#v", e)
					}
				}
			}
			return
		}
		for _, p := range []*Ports{
			cfg.Kubernetes.HostPort, cfg.AlibabaCloud.SLB, cfg.AlibabaCloud.NLB, cfg.HwCloud.ELB, cfg.HwCloud.CCEELB,
			cfg.Volcengine.CLB, cfg.AWS.NLB, cfg.JdCloud.NLB, cfg.TencentCloud.CLB,
		} {
			checkPorts(t, p)
		}
	})
}

func checkPorts(t *testing.T, p *Ports) {
	t.Helper()
	if p == nil {
		return
	}
	if err := p.Range.Validate(); err != nil {
		t.Errorf("accepted a bad range: %v", err)
	}
	if len(p.Blocked) >= p.Range.Len() {
		t.Errorf("accepted a range without a free number: %v", p)
	}
	for i, n := range p.Blocked {
		if !p.Range.Contains(n) || (i > 0 && n <= p.Blocked[i-1]) {
			t.Errorf("blocked numbers are not ascending numbers of the range: %v", p)
		}
	}
}
