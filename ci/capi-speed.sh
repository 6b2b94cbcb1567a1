#!/usr/bin/env bash
# The 2018 benchmark through the C interface against the same in Rust, in one run: interleaved rounds, the ratio of each
# round, and the median of the ratios. Fails when a count is wrong; says how far apart they are, for a machine at rest.
#
#   ci/capi-speed.sh [ROUNDS]
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-21}
target=${CARGO_TARGET_DIR:-target}
cargo build --quiet --release --locked -p slotwork-capi --lib --example page_compress
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${CC:-cc}" -std=c11 -D_GNU_SOURCE -O2 -pthread -I crates/capi/include examples/page_compress.c -o "$work/in_c" \
    -L "$target/release" -lslotwork_capi -lz "-Wl,-rpath,$(realpath "$target/release")"
cp "$target/release/examples/page_compress" "$work/in_rust"

speed() { "$work/$1" "${@:2}" -c 1 | sed 's/.*requests_per_second=\([0-9]*\).*/\1/'; }

echo "load: $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) cores, $rounds rounds"
for threads in 1 4 64; do
    for workload in "-m 8" "-m 64 -e"; do
        for round in $(seq "$rounds"); do
            # shellcheck disable=SC2086
            if ((round % 2)); then
                c=$(speed in_c -t "$threads" $workload) rust=$(speed in_rust -t "$threads" $workload)
            else
                rust=$(speed in_rust -t "$threads" $workload) c=$(speed in_c -t "$threads" $workload)
            fi
            echo "$c $rust"
        done | awk '{ print $1 / $2, $1, $2 }' >"$work/rounds"
        [ "$(wc -l <"$work/rounds")" -eq "$rounds" ]
        # The value of a column at a quarter of the way, in order.
        quarter() { sort -g -k "$1,$1" "$work/rounds" | awk -v at=$(((rounds - 1) * $2 / 4 + 1)) -v column="$1" 'NR == at { print $column }'; }
        printf 'threads %2d, %-9s C %8d, Rust %8d requests/s (medians); C / Rust %.3f (quartiles %.3f to %.3f)\n' \
            "$threads" "$([[ $workload == *-e ]] && echo empty: || echo 'zlib 1:')" \
            "$(quarter 2 2)" "$(quarter 3 2)" "$(quarter 1 2)" "$(quarter 1 1)" "$(quarter 1 3)"
    done
done
