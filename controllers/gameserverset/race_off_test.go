// SPDX-License-Identifier: Apache-2.0

//go:build !race

package gameserverset

// slowdown is how much slower code may be than its budget says.
const slowdown = 1
