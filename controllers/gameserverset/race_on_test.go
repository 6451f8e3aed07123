// SPDX-License-Identifier: Apache-2.0

//go:build race

package gameserverset

// slowdown is how much slower code may be than its budget says: the race detector watches every memory access.
const slowdown = 10
