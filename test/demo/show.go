// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/test/expect"
)

const (
	grown  = 12
	shrunk = 11
	// leaving is the server that the demo marks WaitToBeDeleted: one from the middle, so that it is plainly the mark and
	// not the number that decides.
	leaving = 4
)

// show is one run of the demo.
type show struct {
	client  client.Client
	out     io.Writer
	set     *gamev1alpha1.GameServerSet
	timeout time.Duration
}

func load(path string) (*gamev1alpha1.GameServerSet, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the sample: %w", err)
	}
	set := &gamev1alpha1.GameServerSet{}
	if err := yaml.UnmarshalStrict(data, set); err != nil {
		return nil, fmt.Errorf("reading the sample %s: %w", path, err)
	}
	if set.Spec.Replicas == nil {
		return nil, fmt.Errorf("reading the sample %s: spec.replicas is missing", path)
	}
	if set.Namespace == "" {
		set.Namespace = "default"
	}
	return set, nil
}

func (s *show) run(ctx context.Context) error {
	if err := s.removeOld(ctx); err != nil {
		return err
	}
	size := int(*s.set.Spec.Replicas)
	s.say("Applying GameServerSet %s with %d game servers.", s.set.Name, size)
	start := time.Now()
	if err := s.client.Create(ctx, s.set.DeepCopy()); err != nil {
		return fmt.Errorf("creating the GameServerSet: %w", err)
	}
	servers, err := s.wait(ctx, expect.First(size))
	if err != nil {
		return err
	}
	s.say("All Ready after %s:\n", time.Since(start).Round(100*time.Millisecond))
	printServers(s.out, servers)
	if err := expect.KeptApart(servers); err != nil {
		return err
	}
	printPlacement(s.out, servers)

	s.say("\nScaling to %d.", grown)
	if err := s.scale(ctx, grown); err != nil {
		return err
	}
	servers, err = s.wait(ctx, expect.First(grown))
	if err != nil {
		return err
	}
	return s.shrink(ctx, servers)
}

// shrink marks one server and takes one away: the marked one must be the one that leaves, and nobody else may notice.
func (s *show) shrink(ctx context.Context, before []expect.Server) error {
	name := fmt.Sprintf("%s-%d", s.set.Name, leaving)
	s.say("Marking %s WaitToBeDeleted and scaling to %d.", name, shrunk)
	if err := s.mark(ctx, name, gamev1alpha1.WaitToDelete); err != nil {
		return err
	}
	if err := s.scale(ctx, shrunk); err != nil {
		return err
	}
	staying := slices.DeleteFunc(expect.First(grown), func(ordinal int) bool { return ordinal == leaving })
	servers, err := s.wait(ctx, staying)
	if err != nil {
		return err
	}
	if err := expect.Same(before, servers); err != nil {
		return err
	}
	s.say("%s left, nobody else:\n", name)
	printServers(s.out, servers)
	return nil
}

// removeOld removes the set of an earlier demo, so that each demo shows the same.
func (s *show) removeOld(ctx context.Context) error {
	err := s.client.Delete(ctx, s.set.DeepCopy(), client.PropagationPolicy("Foreground"))
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("removing the set of an earlier demo: %w", err)
	}
	s.say("GameServerSet %s of an earlier demo is still there; removing it first.", s.set.Name)
	return expect.Eventually(ctx, s.timeout, "the earlier demo's servers to go", func(ctx context.Context) error {
		err := s.client.Get(ctx, s.key(), &gamev1alpha1.GameServerSet{})
		if err == nil {
			return fmt.Errorf("GameServerSet %s still exists", s.key())
		}
		if !apierrors.IsNotFound(err) {
			return err
		}
		servers, err := expect.Servers(ctx, s.client, s.key())
		if err != nil {
			return err
		}
		if len(servers) > 0 {
			return fmt.Errorf("%d servers still exist", len(servers))
		}
		return nil
	})
}

func (s *show) wait(ctx context.Context, ordinals []int) ([]expect.Server, error) {
	var servers []expect.Server
	what := fmt.Sprintf("%d game servers to be Ready", len(ordinals))
	err := expect.Eventually(ctx, s.timeout, what, func(ctx context.Context) error {
		var err error
		if servers, err = expect.Servers(ctx, s.client, s.key()); err != nil {
			return err
		}
		return expect.AllReady(servers, ordinals...)
	})
	return servers, err
}

func (s *show) scale(ctx context.Context, replicas int) error {
	patch := client.RawPatch(client.Merge.Type(), fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas))
	if err := s.client.Patch(ctx, s.set.DeepCopy(), patch); err != nil {
		return fmt.Errorf("scaling to %d: %w", replicas, err)
	}
	return nil
}

func (s *show) mark(ctx context.Context, name string, state gamev1alpha1.OpsState) error {
	server := &gamev1alpha1.GameServer{}
	server.Namespace, server.Name = s.set.Namespace, name
	patch := client.RawPatch(client.Merge.Type(), fmt.Appendf(nil, `{"spec":{"opsState":%q}}`, state))
	if err := s.client.Patch(ctx, server, patch); err != nil {
		return fmt.Errorf("marking %s: %w", name, err)
	}
	return nil
}

func (s *show) key() client.ObjectKey { return client.ObjectKeyFromObject(s.set) }

func (s *show) say(format string, args ...any) {
	fmt.Fprintln(s.out, strings.TrimRight(fmt.Sprintf(format, args...), " "))
}
