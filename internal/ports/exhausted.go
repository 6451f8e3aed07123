// SPDX-License-Identifier: Apache-2.0

package ports

import (
	"fmt"
	"strings"
)

// ExhaustedError says that fewer numbers are free than are needed. Its text is shown to people in admission messages,
// Events and scheduling reasons, so it always has the same form:
//
//	2 host ports (UDP) in 8000-9000 wanted, 1 free on node n1
type ExhaustedError struct {
	// Kind names what the numbers are, in the singular: "host port", "load-balancer port".
	Kind string
	// Protocols are those the numbers are wanted in; the empty set leaves the parenthesis out.
	Protocols Protocols
	// Range is where the numbers were looked for.
	Range Range
	// Want is how many different numbers are needed, Free how many there are.
	Want, Free int
	// Where names the place, with its preposition: "on node n1", "on any of the 3 nodes it may use". Empty leaves it out.
	Where string
}

// Error implements error.
func (e *ExhaustedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s", e.Want, e.Kind)
	if e.Want != 1 {
		b.WriteByte('s')
	}
	if e.Protocols != 0 {
		fmt.Fprintf(&b, " (%s)", e.Protocols)
	}
	fmt.Fprintf(&b, " in %s wanted, %d free", e.Range, e.Free)
	if e.Where != "" {
		b.WriteByte(' ')
		b.WriteString(e.Where)
	}
	return b.String()
}
