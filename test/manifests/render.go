// SPDX-License-Identifier: Apache-2.0

// Package manifests renders the folders of manifests/ and says what is in them.
package manifests

import (
	"fmt"
	"path/filepath"
	"runtime"

	kruisev1alpha1 "github.com/openkruise/kruise-api/apps/v1alpha1"
	kruisev1beta1 "github.com/openkruise/kruise-api/apps/v1beta1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

// Root is the folder manifests/, whatever package asks.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "manifests")
}

// Scheme knows every kind that manifests/ holds, but for kinds of cert-manager.
func Scheme() (*apiruntime.Scheme, error) {
	scheme := apiruntime.NewScheme()
	for _, add := range []func(*apiruntime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, gamev1alpha1.AddToScheme, kruisev1alpha1.AddToScheme, kruisev1beta1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("collecting kinds: %w", err)
		}
	}
	return scheme, nil
}

// Render builds one folder of manifests/ as kubectl apply -k would, and decodes every object strictly: an unknown
// field is an error. Objects of a group in foreign are left out.
func Render(folder string, foreign ...string) ([]client.Object, error) {
	scheme, err := Scheme()
	if err != nil {
		return nil, err
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	rendered, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join(Root(), folder))
	if err != nil {
		return nil, fmt.Errorf("rendering %s: %w", folder, err)
	}
	skip := map[string]bool{}
	for _, group := range foreign {
		skip[group] = true
	}
	var objects []client.Object
	for _, resource := range rendered.Resources() {
		if skip[resource.GetGvk().Group] {
			continue
		}
		text, err := resource.AsYAML()
		if err != nil {
			return nil, fmt.Errorf("rendering %s of %s: %w", resource.CurId(), folder, err)
		}
		decoded, _, err := decoder.Decode(text, nil, nil)
		if err != nil {
			return nil, fmt.Errorf("reading %s of %s: %w", resource.CurId(), folder, err)
		}
		object, ok := decoded.(client.Object)
		if !ok {
			return nil, fmt.Errorf("%s of %s is no object", resource.CurId(), folder)
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// Find returns the object of type T with this name.
func Find[T client.Object](objects []client.Object, name string) (T, bool) {
	for _, object := range objects {
		if found, ok := object.(T); ok && object.GetName() == name {
			return found, true
		}
	}
	var none T
	return none, false
}
