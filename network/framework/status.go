// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"encoding/json"
	"fmt"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

// EncodeStatus gives the value of the pod annotation game.kruise.io/network-status: no spaces, keys in the order of the
// API type, unset times as null. The fields that belong to the GameServer controller are left out whatever status holds.
// Source: network-framework.md, section 2.3.
func EncodeStatus(status gamev1alpha1.NetworkStatus) (string, error) {
	text, err := json.Marshal(gamev1alpha1.NetworkStatus{
		InternalAddresses:   status.InternalAddresses,
		ExternalAddresses:   status.ExternalAddresses,
		CurrentNetworkState: status.CurrentNetworkState,
	})
	if err != nil {
		return "", fmt.Errorf("encoding the network status: %w", err)
	}
	return string(text), nil
}

// DecodeStatus reads the value of the pod annotation game.kruise.io/network-status. An empty text is no status and no
// error.
func DecodeStatus(text string) (*gamev1alpha1.NetworkStatus, error) {
	if text == "" {
		return nil, nil
	}
	status := &gamev1alpha1.NetworkStatus{}
	if err := json.Unmarshal([]byte(text), status); err != nil {
		return nil, fmt.Errorf("decoding the network status %q: %w", shorten(text), err)
	}
	return status, nil
}

// shorten keeps foreign text in messages bounded.
func shorten(text string) string {
	const most = 200
	if len(text) <= most {
		return text
	}
	return text[:most] + "..."
}
