#!/usr/bin/env bash
# linked-queue in loom with crossbeam-epoch's own atomics under loom too, and AddressSanitizer in the same program: a node
# that is freed while anybody may look at it is a heap-use-after-free in some execution. Works on the stable compiler.
#
# It checks, of the shipped queue unchanged: push beside pop, with all that pinning and the first look do, at three
# preemptions; and a pop beside a pop whose node is then handed over and freed by later participants as the epoch moves on:
# in the view weak without a bound, in the view interleaving at three preemptions. Each node is freed once.
#
# It does not check: that the epoch's accesses are seen in all interleavings (they are as written in both views, so loom's
# reduction skips some); crossbeam-epoch's bags of 64 (here 4, by its cfg crossbeam_sanitize); hand-over of a full batch of
# 32 nodes, rather than of one by a participant that ends; more than two threads; the default collector, which is not used.
# On x86 crossbeam-epoch pins by a compare-exchange where other machines have a fence: only the former runs here.
#
# First the planted faults, made from the shipped source by one replacement each: nodes freed at once instead of deferred,
# and a pop without a pin. Both must be stopped.
set -euo pipefail
cd "$(dirname "$0")/.."
source ci/lane.sh
host=$(rustc -vV | sed -n 's/^host: //p')
target="${CARGO_TARGET_DIR:-target}/lane-epoch-loom"
case $target in /*) ;; *) target=$PWD/$target ;; esac
# From within, for the paths that the planted faults are made from.
(cd ci/epoch-loom && RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR="$target" \
    RUSTFLAGS="--cfg crossbeam_loom --cfg crossbeam_sanitize -Zsanitizer=address" \
    cargo build --quiet --locked --target "$host")
LANE_PROGRAM="$target/$host/debug/epoch-loom"
# Threads of loom are stacks within a thread: the leak check sees nothing in them (the models count the nodes themselves),
# and AddressSanitizer warns once that it does not know them.
export ASAN_OPTIONS=detect_leaks=0
must_be_caught "heap-use-after-free" --plant freed-early
must_be_caught "heap-use-after-free" --plant unpinned
"$LANE_PROGRAM"
echo "epoch-loom: ok"
