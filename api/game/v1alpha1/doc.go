// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the API of Berth: GameServerSet, a group of game servers, and GameServer, the record of one
// server. Group, kinds, fields, keys and Go names are those of OpenKruiseGame v1.0.0, so objects and programs made
// for it keep working.
//
// +kubebuilder:object:generate=true
// +groupName=game.kruise.io
package v1alpha1
