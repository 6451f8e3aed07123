#!/usr/bin/env bash
# The demo: a real control plane, Berth on it, ten game servers with addresses. Needs no answer from anybody.
set -euo pipefail
cd "$(dirname "$0")/.."
export BIN=${BIN:-$PWD/bin} STATE=${STATE:-$PWD/.playground}
hack/up.sh
kubeconfig=$("$BIN/playground" --state "$STATE" kubeconfig)
"$BIN/demo" --kubeconfig "$kubeconfig" --sample manifests/samples/arena.yaml
cat <<TXT

The cluster goes on running. To look around:
  export KUBECONFIG=$kubeconfig
  kubectl get gss,gs -o wide          (no kubectl at hand? bin/playground kubectl -- get gss,gs)
  kubectl scale gss arena --replicas=20
  bin/playground status
To stop it and leave nothing behind:
  make down
TXT
