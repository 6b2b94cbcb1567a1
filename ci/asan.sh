#!/usr/bin/env bash
# AddressSanitizer over every design: reads and writes of freed or foreign memory.
# First the planted fault, a node read after it was freed, which must be stopped. Works on the stable compiler.
set -euo pipefail
cd "$(dirname "$0")/.."
source ci/lane.sh
build_lane asan "-Zsanitizer=address"
export ASAN_OPTIONS=detect_leaks=0
must_be_caught "heap-use-after-free" --plant address
"$LANE_PROGRAM"
echo "asan: ok"
