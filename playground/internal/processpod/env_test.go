// SPDX-License-Identifier: Apache-2.0

package processpod

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
)

// fakeSources holds objects of one namespace by name.
type fakeSources struct {
	configMaps map[string]*corev1.ConfigMap
	secrets    map[string]*corev1.Secret
}

var _ Sources = fakeSources{}

func (f fakeSources) ConfigMap(_, name string) (*corev1.ConfigMap, error) {
	if object, ok := f.configMaps[name]; ok {
		return object, nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, name)
}

func (f fakeSources) Secret(_, name string) (*corev1.Secret, error) {
	if object, ok := f.secrets[name]; ok {
		return object, nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, name)
}

func (f fakeSources) Token(_ context.Context, namespace, account, audience string) (string, error) {
	return fmt.Sprintf("token of %s/%s for %q", namespace, account, audience), nil
}

func TestVariables(t *testing.T) {
	t.Parallel()
	id := identity{
		namespace: "ns", name: "pod-0", uid: "u", account: "sa",
		labels: map[string]string{"app": "x"}, annotations: map[string]string{"note": "y"},
	}
	sources := fakeSources{
		configMaps: map[string]*corev1.ConfigMap{"cm": {Data: map[string]string{"k": "from map"}}},
		secrets:    map[string]*corev1.Secret{"s": {Data: map[string][]byte{"k": []byte("from secret")}}},
	}
	field := func(path string) corev1.EnvVar {
		return corev1.EnvVar{Name: "V", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
	}
	mapKey := func(name, key string, optional bool) corev1.EnvVar {
		return corev1.EnvVar{Name: "V", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: key, Optional: ptr.To(optional),
		}}}
	}
	secretKey := func(name, key string) corev1.EnvVar {
		return corev1.EnvVar{Name: "V", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: key,
		}}}
	}
	one := func(value string) []variable { return []variable{{name: "V", value: value}} }
	cases := map[string]struct {
		env     []corev1.EnvVar
		want    []variable
		wantErr string
	}{
		"values see the variables before them": {
			env:  []corev1.EnvVar{{Name: "A", Value: "$(B)"}, {Name: "B", Value: "b"}, {Name: "C", Value: "$(B)$(A) $$(B)"}},
			want: []variable{{"A", "$(B)"}, {"B", "b"}, {"C", "b$(B) $(B)"}},
		},
		"name of the pod":      {env: []corev1.EnvVar{field("metadata.name")}, want: one("pod-0")},
		"namespace of the pod": {env: []corev1.EnvVar{field("metadata.namespace")}, want: one("ns")},
		"uid of the pod":       {env: []corev1.EnvVar{field("metadata.uid")}, want: one("u")},
		"service account":      {env: []corev1.EnvVar{field("spec.serviceAccountName")}, want: one("sa")},
		"node":                 {env: []corev1.EnvVar{field("spec.nodeName")}, want: one("playground")},
		"address":              {env: []corev1.EnvVar{field("status.podIP")}, want: one("127.0.0.1")},
		"label":                {env: []corev1.EnvVar{field("metadata.labels['app']")}, want: one("x")},
		"annotation":           {env: []corev1.EnvVar{field("metadata.annotations['note']")}, want: one("y")},
		"unknown field":        {env: []corev1.EnvVar{field("spec.color")}, wantErr: `variable V: field "spec.color" is not supported`},
		"config map key":       {env: []corev1.EnvVar{mapKey("cm", "k", false)}, want: one("from map")},
		"secret key":           {env: []corev1.EnvVar{secretKey("s", "k")}, want: one("from secret")},
		"missing key":          {env: []corev1.EnvVar{mapKey("cm", "x", false)}, wantErr: `variable V: there is no key "x"`},
		"missing object":       {env: []corev1.EnvVar{secretKey("x", "k")}, wantErr: `variable V: secrets "x" not found`},
		"optional missing key": {env: []corev1.EnvVar{mapKey("cm", "x", true)}},
		"optional missing map": {env: []corev1.EnvVar{mapKey("x", "k", true)}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := variables(tc.env, id, sources)
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(variable{})); diff != "" {
				t.Errorf("variables (-want +got):\n%s", diff)
			}
			if message := errorText(err); message != tc.wantErr {
				t.Errorf("error %q, want %q", message, tc.wantErr)
			}
		})
	}
}

func TestInvokeExpandsThenRewritesOnce(t *testing.T) {
	t.Parallel()
	container := &corev1.Container{
		Command: []string{"/manager", "serve"},
		Args:    []string{"--dir=$(DIR)/sub", "--webhook-port", "$(WEBHOOK_PORT)", "--address=:8080", "--name=$(NOBODY)"},
	}
	vars := []variable{{"DIR", "/tmp/certs"}, {"WEBHOOK_PORT", "9876"}}
	// The target holds the mount path, so a second rewriting would show.
	mounts := []mount{{path: "/tmp/certs", target: "/tmp/certs/state"}}
	got := invoke(container, vars, mounts, map[int32]int{9876: 8080, 8080: 20000})
	want := invocation{
		args: []string{"serve", "--dir=/tmp/certs/state/sub", "--webhook-port", "8080", "--address=127.0.0.1:20000", "--name=$(NOBODY)"},
		env:  []string{"DIR=/tmp/certs/state", "WEBHOOK_PORT=8080"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(invocation{})); diff != "" {
		t.Errorf("invocation (-want +got):\n%s", diff)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
