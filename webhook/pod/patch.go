// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"gomodules.xyz/jsonpatch/v2"
)

// diff returns the operations that make on the raw object the changes that lead from before to after.
//
// raw is the object as the API server sent it; before is its decoded form and after what became of that. A field that our
// library does not know is in raw but in neither of the others, so no operation can touch it (fault W-8); a field that
// before spells out though raw leaves it out, such as an empty resources, is added where a change below needs it.
func diff(raw []byte, before, after any) ([]jsonpatch.JsonPatchOperation, error) {
	stored, err := generic(raw)
	if err != nil {
		return nil, fmt.Errorf("reading the object of the request: %w", err)
	}
	was, err := encode(before)
	if err != nil {
		return nil, err
	}
	is, err := encode(after)
	if err != nil {
		return nil, err
	}
	var d differ
	d.value(nil, stored, was, is)
	return d.ops, nil
}

func encode(object any) (any, error) {
	data, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("encoding the object: %w", err)
	}
	return generic(data)
}

// generic decodes JSON so that numbers keep all their digits.
func generic(data []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	return value, nil
}

type differ struct {
	ops []jsonpatch.JsonPatchOperation
}

// value writes the operations for one place that exists in the stored object.
func (d *differ) value(path []string, stored, was, is any) {
	if reflect.DeepEqual(was, is) {
		return
	}
	switch is := is.(type) {
	case map[string]any:
		storedMap, isMap := stored.(map[string]any)
		if wasMap, ok := was.(map[string]any); ok && isMap {
			d.object(path, storedMap, wasMap, is)
			return
		}
	case []any:
		storedList, isList := stored.([]any)
		if wasList, ok := was.([]any); ok && isList && len(storedList) == len(wasList) {
			d.list(path, storedList, wasList, is)
			return
		}
	}
	d.op("replace", path, is)
}

func (d *differ) object(path []string, stored, was, is map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(was)) {
		_, kept := is[key]
		if _, exists := stored[key]; exists && !kept {
			d.op("remove", join(path, key), nil)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(is)) {
		if reflect.DeepEqual(was[key], is[key]) {
			continue
		}
		if value, exists := stored[key]; exists {
			d.value(join(path, key), value, was[key], is[key])
		} else {
			d.op("add", join(path, key), is[key])
		}
	}
}

// list keeps what both ends have in common, changes elements in place, and adds or removes the rest, so that elements
// which only moved keep what we do not know of them.
func (d *differ) list(path []string, stored, was, is []any) {
	most := min(len(was), len(is))
	head := 0
	for head < most && reflect.DeepEqual(was[head], is[head]) {
		head++
	}
	tail := 0
	for tail < most-head && reflect.DeepEqual(was[len(was)-1-tail], is[len(is)-1-tail]) {
		tail++
	}
	oldMiddle, newMiddle := len(was)-head-tail, len(is)-head-tail
	both := min(oldMiddle, newMiddle)
	for i := head; i < head+both; i++ {
		d.value(join(path, strconv.Itoa(i)), stored[i], was[i], is[i])
	}
	for i := head + oldMiddle - 1; i >= head+both; i-- {
		d.op("remove", join(path, strconv.Itoa(i)), nil)
	}
	for i := head + both; i < head+newMiddle; i++ {
		d.op("add", join(path, strconv.Itoa(i)), is[i])
	}
}

func (d *differ) op(operation string, path []string, value any) {
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	var pointer strings.Builder
	for _, step := range path {
		pointer.WriteByte('/')
		pointer.WriteString(escape.Replace(step))
	}
	d.ops = append(d.ops, jsonpatch.NewOperation(operation, pointer.String(), value))
}

// join makes a path of its own, because append could write into the path of a sibling.
func join(path []string, step string) []string {
	return append(slices.Clone(path), step)
}
