#!/bin/sh
# gpuctl against tools that do comparable work, for 1 to 10,000 clusters. Ratios of one run on
# one machine, never a test.
#   tests/bench/run.sh [GPUCTL] [--sizes 1,10,100,1000,10000] [--sample NAME]
set -eu
cd "$(dirname "$0")/../.."
exec python3 tests/bench/run.py "$@"
