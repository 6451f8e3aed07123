// SPDX-License-Identifier: Apache-2.0

// Package config reads what the operator of Berth decides: the provider file config.toml and the environment.
//
// The provider file is read strictly. An unknown section or key, a value of the wrong type, and a bad value of an
// enabled provider are errors that name section, key, value and rule; all of them are reported at once. Every section
// and key that OpenKruiseGame ships is known, also those nothing reads. A section that is missing only leaves the
// plugin without ports that needs it.
package config

import (
	"fmt"
	"os"

	"github.com/berthgames/berth/internal/ports"
)

// Config is the provider file. The zero Config enables nothing.
// Source: network-framework.md, section 4.2.
type Config struct {
	Kubernetes   Kubernetes
	AlibabaCloud AlibabaCloud
	HwCloud      HwCloud
	Volcengine   Volcengine
	AWS          AWS
	JdCloud      JdCloud
	TencentCloud TencentCloud
}

// Ports are the numbers a plugin may give out. A nil *Ports means that the section is missing.
type Ports struct {
	// Range is min_port to max_port, both included.
	Range ports.Range
	// Blocked are the numbers of block_ports, ascending and each once. All lie in Range.
	Blocked []int32
}

// Kubernetes is the section [kubernetes].
type Kubernetes struct {
	Enable bool
	// HostPort is [kubernetes.hostPort]: numbers of host ports on the nodes.
	HostPort *Ports
}

// AlibabaCloud is the section [alibabacloud].
type AlibabaCloud struct {
	Enable bool
	// SLB is [alibabacloud.slb], NLB is [alibabacloud.nlb]: listener ports of load balancers.
	SLB, NLB *Ports
}

// HwCloud is the section [hwcloud].
type HwCloud struct {
	Enable bool
	// ELB is [hwcloud.elb], CCEELB is [hwcloud.cce.elb]: listener ports of load balancers.
	ELB, CCEELB *Ports
}

// Volcengine is the section [volcengine].
type Volcengine struct {
	Enable bool
	// CLB is [volcengine.clb]: listener ports of load balancers.
	CLB *Ports
}

// AWS is the section [aws].
type AWS struct {
	Enable bool
	// NLB is [aws.nlb]: listener ports of load balancers.
	NLB *Ports
}

// JdCloud is the section [jdcloud].
type JdCloud struct {
	Enable bool
	// NLB is [jdcloud.nlb]: listener ports of load balancers.
	NLB *Ports
}

// TencentCloud is the section [tencentcloud].
type TencentCloud struct {
	Enable bool
	// CLB is [tencentcloud.clb]. OpenKruiseGame ships it and reads it nowhere: the ports come from the parameters of the
	// GameServerSet.
	CLB *Ports
}

// LoadFile reads the provider file at path. Errors name the file.
func LoadFile(path string) (Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Config{}, fmt.Errorf("reading the provider configuration: %w", err)
	}
	cfg, err := Load(data)
	if err != nil {
		return Config{}, fmt.Errorf("provider configuration %s: %w", path, err)
	}
	return cfg, nil
}

// Load reads the text of a provider file. It is pure. The error is a syntax error of the TOML library, with a line
// number, or Errors with every fault of the file; the Config is empty then.
func Load(data []byte) (Config, error) {
	root, err := parse(data)
	if err != nil {
		return Config{}, err
	}
	cfg := read(root)
	if errs := root.faults(); len(errs) > 0 {
		return Config{}, errs
	}
	return cfg, nil
}

// read is the schema: a key that is not asked for here is unknown.
func read(root *table) Config {
	var cfg Config

	kubernetes := root.provider("kubernetes", &cfg.Kubernetes.Enable)
	cfg.Kubernetes.HostPort = kubernetes.section("hostPort").ports(anyCount)

	alibaba := root.provider("alibabacloud", &cfg.AlibabaCloud.Enable)
	cfg.AlibabaCloud.SLB = alibaba.section("slb").ports(200)
	cfg.AlibabaCloud.NLB = alibaba.section("nlb").ports(anyCount)

	huawei := root.provider("hwcloud", &cfg.HwCloud.Enable)
	cfg.HwCloud.ELB = huawei.section("elb").ports(201)
	cfg.HwCloud.CCEELB = huawei.section("cce").section("elb").ports(anyCount)

	volcengine := root.provider("volcengine", &cfg.Volcengine.Enable)
	cfg.Volcengine.CLB = volcengine.section("clb").ports(anyCount)

	aws := root.provider("aws", &cfg.AWS.Enable)
	cfg.AWS.NLB = aws.section("nlb").ports(50)

	jd := root.provider("jdcloud", &cfg.JdCloud.Enable)
	cfg.JdCloud.NLB = jd.section("nlb").ports(anyCount)

	tencent := root.provider("tencentcloud", &cfg.TencentCloud.Enable)
	cfg.TencentCloud.CLB = tencent.section("clb").ports(anyCount)
	return cfg
}
