// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"

	"sigs.k8s.io/json"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

// UnknownFields warns of fields that the request brings into a GameServerSet and that nothing reads, as a misspelt name in
// the pod template, which the schema leaves open (fault A-8). oldRaw is empty for a creation. Raw objects that cannot be
// decoded have no unknown fields.
func UnknownFields(oldRaw, raw []byte) []string {
	before := strictFaults(oldRaw)
	var warnings []string
	for _, fault := range strictFaults(raw) {
		if !slices.Contains(before, fault) {
			warnings = append(warnings, fault)
		}
	}
	return warnings
}

func strictFaults(raw []byte) []string {
	if len(raw) == 0 {
		return nil
	}
	strict, err := json.UnmarshalStrict(raw, &gamev1alpha1.GameServerSet{})
	if err != nil {
		return nil
	}
	var faults []string
	for _, fault := range strict {
		// The library says: unknown field "spec.gameServerTemplate.spec.contaners".
		kind, path, found := strings.Cut(fault.Error(), ` "`)
		if found {
			faults = append(faults, strings.TrimSuffix(path, `"`)+": "+kind)
		}
	}
	return faults
}
