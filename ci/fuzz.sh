#!/usr/bin/env bash
# Fuzzes all that reads what comes from outside: shapes and the designs' limits, the command line, what else is written as
# words (weakenings, views, parts, replay lines), files of proofs, kept results, packed streams.
# ci/fuzz.sh [SECONDS]   per target, 15 by default. Works on the stable compiler.
# First the planted fault, a target that asserts too much, which must crash. Each target has a floor of executions.
# It looks for panics, hangs, and what the targets assert; not for memory errors: there is no sanitizer in it.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! cargo fuzz --version >/dev/null 2>&1; then
    echo "not run: cargo-fuzz is not installed here (cargo install cargo-fuzz)"
    exit 0
fi
seconds=${1:-15}
export RUSTC_BOOTSTRAP=1
lane="${CARGO_TARGET_DIR:-target}/lane-fuzz"
unset CARGO_TARGET_DIR
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fuzz() {
    local target=$1
    shift
    mkdir -p "$work/$target"
    cp ci/fuzz/seeds/"$target"/* "$work/$target/" 2>/dev/null || true
    cargo fuzz run --fuzz-dir ci/fuzz --sanitizer none --target-dir "$lane" "$target" "$work/$target" -- \
        -artifact_prefix="$work/" -print_final_stats=1 -timeout=10 -max_len=4096 "$@" 2>&1
}
if output=$(fuzz planted -max_total_time=60); then
    echo "$output"
    echo "the planted fault was not found" >&2
    exit 1
fi
grep -q "planted: " <<<"$output" || { echo "$output"; echo "it ended, but not by the planted fault" >&2; exit 1; }
echo "plant caught: a shape that is refused"
for target in shape words command_line proofs record stream; do
    if ! output=$(fuzz "$target" -max_total_time="$seconds"); then
        tail -40 <<<"$output"
        echo "$target: FAILED" >&2
        exit 1
    fi
    executions=$(sed -n 's/^stat::number_of_executed_units: *//p' <<<"$output")
    coverage=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' <<<"$output" | tail -1)
    echo "$target: $executions inputs in $seconds s, $coverage edges covered"
    [ "$executions" -ge 1000 ] || { echo "$target: too few inputs" >&2; exit 1; }
done
echo "fuzz: ok"
