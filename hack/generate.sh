#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Writes everything that is generated from the Go types in api/: deep copy functions, the CRDs in manifests/crd, and the
# packages in client/. A second run changes nothing. The generators are pinned in tools/go.mod.
set -euo pipefail
cd "$(dirname "$0")/.."

module=github.com/berthgames/berth
group=game/v1alpha1
types=$module/api/$group
header=hack/boilerplate.go.txt

tool() {
	go tool -modfile=tools/go.mod "$@"
}

tool controller-gen object:headerFile=$header paths=./api/game/...
tool controller-gen crd paths=./api/game/... output:crd:dir=manifests/crd

# A kind that is gone must not leave files behind.
rm -rf client

# Types of Kubernetes whose fields an apply configuration must be able to leave out, with the types in them that the
# generator writes setters for. A pod status is always copied whole, so it stays a plain value.
external=
for type in PodTemplateSpec PodSpec PersistentVolumeClaim ResourceRequirements \
	Probe ProbeHandler ExecAction GRPCAction HTTPGetAction TCPSocketAction; do
	external+=k8s.io/api/core/v1.$type:k8s.io/client-go/applyconfigurations/core/v1,
done

tool applyconfiguration-gen --go-header-file=$header \
	--output-pkg=$module/client/applyconfiguration --output-dir=client/applyconfiguration \
	--external-applyconfigurations="${external%,}" \
	$types

tool client-gen --go-header-file=$header --clientset-name=versioned \
	--input-base=$module/api --input=$group \
	--apply-configuration-package=$module/client/applyconfiguration \
	--output-pkg=$module/client/clientset --output-dir=client/clientset

tool lister-gen --go-header-file=$header \
	--output-pkg=$module/client/listers --output-dir=client/listers \
	$types

tool informer-gen --go-header-file=$header \
	--versioned-clientset-package=$module/client/clientset/versioned \
	--listers-package=$module/client/listers \
	--output-pkg=$module/client/informers --output-dir=client/informers \
	$types
