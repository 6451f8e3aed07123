// SPDX-License-Identifier: Apache-2.0

// Package install brings manifests into a playground: it renders a kustomization, applies its objects, and sets its
// Deployments apart, which run as local processes.
package install

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// Render builds the kustomization in a folder, as "kubectl kustomize" does. The objects are in the order in which they
// can be applied: namespaces and definitions first, webhook configurations last.
func Render(folder string) ([]*unstructured.Unstructured, error) {
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionLegacy
	rendered, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		return nil, fmt.Errorf("rendering %s: %w", folder, err)
	}
	raw, err := rendered.AsYaml()
	if err != nil {
		return nil, fmt.Errorf("rendering %s: %w", folder, err)
	}
	return decode(raw)
}

func decode(raw []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(raw), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("decoding object %d: %w", len(objects), err)
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

// Split sets the Deployments apart from what is applied, both in the order of objects.
func Split(objects []*unstructured.Unstructured) (applied, deployments []*unstructured.Unstructured) {
	for _, object := range objects {
		if object.GroupVersionKind().GroupKind() == (schema.GroupKind{Group: appsv1.GroupName, Kind: "Deployment"}) {
			deployments = append(deployments, object)
		} else {
			applied = append(applied, object)
		}
	}
	return applied, deployments
}
