// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

// answers collects what the validating webhook says while something else happens.
type answers struct {
	cancel   context.CancelFunc
	group    sync.WaitGroup
	asked    int
	failures []error
}

// askWebhook sends dry-run edits of a set, ten a second, until stop. Every one passes through the webhook.
func (e env) askWebhook(set *gamev1alpha1.GameServerSet) *answers {
	ctx, cancel := context.WithCancel(e.Context())
	a := &answers{cancel: cancel}
	set = set.DeepCopy() // the test goes on changing its own
	a.group.Go(func() {
		ticker := time.NewTicker(100 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			patch := client.RawPatch(client.Merge.Type(), []byte(`{"spec":{"reserveGameServerIds":[1000]}}`))
			err := berth.Client.Patch(ctx, set.DeepCopy(), patch, client.DryRunAll)
			if err != nil && strings.Contains(err.Error(), "failed calling webhook") {
				// The request that was with the killed process when it died is lost with it. The next one must not be.
				err = berth.Client.Patch(ctx, set.DeepCopy(), patch, client.DryRunAll)
			}
			if ctx.Err() != nil {
				return
			}
			a.asked++
			if err != nil {
				a.failures = append(a.failures, err)
			}
		}
	})
	return a
}

func (a *answers) stop() (int, []error) {
	a.cancel()
	a.group.Wait()
	return a.asked, a.failures
}
