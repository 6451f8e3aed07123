// SPDX-License-Identifier: Apache-2.0

package podnetwork

import (
	"context"
	"sync"

	"github.com/berthgames/berth/network/framework"
)

// restored remembers which plugins have rebuilt what they remember. A plugin is not asked before; pods that come
// meanwhile are tried again with back-off.
type restored struct {
	mu   sync.Mutex
	done map[string]bool
}

func newRestored() *restored { return &restored{done: map[string]bool{}} }

// ensure lets the plugin restore itself once. One pod at a time tries; the others are told to come again.
func (r *restored) ensure(ctx context.Context, plugin framework.Plugin) error {
	restorer, able := plugin.(framework.Restorer)
	if !able {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done[plugin.Name()] {
		return nil
	}
	_, err := contained(plugin.Name(), func() (struct{}, error) { return struct{}{}, restorer.Restore(ctx) })
	if err != nil {
		return framework.Retryf("network plugin %s does not know the cluster yet: %w", plugin.Name(), err)
	}
	r.done[plugin.Name()] = true
	return nil
}
