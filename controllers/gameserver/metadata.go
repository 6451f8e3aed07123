// SPDX-License-Identifier: Apache-2.0

package gameserver

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

// templateKeysKey is a GameServer annotation with the keys that the template's metadata brought, as JSON
// {"labels":[...],"annotations":[...]}. Written and read by this controller, so that what leaves the template leaves the
// GameServer too (fault G-12). Missing: the template brought nothing, or upstream merged it and nobody knows.
const templateKeysKey = "game.kruise.io/gsTemplate-metadata-keys"

type metadataKeys struct {
	Labels      []string `json:"labels,omitempty"`
	Annotations []string `json:"annotations,omitempty"`
}

// mergeTemplate brings labels and annotations of the set's template to the GameServer, once per change of the template:
// in between, what users write on the GameServer stands. It changes gs.
func mergeTemplate(gs *gamev1alpha1.GameServer, template *gamev1alpha1.GameServerTemplate) {
	hash := metadataHash(template)
	if gs.Annotations[gamev1alpha1.GsTemplateMetadataHashKey] == hash {
		return
	}
	var former metadataKeys
	// Text that is not ours to read names no keys; the annotation is written anew below.
	_ = json.Unmarshal([]byte(gs.Annotations[templateKeysKey]), &former)

	gs.Labels = merge(gs.Labels, template.Labels, former.Labels)
	gs.Annotations = merge(gs.Annotations, template.Annotations, former.Annotations)
	gs.Annotations = merge(gs.Annotations, map[string]string{gamev1alpha1.GsTemplateMetadataHashKey: hash}, nil)

	delete(gs.Annotations, templateKeysKey)
	if len(template.Labels)+len(template.Annotations) > 0 {
		gs.Annotations[templateKeysKey] = keysText(template)
	}
}

// setLabels writes the labels that tell whose server this is and where it runs. It changes gs.
func setLabels(gs *gamev1alpha1.GameServer, setName, nodeName string) {
	gs.Labels = merge(gs.Labels, map[string]string{gamev1alpha1.GameServerOwnerGssKey: setName}, nil)
	if nodeName == "" {
		delete(gs.Labels, gamev1alpha1.GameServerNodeNameKey)
		return
	}
	gs.Labels[gamev1alpha1.GameServerNodeNameKey] = nodeName
}

// metadataHash is equal for equal metadata, whatever the order of maps. It is a text of 16 hexadecimal digits.
func metadataHash(template *gamev1alpha1.GameServerTemplate) string {
	sum := sha256.New()
	for _, m := range []map[string]string{template.Labels, template.Annotations} {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			// Keys hold no NUL and values are ended by one, so no two lists run together to the same bytes.
			sum.Write([]byte(key + "\x00" + m[key] + "\x00"))
		}
		sum.Write([]byte{0})
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

func keysText(template *gamev1alpha1.GameServerTemplate) string {
	// Two lists of texts cannot fail to encode.
	text, _ := json.Marshal(metadataKeys{
		Labels:      slices.Sorted(maps.Keys(template.Labels)),
		Annotations: slices.Sorted(maps.Keys(template.Annotations)),
	})
	return string(text)
}

// merge returns have without the keys of former, and with what want says. It never changes want.
func merge(have, want map[string]string, former []string) map[string]string {
	if have == nil {
		have = make(map[string]string, len(want))
	}
	for _, key := range former {
		delete(have, key)
	}
	maps.Copy(have, want)
	return have
}
