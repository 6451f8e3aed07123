#!/usr/bin/env bash
# Starts the playground and installs Berth on it, exactly from manifests/. Running it again is fine.
set -euo pipefail
cd "$(dirname "$0")/.."
export BIN=${BIN:-$PWD/bin} STATE=${STATE:-$PWD/.playground}
playground=("$BIN/playground" --state "$STATE")
"${playground[@]}" up --nodes "${NODES:-5}" "$@"
for layer in manifests/default manifests/scheduler; do
	"${playground[@]}" install -k "$layer" --binary "manager=$BIN/manager" --binary "scheduler=$BIN/scheduler"
done
