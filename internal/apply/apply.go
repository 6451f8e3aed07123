// SPDX-License-Identifier: Apache-2.0

// Package apply is the one way Berth changes objects that exist: it compares what is stored with what is wanted,
// sends a JSON merge patch of only the keys that differ, and sends nothing when nothing differs.
//
// A patch never carries a key its caller did not change, so two writers of one object do not undo each other, and a
// key that vanished between before and after is removed by an explicit null. Objects are compared as they would be
// stored, so nil against empty, int against string or a time's nanoseconds cannot cause a write in every pass.
package apply

import (
	"bytes"
	"context"
	"fmt"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// FieldManager is the name under which all writes of the manager appear in managedFields.
// Source: core.md, "Rules that hold for every component", rule 1.
const FieldManager = "kruise-game-manager"

// Option changes how a patch is sent.
type Option func(*options)

type options struct {
	optimisticLock bool
}

// WithOptimisticLock makes the API server refuse the patch with a conflict when the object is no longer at the
// resource version of before.
func WithOptimisticLock() Option {
	return func(o *options) { o.optimisticLock = true }
}

// Object brings metadata and spec of the stored object from before to after. It reports whether it wrote. The answer of
// the API server is decoded into after. The status is left alone: the API server ignores it here for kinds that have a
// status subresource.
func Object(ctx context.Context, c client.Client, before, after client.Object, opts ...Option) (bool, error) {
	patch, err := build(before, after, opts)
	if err != nil || patch == nil {
		return false, err
	}
	if err := c.Patch(ctx, after, patch, client.FieldOwner(FieldManager)); err != nil {
		return false, fmt.Errorf("patching %s: %w", client.ObjectKeyFromObject(before), err)
	}
	return true, nil
}

// Status brings the status subresource of the stored object from before to after. It reports whether it wrote. Only the
// status should differ between the two.
func Status(ctx context.Context, c client.Client, before, after client.Object, opts ...Option) (bool, error) {
	patch, err := build(before, after, opts)
	if err != nil || patch == nil {
		return false, err
	}
	if err := c.Status().Patch(ctx, after, patch, client.FieldOwner(FieldManager)); err != nil {
		return false, fmt.Errorf("patching status of %s: %w", client.ObjectKeyFromObject(before), err)
	}
	return true, nil
}

// MergePatch returns the JSON merge patch (RFC 7386) that turns before into after, or nil when both are stored alike.
func MergePatch(before, after any) ([]byte, error) {
	old, err := json.Marshal(before)
	if err != nil {
		return nil, fmt.Errorf("encoding the stored object: %w", err)
	}
	wanted, err := json.Marshal(after)
	if err != nil {
		return nil, fmt.Errorf("encoding the wanted object: %w", err)
	}
	if bytes.Equal(old, wanted) {
		return nil, nil
	}
	patch, err := jsonpatch.CreateMergePatch(old, wanted)
	if err != nil {
		return nil, fmt.Errorf("comparing the stored with the wanted object: %w", err)
	}
	if bytes.Equal(patch, []byte("{}")) {
		return nil, nil
	}
	return patch, nil
}

func build(before, after client.Object, opts []Option) (client.Patch, error) {
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	data, err := MergePatch(before, after)
	if err != nil || data == nil {
		return nil, err
	}
	if !o.optimisticLock {
		return client.RawPatch(client.Merge.Type(), data), nil
	}
	return client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), nil
}
