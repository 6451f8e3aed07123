#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Prints the -ldflags value for the playground binary. Without it the components report version v0.0.0-master, which
# kubectl cannot compare with its own.
# Usage: go build -ldflags "$(./ldflags.sh)" -o ../bin/playground ./cmd/playground
set -eu
version=v1.37.2
minor=${version#v1.}
for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
	printf '%s' "-X $package.gitVersion=$version -X $package.gitMajor=1 -X $package.gitMinor=${minor%%.*} -X $package.gitTreeState=clean -X $package.gitCommit=playground "
done
