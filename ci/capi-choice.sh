#!/usr/bin/env bash
# What the 2018 interface should run on: its benchmark with each design in each dispatch, and ways of waiting, all taking turns. Says for
# each the median of the ratios to the first one with its 95 % interval, by threads and handler, and the geometric mean; then the same of
# the fastest tenths, which is the better figure where other work cuts most rounds short.
#
# All are started again and again, as in ci/capi-speed.sh.
#
#   ci/capi-choice.sh [STARTS [DESIGN/WAITING/DISPATCH…]]
#   THREADS="64" ci/capi-choice.sh      instead of 1, 4 and 64
set -euo pipefail
cd "$(dirname "$0")/.."
starts=${1:-11} rounds=3
choices=("${@:2}")
read -ra threads <<<"${THREADS:-1 4 64}"
target=${CARGO_TARGET_DIR:-target}
cargo build --quiet --release --locked -p slotwork-capi --lib
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
source ci/capi-turns.sh
compile() {
    "${CC:-cc}" -std=c11 -D_GNU_SOURCE -O2 -pthread -I crates/capi/include "$1" -o "$2" -L "$target/release" -lslotwork_capi -lz \
        "-Wl,-rpath,$(realpath "$target/release")"
}
compile examples/page_compress.c "$work/in_c"
in_c() {
    IFS=/ read -r design waiting dispatch <<<"$1"
    exec env SLOTWORK_DESIGN="$design" SLOTWORK_WAITING="$waiting" SLOTWORK_DISPATCH="$dispatch" "$work/in_c" "${@:2}"
}

# The default, then every design of the library in every dispatch that it has, then other ways of waiting.
if [ ${#choices[@]} -eq 0 ]; then
    cat >"$work/designs.c" <<'END'
#include <stdio.h>
#include "slotwork.h"
int main(void) { const char *name; for (size_t i = 0; (name = slotwork_design_name(i)); i++) puts(name); }
END
    compile "$work/designs.c" "$work/designs"
    default=$(sed -n 's/.*const ONE_SUBMITTER: &str = "\(.*\)";/\1/p' crates/capi/src/choice.rs)
    choices=("$default/settle/round-robin")
    while read -r design; do
        for dispatch in round-robin fill-first; do
            choice=$design/settle/$dispatch
            [ "$choice" != "${choices[0]}" ] || continue
            # Refused where the design has no such dispatch.
            if (in_c "$choice" -t 1 -m 0 -c 0) 2>/dev/null; then choices+=("$choice"); fi
        done
    done < <("$work/designs")
    # Not those that never sleep: they would not leave the others alone.
    for waiting in park busy-1000; do choices+=("$default/$waiting/round-robin"); done
fi

echo "load: $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) cores, $starts starts with $rounds rounds; requests/s as part of ${choices[0]}'s"
mkdir "$work/cells"
for number in "${threads[@]}"; do
    for workload in "-m 1" "-m 16 -e"; do
        cell="$work/cells/$number-$([[ $workload == *-e ]] && echo empty || echo zlib)"
        for ((start = 0; start < starts; start++)); do
            for choice in "${choices[@]}"; do
                # shellcheck disable=SC2086
                player "${choice//\//+}" in_c "$choice" -t "$number" $workload -s
            done
            for ((round = 0; round <= rounds; round++)); do
                # Each round begins with another one.
                quiet
                for ((i = 0; i < ${#choices[@]}; i++)); do
                    choice=${choices[(i + start + round) % ${#choices[@]}]}
                    turn "${choice//\//+}"
                done
                # The first one warms up.
                ((round < 1)) || for choice in "${choices[@]}"; do
                    echo "$choice ${said[${choice//\//+}]} ${said[${choices[0]//\//+}]}"
                done >>"$cell"
            done
            finish
        done
    done
done
for choice in "${choices[@]}"; do
    for number in "${threads[@]}"; do
        for handler in zlib empty; do
            awk -v choice="$choice" '$1 == choice { print $2, $3 }' "$work/cells/$number-$handler" >"$work/rounds"
            [ "$(wc -l <"$work/rounds")" -eq $((starts * rounds)) ]
            awk '{ print $1 / $2 }' "$work/rounds" >"$work/ratios"
            echo "$number $handler $(ranked 0 <"$work/ratios") $(ranked -1.96 <"$work/ratios") $(ranked 1.96 <"$work/ratios")" \
                "$(cut -d' ' -f1 "$work/rounds" | fast) $(cut -d' ' -f2 "$work/rounds" | fast)"
        done
    done >"$work/${choice//\//+}.figures"
    awk -v choice="$choice" '{ line = line sprintf("  %s %s %.2f (%.2f to %.2f)", $1, $2, $3, $4, $5); sum += log($3) }
        END { printf "%.3f mean  %-30s%s\n", exp(sum / NR), choice, line }' "$work/${choice//\//+}.figures" >>"$work/medians"
    awk -v choice="$choice" '{ line = line sprintf("  %s %s %.2f", $1, $2, $6 / $7); sum += log($6 / $7) }
        END { printf "%.3f mean  %-30s%s\n", exp(sum / NR), choice, line }' "$work/${choice//\//+}.figures" >>"$work/fastest"
done
sort -gr "$work/medians"
echo "the fastest tenth of the rounds:"
sort -gr "$work/fastest"
echo "$disturbed rounds began while something else ran"
