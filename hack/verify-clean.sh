#!/usr/bin/env bash
# Fails when regenerating changed a generated file: somebody changed a type and forgot `make generate`.
set -euo pipefail
cd "$(git rev-parse --show-toplevel)"
stale=$(git status --porcelain -- client manifests/crd ':(glob)api/**/zz_generated*')
if [ -n "$stale" ]; then
	printf 'Generated files differ from what is committed. Run make generate and commit:\n%s\n' "$stale" >&2
	exit 1
fi
