#!/usr/bin/env bash
# Runs one build step and says what it was and how long it took: step.sh "what" command...
set -euo pipefail
what=$1
shift
start=$(date +%s)
printf '==> %s ...\n' "$what"
"$@"
printf '    %s: %ss\n' "$what" "$(($(date +%s) - start))"
