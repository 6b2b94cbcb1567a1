#!/usr/bin/env bash
# Miri over the contract's and the designs' own tests: undefined behaviour, and weak memory by many seeds.
# It runs where Miri is installed, and says so where it is not. First the planted fault, which must be stopped.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! cargo miri --version >/dev/null 2>&1; then
    echo "not run: Miri is not installed here (rustup component add miri)"
    exit 0
fi
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/lane-miri" MIRIFLAGS="-Zmiri-ignore-leaks"
if output=$(cargo miri run --quiet --package slotwork-catalog --example lane_stress -- --plant address 2>&1); then
    echo "the planted fault was not caught" >&2
    exit 1
fi
grep -q "Undefined Behavior" <<<"$output" || { echo "$output"; echo "it ended, but not by Miri" >&2; exit 1; }
echo "plant caught: Undefined Behavior"
MIRIFLAGS="-Zmiri-many-seeds=0..16" cargo miri test --package slotwork --package slotwork-free-list --lib
echo "miri: ok"
