// SPDX-License-Identifier: Apache-2.0

//go:build race

package indexoffset

// raceEnabled tells tests that measure that the race detector is at work.
const raceEnabled = true
