// SPDX-License-Identifier: Apache-2.0

package ports

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// ExhaustedError says that fewer numbers are free than are needed. Its text is shown to people in admission messages,
// Events and scheduling reasons, so it always has the same form:
//
//	2 host ports (UDP) in 8000-9000 wanted, 1 free on node n1
type ExhaustedError struct {
	// Kind names what the numbers are, in the singular: "host port", "load-balancer port".
	Kind string
	// Protocols are those every number must be free in; empty leaves the parenthesis out.
	Protocols []corev1.Protocol
	// Range is where the numbers were looked for.
	Range Range
	// Want is how many different numbers are needed, Free how many there are.
	Want, Free int
	// Where names the place: "node n1", "this node", "every eligible node". Empty leaves it out.
	Where string
}

// Error implements error.
func (e *ExhaustedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s", e.Want, e.Kind)
	if e.Want != 1 {
		b.WriteByte('s')
	}
	if len(e.Protocols) > 0 {
		names := make([]string, len(e.Protocols))
		for i, p := range e.Protocols {
			names[i] = string(p)
		}
		fmt.Fprintf(&b, " (%s)", strings.Join(names, "+"))
	}
	fmt.Fprintf(&b, " in %s wanted, %d free", e.Range, e.Free)
	if e.Where != "" {
		fmt.Fprintf(&b, " on %s", e.Where)
	}
	return b.String()
}
