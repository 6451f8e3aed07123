// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// fieldManager owns what is installed.
const fieldManager = "berth-playground"

const crdKind = "CustomResourceDefinition"

// Applier writes objects of any kind.
type Applier struct {
	client dynamic.Interface
	mapper *restmapper.DeferredDiscoveryRESTMapper
}

// NewApplier returns an applier for the API server of config.
func NewApplier(config *rest.Config) (*Applier, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("building client: %w", err)
	}
	discoverer, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("building discovery client: %w", err)
	}
	return &Applier{
		client: client, mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(discoverer)),
	}, nil
}

// Apply creates the objects or brings them up to date, in their order. The kinds of all CustomResourceDefinitions
// among them can be used when the first object of another kind is written, and when Apply returns.
func (a *Applier) Apply(ctx context.Context, objects []*unstructured.Unstructured) error {
	var defined []string
	for _, object := range objects {
		isCRD := object.GroupVersionKind().GroupKind() == schema.GroupKind{Group: apiextensionsv1.GroupName, Kind: crdKind}
		if !isCRD && len(defined) > 0 {
			if err := a.waitEstablished(ctx, defined); err != nil {
				return err
			}
			defined = nil
		}
		if isCRD {
			defined = append(defined, object.GetName())
		}
		if _, err := a.apply(ctx, object, false); err != nil {
			return err
		}
	}
	return a.waitEstablished(ctx, defined)
}

// Deployment has the API server check a Deployment and fill in its defaults, without creating it.
func (a *Applier) Deployment(ctx context.Context, object *unstructured.Unstructured) (appsv1.Deployment, error) {
	var d appsv1.Deployment
	seen, err := a.apply(ctx, object, true)
	if err != nil {
		return d, err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(seen.Object, &d); err != nil {
		return d, fmt.Errorf("reading Deployment %s: %w", nameOf(object), err)
	}
	return d, nil
}

func (a *Applier) apply(ctx context.Context, object *unstructured.Unstructured, dryRun bool) (*unstructured.Unstructured, error) {
	gvk := object.GroupVersionKind()
	mapping, err := a.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return nil, fmt.Errorf("applying %s %s: %w", object.GetKind(), nameOf(object), err)
	}
	var resource dynamic.ResourceInterface = a.client.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		namespace := object.GetNamespace()
		if namespace == "" {
			namespace = metav1.NamespaceDefault
		}
		resource = a.client.Resource(mapping.Resource).Namespace(namespace)
	}
	options := metav1.ApplyOptions{FieldManager: fieldManager, Force: true}
	if dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	seen, err := resource.Apply(ctx, object.GetName(), object, options)
	if err != nil {
		return nil, fmt.Errorf("applying %s %s: %w", object.GetKind(), nameOf(object), err)
	}
	return seen, nil
}

// waitEstablished waits until the API server serves the kinds of the named definitions.
func (a *Applier) waitEstablished(ctx context.Context, names []string) error {
	crds := a.client.Resource(apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions"))
	for _, name := range names {
		reason := "no conditions yet"
		err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
			object, err := crds.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return false, err
			}
			var established bool
			established, reason, err = isEstablished(object)
			return established, err
		})
		if err != nil {
			return fmt.Errorf("waiting for kind of %s (%s): %w", name, reason, err)
		}
	}
	if len(names) > 0 {
		a.mapper.Reset()
	}
	return nil
}

// isEstablished tells whether the kind of a CustomResourceDefinition is served, and if not, why.
func isEstablished(object *unstructured.Unstructured) (bool, string, error) {
	var crd apiextensionsv1.CustomResourceDefinition
	// A new definition has conditions: null for a moment, which a typed view reads as none.
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &crd); err != nil {
		return false, "", fmt.Errorf("reading the status of %s: %w", object.GetName(), err)
	}
	reason := "no conditions yet"
	for _, condition := range crd.Status.Conditions {
		isTrue := condition.Status == apiextensionsv1.ConditionTrue
		switch {
		case condition.Type == apiextensionsv1.Established && isTrue:
			return true, "", nil
		case condition.Type == apiextensionsv1.NamesAccepted && !isTrue:
			reason = condition.Message
		}
	}
	return false, reason, nil
}

func nameOf(object *unstructured.Unstructured) string {
	if object.GetNamespace() == "" {
		return object.GetName()
	}
	return object.GetNamespace() + "/" + object.GetName()
}
