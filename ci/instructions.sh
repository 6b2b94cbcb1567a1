#!/usr/bin/env bash
# Instructions of a round trip on one thread, for every design and peer, counted by callgrind: the same on a noisy machine.
#
#   ci/instructions.sh          compares with ci/instructions.csv: a design beyond its figure by more than LOSS (5) % fails
#   ci/instructions.sh --keep   writes that file anew
#
# First the planted fault: a design that makes each eighth round trip twice must be found too expensive.
# The figures belong to a compiler. With another one they are shown and not compared, and that is said.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v valgrind >/dev/null; then
    echo "not run: valgrind is not installed here"
    exit 0
fi
kept=ci/instructions.csv
loss=${LOSS:-5}
compiler=$(rustc --version)
cargo build --quiet --release --locked -p slotwork-bench --example instructions
program="${CARGO_TARGET_DIR:-target}/release/examples/instructions"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# counted NAME COUNT [planted]: all instructions of a run.
counted() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$@" 2>&1 |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

# each NAME [planted]: instructions of a round trip, to a tenth.
each() {
    local few many
    few=$(counted "$1" 1000 "${@:2}") many=$(counted "$1" 11000 "${@:2}")
    if [ -z "$few" ] || [ -z "$many" ]; then
        echo "no count of $1" >&2
        exit 1
    fi
    awk -v few="$few" -v many="$many" 'BEGIN { printf "%.1f", (many - few) / 10000 }'
}

# beyond FIGURE KEPT: whether the figure is a loss.
beyond() { awk -v figure="$1" -v kept="$2" -v loss="$loss" 'BEGIN { exit !(figure > kept * (1 + loss / 100)) }'; }

first=$("$program" | head -n 1)
sound=$(each "$first")
planted=$(each "$first" planted)
if ! beyond "$planted" "$sound"; then
    echo "the planted fault was not found: $first takes $sound instructions, and $planted with it" >&2
    exit 1
fi
if beyond "$(each "$first")" "$sound"; then
    echo "the same program counts differently twice" >&2
    exit 1
fi
echo "plant caught: $first takes $sound instructions a round trip, and $planted with the planted fault"

echo "design,instructions,compiler" >"$work/new.csv"
failed=0
while read -r name; do
    figure=$(each "$name")
    echo "$name,$figure,$compiler" >>"$work/new.csv"
    line=$(grep "^$name," "$kept" 2>/dev/null || true)
    old=$(cut -d, -f2 <<<"$line")
    of=$(cut -d, -f3 <<<"$line")
    if [ -z "$line" ]; then
        verdict="new"
    elif [ "$of" != "$compiler" ]; then
        verdict="not compared: the kept figure, $old, is of $of"
    elif beyond "$figure" "$old"; then
        verdict="LOSS: it was $old"
        failed=1
    else
        verdict="kept: $old"
    fi
    printf '%-24s %8s  %s\n' "$name" "$figure" "$verdict"
done < <("$program")
if [ "${1:-}" = --keep ]; then
    cp "$work/new.csv" "$kept"
    echo "written: $kept"
    exit 0
fi
exit "$failed"
