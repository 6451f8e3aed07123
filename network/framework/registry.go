// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/cache"
)

// Registry holds the plugins of a process by name. It does not change after NewRegistry, so it may be read concurrently.
// The zero Registry is empty and usable.
type Registry struct {
	plugins map[string]Plugin
}

// NewRegistry takes the plugins of a process. It refuses a nil plugin, an empty name and a name that occurs twice.
func NewRegistry(plugins ...Plugin) (*Registry, error) {
	r := &Registry{plugins: make(map[string]Plugin, len(plugins))}
	for i, p := range plugins {
		if p == nil {
			return nil, fmt.Errorf("network plugin %d is nil", i)
		}
		name := p.Name()
		if name == "" {
			return nil, fmt.Errorf("network plugin %d (%T) has no name", i, p)
		}
		if _, taken := r.plugins[name]; taken {
			return nil, fmt.Errorf("network plugin %q is registered twice", name)
		}
		r.plugins[name] = p
	}
	return r, nil
}

// Get returns the plugin of exactly this name; case matters and aliases take no part.
func (r *Registry) Get(name string) (Plugin, bool) {
	p, ok := r.plugins[name]
	return p, ok
}

// Names lists the names of all plugins in ascending order.
func (r *Registry) Names() []string {
	return slices.Sorted(maps.Keys(r.plugins))
}

// All lists all plugins in the order of their names.
func (r *Registry) All() []Plugin {
	all := make([]Plugin, 0, len(r.plugins))
	for _, name := range r.Names() {
		all = append(all, r.plugins[name])
	}
	return all
}

// Observe lets every plugin that is an Observer register its event handlers. Call it once, before the caches start,
// in every process that calls Admit.
func (r *Registry) Observe(ctx context.Context, informers cache.Informers) error {
	for _, p := range r.All() {
		o, ok := p.(Observer)
		if !ok {
			continue
		}
		if err := o.Observe(ctx, informers); err != nil {
			return fmt.Errorf("connecting network plugin %s to the cluster's events: %w", p.Name(), err)
		}
	}
	return nil
}

// Observed is nil once every Observer has seen all that existed when the caches started. It suits a readiness probe: a
// process that answers before would shape pods by a picture that is incomplete.
func (r *Registry) Observed() error {
	var errs []error
	for _, p := range r.All() {
		if o, ok := p.(Observer); ok && !o.Observed() {
			errs = append(errs, fmt.Errorf("network plugin %s has not seen the whole cluster yet", p.Name()))
		}
	}
	return errors.Join(errs...)
}
