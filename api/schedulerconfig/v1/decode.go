// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/berthgames/berth/api/schedulerconfig"
)

// DecodeIndexOffsetArgs reads, defaults and converts the arguments of IndexOffset. obj is what the scheduler framework
// hands to a plugin factory: nil, or a *runtime.Unknown. Errors name every wrong field below path with its value.
// Whether the values make sense is for the validation package.
func DecodeIndexOffsetArgs(path *field.Path, obj runtime.Object) (*schedulerconfig.IndexOffsetArgs, error) {
	args := &IndexOffsetArgs{}
	if err := decodeStrict(path, "IndexOffsetArgs", obj, args, &args.TypeMeta); err != nil {
		return nil, err
	}
	SetDefaultsIndexOffsetArgs(args)

	out := &schedulerconfig.IndexOffsetArgs{Distance: *args.Distance, TopologyKey: *args.TopologyKey}
	if args.RecentWindow != nil {
		out.RecentWindow = &args.RecentWindow.Duration
	}
	return out, nil
}

// decodeStrict fills into, a pointer to a struct of kind kind whose TypeMeta is meta. Unlike the framework's own
// DecodeInto it refuses unknown names. It decodes name by name, so that each error says which one it is about; the
// errors of encoding/json do not when a type decodes itself, as durations do.
func decodeStrict(path *field.Path, kind string, obj runtime.Object, into any, meta *metav1.TypeMeta) error {
	raw, err := rawJSON(obj)
	if err != nil || raw == nil {
		return err
	}
	values := map[string]json.RawMessage{}
	strict, err := kjson.UnmarshalStrict(raw, &values)
	if err != nil {
		return field.Invalid(path, string(raw), "must be an object: "+err.Error())
	}
	var errs field.ErrorList
	for _, err := range strict {
		errs = append(errs, field.Invalid(path, string(raw), err.Error()))
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		one, err := json.Marshal(map[string]json.RawMessage{name: values[name]})
		if err != nil {
			return fmt.Errorf("isolating argument %s: %w", name, err)
		}
		unknown, err := kjson.UnmarshalStrict(one, into)
		switch {
		case err != nil:
			errs = append(errs, field.Invalid(path.Child(name), string(values[name]), err.Error()))
		case len(unknown) > 0:
			errs = append(errs, field.Invalid(path.Child(name), string(values[name]), "is not an argument of "+kind))
		}
	}
	if meta.Kind != "" && meta.Kind != kind {
		errs = append(errs, field.NotSupported(path.Child("kind"), meta.Kind, []string{kind}))
	}
	if meta.APIVersion != "" && meta.APIVersion != APIVersion {
		errs = append(errs, field.NotSupported(path.Child("apiVersion"), meta.APIVersion, []string{APIVersion}))
	}
	return errs.ToAggregate()
}

// rawJSON returns what the user wrote as JSON, nil if there is nothing.
// The cases are those of k8s.io/kubernetes/pkg/scheduler/framework/runtime.DecodeInto.
func rawJSON(obj runtime.Object) ([]byte, error) {
	if obj == nil {
		return nil, nil
	}
	unknown, ok := obj.(*runtime.Unknown)
	if !ok {
		return nil, fmt.Errorf("args of type %T, want *runtime.Unknown", obj)
	}
	switch {
	case unknown.Raw == nil:
		return nil, nil
	case unknown.ContentType == runtime.ContentTypeJSON, unknown.ContentType == "":
		return unknown.Raw, nil
	case unknown.ContentType == runtime.ContentTypeYAML:
		raw, err := yaml.YAMLToJSONStrict(unknown.Raw)
		if err != nil {
			return nil, fmt.Errorf("reading args as YAML: %w", err)
		}
		return raw, nil
	default:
		return nil, fmt.Errorf("args have content type %q, want JSON or YAML", unknown.ContentType)
	}
}
