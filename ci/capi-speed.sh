#!/usr/bin/env bash
# The 2018 benchmark through the C interface against the same in Rust, in one run: the two take turns, and the median of the
# ratios is said with its 95 % interval, and how the fastest tenths compare, which is the better figure where other work
# cuts most rounds short. Fails when a count is wrong; the speed is for a reader to judge.
#
# Where a process's memory lies makes a fifth of difference for its life, so both are started again and again: what counts is the
# median of a start's rounds, and the interval is over the starts.
#
#   ci/capi-speed.sh [STARTS [THREADS…]]
#   QUIET=300 ci/capi-speed.sh          waits for quiet moments for so long in all
set -euo pipefail
cd "$(dirname "$0")/.."
starts=${1:-31} rounds=9
threads=("${@:2}")
[ ${#threads[@]} -gt 0 ] || threads=(1 4 64)
target=${CARGO_TARGET_DIR:-target}
cargo build --quiet --release --locked -p slotwork-capi --lib --example page_compress
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
source ci/capi-turns.sh
"${CC:-cc}" -std=c11 -D_GNU_SOURCE -O2 -pthread -I crates/capi/include examples/page_compress.c -o "$work/in_c" \
    -L "$target/release" -lslotwork_capi -lz "-Wl,-rpath,$(realpath "$target/release")"
cp "$target/release/examples/page_compress" "$work/in_rust"

echo "load: $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) cores, $starts starts with $rounds rounds; requests/s; C / Rust, median of the starts"
for number in "${threads[@]}"; do
    for workload in "-m 1" "-m 16 -e"; do
        : >"$work/rounds"
        : >"$work/ratios"
        for ((start = 0; start < starts; start++)); do
            # shellcheck disable=SC2086
            player c "$work/in_c" -t "$number" $workload -s
            # shellcheck disable=SC2086
            player rust "$work/in_rust" -t "$number" $workload -s
            for ((round = -1; round <= rounds; round++)); do
                quiet
                if (((start + round) % 2)); then turn c && turn rust; else turn rust && turn c; fi
                # The first ones warm up.
                ((round < 1)) || echo "${said[c]} ${said[rust]}"
            done >"$work/start"
            finish
            [ "$(wc -l <"$work/start")" -eq "$rounds" ]
            awk '{ print $1 / $2 }' "$work/start" | ranked 0 >>"$work/ratios"
            cat "$work/start" >>"$work/rounds"
        done
        c=$(cut -d' ' -f1 "$work/rounds" | fast) rust=$(cut -d' ' -f2 "$work/rounds" | fast)
        printf 'threads %2d, %-7s C / Rust %.3f (%.3f to %.3f); fastest tenth C %8.0f, Rust %8.0f, C / Rust %.3f\n' \
            "$number" "$([[ $workload == *-e ]] && echo empty: || echo 'zlib 1:')" \
            "$(ranked 0 <"$work/ratios")" "$(ranked -1.96 <"$work/ratios")" "$(ranked 1.96 <"$work/ratios")" \
            "$c" "$rust" "$(awk -v c="$c" -v rust="$rust" 'BEGIN { print c / rust }')"
    done
done
echo "$disturbed rounds began while something else ran"
