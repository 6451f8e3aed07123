// SPDX-License-Identifier: Apache-2.0

// Package controllers is the one list of all controllers of the manager.
package controllers

import (
	"context"
	"fmt"

	kruisev1alpha1 "github.com/openkruise/kruise-api/apps/v1alpha1"
	kruisev1beta1 "github.com/openkruise/kruise-api/apps/v1beta1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
	"github.com/berthgames/berth/config"
	"github.com/berthgames/berth/controllers/gameserver"
	"github.com/berthgames/berth/controllers/gameserverset"
	"github.com/berthgames/berth/controllers/podnetwork"
	"github.com/berthgames/berth/internal/index"
	"github.com/berthgames/berth/network/framework"
)

// Options are the numbers and parts that controllers are made from.
type Options struct {
	// Plugins are the network plugins of this process.
	Plugins *framework.Registry
	// NetworkWait says when the network of a server is late.
	NetworkWait config.NetworkWait
	// GameServerWorkers and GameServerSetWorkers are how many objects are worked on at the same time, at least 1.
	GameServerWorkers, GameServerSetWorkers int
}

// Setup registers indexes and controllers with the manager.
func Setup(ctx context.Context, mgr ctrl.Manager, o Options) error {
	if err := index.Register(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	if err := watch(ctx, mgr); err != nil {
		return err
	}
	clk := clock.RealClock{}

	gameServers := gameserver.New(mgr.GetClient(), mgr.GetAPIReader(), clk, mgr.GetEventRecorder(gameserver.ControllerName), gameserver.Options{
		Workers:     o.GameServerWorkers,
		NetworkWait: o.NetworkWait.Total,
		StartGrace:  gameserver.DefaultStartGrace,
	})
	if err := gameServers.SetupWithManager(mgr); err != nil {
		return err
	}
	networks := podnetwork.New(mgr.GetClient(), o.Plugins, mgr.GetEventRecorder(podnetwork.ControllerName), podnetwork.Options{
		Workers: o.GameServerWorkers,
	})
	if err := networks.SetupWithManager(mgr); err != nil {
		return err
	}
	sets := gameserverset.New(gameserverset.Options{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Clock: clk, Events: mgr.GetEventRecorder(gameserverset.Name),
	})
	return sets.SetupWithManager(mgr, o.GameServerSetWorkers)
}

// watch has every replica hold these kinds in its cache before it is ready, so that a standby can act at once when it
// leads, and a kind that the cluster does not know is an error at start.
func watch(ctx context.Context, mgr ctrl.Manager) error {
	for _, kind := range []client.Object{
		&corev1.Pod{}, &corev1.Node{}, &gamev1alpha1.GameServer{}, &gamev1alpha1.GameServerSet{},
	} {
		if _, err := mgr.GetCache().GetInformer(ctx, kind); err != nil {
			return fmt.Errorf("watching %T: %w", kind, err)
		}
	}
	for _, kind := range []client.Object{&kruisev1beta1.StatefulSet{}, &kruisev1alpha1.PodProbeMarker{}} {
		if _, err := mgr.GetCache().GetInformer(ctx, kind); err != nil {
			return fmt.Errorf("watching %T of OpenKruise, is it installed: %w", kind, err)
		}
	}
	return nil
}
