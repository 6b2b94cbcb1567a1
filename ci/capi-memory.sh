#!/usr/bin/env bash
# The C tests under AddressSanitizer (with its leak check) and under valgrind: no invalid access, no leak. Each tool first has
# to find the bugs that are planted for it.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
cargo build --quiet --locked -p slotwork-capi --lib
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
library=$(realpath "$target/debug/libslotwork_capi.a")

compile() {
    local name=$1 output=$2
    shift 2
    "${CC:-cc}" -std=c11 -D_GNU_SOURCE -O1 -g -pthread "$@" -I crates/capi/include "crates/capi/tests/c/$name.c" \
        -o "$work/$output" "$library" -lgcc_s -lm -ldl
}

# How a tool is run. A queue that is never destroyed is no leak to either: its threads still have it.
tests() { "$work/$1" | grep -v 'misuse\|^debug_'; }
asan() { ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:allocator_may_return_null=1 "$@"; }
grind() { valgrind --quiet --leak-check=full --show-leak-kinds=definite,indirect --errors-for-leak-kinds=definite,indirect --error-exitcode=9 --fair-sched=yes "$@"; }

for tool in asan grind; do
    if [ "$tool" = grind ] && ! command -v valgrind >/dev/null; then
        echo "valgrind: NOT RUN, it is not there"
        [ -z "${CI:-}" ] || exit 1
        continue
    fi
    flags=()
    [ "$tool" = asan ] && flags=(-fsanitize=address)
    for program in planted threaded_workqueue slotwork; do
        compile "$program" "$program-$tool" "${flags[@]}"
    done
    for bug in use_after_destroy write_before_start leaked_by_init; do
        if "$tool" "$work/planted-$tool" "$bug" >"$work/log" 2>&1; then
            echo "$tool: FAILED: planted $bug was not found" >&2
            exit 1
        fi
        grep -q 'AddressSanitizer\|LeakSanitizer\|Invalid \|definitely lost\|indirectly lost' "$work/log" || { cat "$work/log" >&2; exit 1; }
        echo "$tool: planted $bug is found"
    done
    # Fewer cycles than in the plain tests: a tool is slow, and a leak shows at once.
    export CYCLES=300 CHECKER=$tool
    for program in threaded_workqueue slotwork; do
        for test in $(tests "$program-$tool"); do
            "$tool" "$work/$program-$tool" "$test" >"$work/log" 2>&1 || { cat "$work/log" >&2; echo "$tool: FAILED: $test" >&2; exit 1; }
            echo "$tool: $program $test"
        done
    done
done
