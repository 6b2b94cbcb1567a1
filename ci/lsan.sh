#!/usr/bin/env bash
# LeakSanitizer over every design: memory that nobody can free any more.
# First the planted fault, a forgotten client, which must be reported. Works on the stable compiler.
set -euo pipefail
cd "$(dirname "$0")/.."
source ci/lane.sh
build_lane lsan "-Zsanitizer=leak"
must_be_caught "detected memory leaks" --plant leak
"$LANE_PROGRAM"
echo "lsan: ok"
