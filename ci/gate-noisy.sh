#!/usr/bin/env bash
# The gate on the real machine, noisy as it is: the same program against itself must never be a loss, and a planted stall must be
# one. Pairs of runs are added until the gate can tell, or there are MOST of them. Says what came out, time by time.
#
#   ci/gate-noisy.sh [TIMES [PERCENT [MOST [PROFILE]]]]        20 times, a stall of 10 %, at most 12 pairs, release
set -euo pipefail
cd "$(dirname "$0")/.."
times=${1:-20} percent=${2:-10} most=${3:-12} profile=${4:-release}
target=${CARGO_TARGET_DIR:-target}
folder=$profile
[ "$profile" = dev ] && folder=debug
cargo build --quiet --locked --profile "$profile" -p slotwork-bench --bin slotwork --example planted
planted=$target/$folder/examples/planted
slotwork=$target/$folder/slotwork
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# trial NAME HEAD-ARGUMENTS…: adds pairs until the gate can tell; sets code and pairs.
trial() {
    local name=$1 last
    shift
    code=3 pairs=0
    mkdir "$work/$name"
    local base=() head=()
    while [ "$code" = 3 ] && [ "$pairs" -lt "$most" ]; do
        pairs=$((pairs + 1))
        "$planted" "$work/$name/base$pairs.json"
        "$planted" "$work/$name/head$pairs.json" "$@"
        base+=("$work/$name/base$pairs.json") head+=("$work/$name/head$pairs.json")
        # Two pairs at least: one may be a stroke of luck.
        [ "$pairs" -ge 2 ] || continue
        code=0
        "$slotwork" gate --base "${base[@]}" --head "${head[@]}" --max-loss 5% >"$work/$name/said" || code=$?
        [ "$code" != 2 ] || { echo "gate-noisy: FAILED, the runs do not fit" >&2; exit 1; }
    done
    last=$(grep -o '[0-9.]* % from run to run' "$work/$name/said" || true)
    echo "$name: code $code after $pairs pairs; unchanged code moves by ${last:-?}; load $(cut -d' ' -f1 /proc/loadavg)"
}

declare -A same=([0]=0 [1]=0 [3]=0) slow=([0]=0 [1]=0 [3]=0)
for time in $(seq "$times"); do
    trial "same-$time"
    same[$code]=$((same[$code] + 1))
    [ "$code" != 1 ] || cat "$work/same-$time/said"
    trial "slow-$time" "double-list=$percent"
    slow[$code]=$((slow[$code] + 1))
    grep double-list "$work/slow-$time/said" || true
    # Somebody else blamed is a false alarm too.
    if grep -q "^LOSS: .*\(bitmap\|lock\)" "$work/slow-$time/said"; then
        cat "$work/slow-$time/said"
        same[1]=$((same[1] + 1))
    fi
done
echo "the same code:      ${same[0]} pass, ${same[1]} loss, ${same[3]} cannot tell"
echo "a stall of $percent %: ${slow[0]} pass, ${slow[1]} loss, ${slow[3]} cannot tell"
if [ "${same[1]}" -gt 0 ] || [ "${slow[0]}" -gt 0 ]; then
    echo "gate-noisy: FAILED" >&2
    exit 1
fi
if [ "${same[3]}" -gt 0 ] || [ "${slow[3]}" -gt 0 ]; then
    echo "gate-noisy: NOT TOLD each time: nothing was wrong, but this machine was too noisy for $most pairs" >&2
    exit 3
fi
echo "gate-noisy: ok"
