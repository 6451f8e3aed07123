// SPDX-License-Identifier: Apache-2.0

//go:build !race

package indexoffset

const raceEnabled = false
