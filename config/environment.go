// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"strconv"
	"time"
)

// Environment variables of the manager, in whole seconds. Source: network-framework.md, section 10.1.
const (
	NetworkTotalWaitTimeEnv     = "NETWORK_TOTAL_WAIT_TIME"
	NetworkProbeIntervalTimeEnv = "NETWORK_PROBE_INTERVAL_TIME"
)

// NetworkWait says how long a GameServer waits for its network before that is announced as late.
type NetworkWait struct {
	// Total is the time after which a network that is not in its wanted state is late. Default 60 s; 0 is late at once.
	Total time.Duration
	// ProbeInterval is the time between two looks while the network is not in its wanted state. Default 5 s.
	ProbeInterval time.Duration
}

// NetworkWaitFromEnv reads NETWORK_TOTAL_WAIT_TIME and NETWORK_PROBE_INTERVAL_TIME through getenv, which is os.Getenv
// outside of tests. An empty text means the default. The error names the variable and its text.
func NetworkWaitFromEnv(getenv func(string) string) (NetworkWait, error) {
	total, err := seconds(getenv, NetworkTotalWaitTimeEnv, 60)
	if err != nil {
		return NetworkWait{}, err
	}
	interval, err := seconds(getenv, NetworkProbeIntervalTimeEnv, 5)
	if err != nil {
		return NetworkWait{}, err
	}
	return NetworkWait{Total: total, ProbeInterval: interval}, nil
}

func seconds(getenv func(string) string, name string, unset int64) (time.Duration, error) {
	text := getenv(name)
	if text == "" {
		return time.Duration(unset) * time.Second, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("environment variable %s=%q: must be whole seconds, 0 to 2147483647", name, text)
	}
	return time.Duration(n) * time.Second, nil
}
