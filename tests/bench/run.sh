#!/bin/sh
# One cluster, whole process: gpuctl against tools that do comparable work. Ratios of one run on
# one machine, never a test.
#   tests/bench/run.sh [GPUCTL] [BLUEPRINT]
set -eu
cd "$(dirname "$0")/../.."
exec python3 tests/bench/run.py "$@"
