#!/usr/bin/env bash
# ThreadSanitizer over the designs that have atomics of their own: plain accesses that race (CONDITIONAL-ORDER).
# First the planted fault, a plain read beside an atomic write, which must be reported. Works on the stable compiler.
# It does not understand fences, nor std's uninstrumented mutex: designs that lock are left out.
set -euo pipefail
cd "$(dirname "$0")/.."
source ci/lane.sh
build_lane tsan "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer"
export TSAN_OPTIONS="suppressions=$PWD/ci/tsan-suppressions.txt halt_on_error=1 exitcode=66"
must_be_caught "data race" --plant thread
"$LANE_PROGRAM" --without-locks
echo "tsan: ok"
