// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	schemavalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/crdserverscheme"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	gamev1alpha1 "github.com/berthgames/berth/api/game/v1alpha1"
)

const crdFolder = "../../../manifests/crd"

// apiServer judges objects of one kind by the CRD in manifests/crd, with the code of the API server itself: pruning,
// schema, list types and CEL, and its ratcheting of values that an update leaves alone.
type apiServer struct {
	structural *structuralschema.Structural
	resource   createUpdateStrategy
	status     updateStrategy
}

type updateStrategy interface {
	ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList
}

type createUpdateStrategy interface {
	updateStrategy
	Validate(ctx context.Context, obj runtime.Object) field.ErrorList
}

func newAPIServer(t *testing.T, plural string) *apiServer {
	t.Helper()
	crd := readCRD(t, plural)
	schema := crd.Spec.Validation.OpenAPIV3Schema
	structural, err := structuralschema.NewStructural(schema)
	if err != nil {
		t.Fatalf("reading the schema of %s: %v", plural, err)
	}
	validator, _, err := schemavalidation.NewSchemaValidator(schema)
	if err != nil {
		t.Fatalf("building the validator of %s: %v", plural, err)
	}
	statusSchema := schema.Properties["status"]
	statusValidator, _, err := schemavalidation.NewSchemaValidator(&statusSchema)
	if err != nil {
		t.Fatalf("building the status validator of %s: %v", plural, err)
	}
	strategy := customresource.NewStrategy(crdserverscheme.NewUnstructuredObjectTyper(), true,
		gamev1alpha1.SchemeGroupVersion.WithKind(crd.Spec.Names.Kind), validator, statusValidator, structural,
		crd.Spec.Subresources.Status, crd.Spec.Subresources.Scale, nil)
	return &apiServer{structural: structural, resource: strategy, status: customresource.NewStatusStrategy(strategy)}
}

// create returns why the object would be refused, one text per error.
func (s *apiServer) create(t *testing.T, obj *unstructured.Unstructured) []string {
	return messages(s.resource.Validate(t.Context(), obj))
}

// update returns why the change of the stored object would be refused.
func (s *apiServer) update(t *testing.T, obj, stored *unstructured.Unstructured) []string {
	return messages(s.resource.ValidateUpdate(t.Context(), obj, stored))
}

// updateStatus is update through the status subresource.
func (s *apiServer) updateStatus(t *testing.T, obj, stored *unstructured.Unstructured) []string {
	return messages(s.status.ValidateUpdate(t.Context(), obj, stored))
}

// prune drops from the object what the API server does not store, and returns the paths of fields it does not know.
func (s *apiServer) prune(obj *unstructured.Unstructured) []string {
	defaulting.PruneNonNullableNullsWithoutDefaults(obj.Object, s.structural)
	return pruning.PruneWithOptions(obj.Object, s.structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
}

func messages(errs field.ErrorList) []string {
	var out []string
	for _, err := range errs {
		out = append(out, err.Error())
	}
	return out
}

// readCRD reads a CRD the way the API server does, which includes its own validation.
func readCRD(t *testing.T, plural string) *apiextensions.CustomResourceDefinition {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(crdFolder, "game.kruise.io_"+plural+".yaml"))
	if err != nil {
		t.Fatalf("reading the CRD of %s: %v", plural, err)
	}
	external := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(text, external); err != nil {
		t.Fatalf("decoding the CRD of %s: %v", plural, err)
	}
	apiextensionsv1.SetDefaults_CustomResourceDefinition(external)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&external.Spec)
	external.Status.StoredVersions = []string{gamev1alpha1.SchemeGroupVersion.Version}
	crd := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(external, crd, nil); err != nil {
		t.Fatalf("converting the CRD of %s: %v", plural, err)
	}
	if errs := crdvalidation.ValidateCustomResourceDefinition(t.Context(), crd); len(errs) > 0 {
		t.Fatalf("the API server would refuse the CRD of %s: %v", plural, errs.ToAggregate())
	}
	return crd
}

// parse reads one object from YAML.
func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	asJSON, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatalf("decoding %s: %v", text, err)
	}
	obj := &unstructured.Unstructured{}
	if err := obj.UnmarshalJSON(asJSON); err != nil {
		t.Fatalf("decoding %s: %v", text, err)
	}
	if obj.GetNamespace() == "" {
		obj.SetNamespace("default")
	}
	return obj
}
