// SPDX-License-Identifier: Apache-2.0

// Package kruiseassets holds what a cluster needs before OpenKruise's manager can run as a local process, and how that
// process is started.
//
// The manifests in kruise.yaml are rendered from the config folder of OpenKruise (github.com/openkruise/kruise,
// Apache-2.0, version in playground/kruise/go.mod): namespaces, CustomResourceDefinitions, RBAC, ServiceAccounts, the
// webhook secret, service and configurations. Its Deployment and DaemonSet are left out.
package kruiseassets

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

//go:generate go run ./render -kruise ../../kruise -out kruise.yaml

//go:embed kruise.yaml
var manifests string

// Objects returns the objects to create, in an order in which each finds what it needs. Create them once: the manager
// changes its CustomResourceDefinitions and webhook configurations, and applying them again would fight with it.
func Objects() ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(manifests), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("decoding object %d of kruise.yaml: %w", len(objects), err)
		}
		if len(object.Object) > 0 { // a document may hold comments only
			objects = append(objects, object)
		}
	}
}
