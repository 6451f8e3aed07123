// SPDX-License-Identifier: Apache-2.0

package processpod

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"
	"k8s.io/utils/ptr"

	"github.com/berthgames/berth/playground/internal/freeport"
)

// identity is what a pod knows of itself.
type identity struct {
	namespace, name, uid, account string
	labels, annotations           map[string]string
}

// field returns the value of a fieldRef.
// Source: Kubernetes documentation, "Downward API", available fields.
func (id identity) field(path string) (string, error) {
	if rest, ok := strings.CutSuffix(path, "']"); ok {
		if key, ok := strings.CutPrefix(rest, "metadata.labels['"); ok {
			return id.labels[key], nil
		}
		if key, ok := strings.CutPrefix(rest, "metadata.annotations['"); ok {
			return id.annotations[key], nil
		}
	}
	switch path {
	case "metadata.name":
		return id.name, nil
	case "metadata.namespace":
		return id.namespace, nil
	case "metadata.uid":
		return id.uid, nil
	case "spec.serviceAccountName":
		return id.account, nil
	case "spec.nodeName":
		return "playground", nil
	case "status.podIP", "status.podIPs", "status.hostIP", "status.hostIPs":
		return freeport.Host, nil
	default:
		return "", fmt.Errorf("field %q is not supported", path)
	}
}

// variable is one resolved environment variable.
type variable struct{ name, value string }

// variables resolves env in its order, so that $(VAR) sees the variables before it. A variable from an optional source
// that is missing is left out.
func variables(env []corev1.EnvVar, id identity, sources Sources) ([]variable, error) {
	var out []variable
	known := map[string]string{}
	for _, e := range env {
		value, found, err := resolve(e, id, sources)
		if err != nil {
			return nil, fmt.Errorf("variable %s: %w", e.Name, err)
		}
		if !found {
			continue
		}
		if e.ValueFrom == nil {
			value = expansion.Expand(value, expansion.MappingFuncFor(known))
		}
		known[e.Name] = value
		out = append(out, variable{name: e.Name, value: value})
	}
	return out, nil
}

func resolve(e corev1.EnvVar, id identity, sources Sources) (value string, found bool, err error) {
	switch from := e.ValueFrom; {
	case from == nil:
		return e.Value, true, nil
	case from.FieldRef != nil:
		value, err = id.field(from.FieldRef.FieldPath)
		return value, true, err
	case from.ConfigMapKeyRef != nil:
		ref := from.ConfigMapKeyRef
		object, err := sources.ConfigMap(id.namespace, ref.Name)
		if err == nil {
			value, found = object.Data[ref.Key]
		}
		return value, found, missing(err, found, ref.Optional, ref.Key)
	case from.SecretKeyRef != nil:
		ref := from.SecretKeyRef
		object, err := sources.Secret(id.namespace, ref.Name)
		if err == nil {
			var raw []byte
			raw, found = object.Data[ref.Key]
			value = string(raw)
		}
		return value, found, missing(err, found, ref.Optional, ref.Key)
	default:
		return "", false, fmt.Errorf("this kind of valueFrom is not supported")
	}
}

// missing returns the error of a look-up, unless it says that something optional is not there.
func missing(err error, found bool, optional *bool, key string) error {
	absent := apierrors.IsNotFound(err) || (err == nil && !found)
	switch {
	case absent && ptr.Deref(optional, false):
		return nil
	case err == nil && !found:
		return fmt.Errorf("there is no key %q", key)
	default:
		return err
	}
}

// invocation is the command line and the environment of a process.
type invocation struct{ args, env []string }

// invoke makes the invocation of a container: it expands $(VAR), then rewrites mount paths and ports once.
func invoke(c *corev1.Container, vars []variable, mounts []mount, ports map[int32]int) invocation {
	rewrite := func(name, value string) string {
		return rewriteListen(name, rewritePaths(value, mounts), ports)
	}
	known := map[string]string{}
	var out invocation
	for _, v := range vars {
		known[v.name] = v.value
		out.env = append(out.env, v.name+"="+rewrite(v.name, v.value))
	}
	// Arguments see the variables as the manifest has them: what is rewritten must not be rewritten again.
	expand := expansion.MappingFuncFor(known)
	var args []string
	for _, list := range [][]string{c.Command[1:], c.Args} {
		for _, arg := range list {
			args = append(args, expansion.Expand(arg, expand))
		}
	}
	out.args = rewriteArgs(args, rewrite)
	return out
}
