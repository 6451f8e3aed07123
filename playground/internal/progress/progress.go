// SPDX-License-Identifier: Apache-2.0

// Package progress prints what has been done and how long it took.
package progress

import (
	"fmt"
	"io"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Printer writes one line for each step that is done. Safe for concurrent use.
type Printer struct {
	clock clock.PassiveClock
	begin time.Time

	mu  sync.Mutex
	out io.Writer
}

// New returns a printer whose first column counts from now.
func New(out io.Writer, clk clock.PassiveClock) *Printer {
	return &Printer{clock: clk, begin: clk.Now(), out: out}
}

// Step begins a step. The function it returns ends the step and prints its line; format says what was done.
func (p *Printer) Step() func(format string, args ...any) {
	begin := p.clock.Now()
	return func(format string, args ...any) {
		p.line(fmt.Sprintf(format, args...) + fmt.Sprintf(" (took %.1fs)", p.clock.Since(begin).Seconds()))
	}
}

// Say prints a line that is no step.
func (p *Printer) Say(format string, args ...any) {
	p.line(fmt.Sprintf(format, args...))
}

func (p *Printer) line(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	// A terminal that is gone must not stop the work.
	_, _ = fmt.Fprintf(p.out, "[%5.1fs] %s\n", p.clock.Since(p.begin).Seconds(), text)
}
