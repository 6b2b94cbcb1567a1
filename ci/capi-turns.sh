# Programs that take turns: sourced by ci/capi-speed.sh and ci/capi-choice.sh. All are there throughout, and each runs for a few
# milliseconds when it is asked; what is compared is the ratio within a round, so that what else the machine does meets all of
# them. Needs $work, a folder.

declare -A asks says players said

# Starts a command, which has to end by `exec`, as the player of this name.
player() {
    local name=$1 ask say
    shift
    mkfifo "$work/ask-$name" "$work/say-$name"
    # What others are asked through is closed to it, or they would not see the end of it.
    (
        for ask in "${asks[@]}" "${says[@]}"; do exec {ask}>&-; done
        "$@"
    ) <"$work/ask-$name" >"$work/say-$name" &
    players[$name]=$!
    exec {ask}>"$work/ask-$name" {say}<"$work/say-$name"
    asks[$name]=$ask says[$name]=$say
    rm "$work/ask-$name" "$work/say-$name"
}

# One run of it; the requests per second go to $said.
turn() {
    local line
    echo >&"${asks[$1]}"
    read -r line <&"${says[$1]}"
    line=${line#*requests_per_second=}
    said[$1]=${line%% *}
}

# Waits until nothing else wants a processor, for at most $QUIET seconds (60) in the whole run; then a round is taken as it
# comes, and counted in $disturbed.
disturbed=0
waited=0
quiet() {
    local running start=${EPOCHREALTIME//[^0-9]/}
    while read -r _ _ _ running _ </proc/loadavg && [ "${running%%/*}" -gt 1 ]; do
        if ((waited + ${EPOCHREALTIME//[^0-9]/} - start > ${QUIET:-60} * 1000000)); then
            disturbed=$((disturbed + 1))
            break
        fi
        read -rt 0.005 <&"$never" || true
    done
    waited=$((waited + ${EPOCHREALTIME//[^0-9]/} - start))
}
mkfifo "$work/never"
exec {never}<>"$work/never"

# Ends all players. Each compares what was submitted with what was done, in every run: a wrong count fails here.
finish() {
    local name ask say failed=0
    for name in "${!players[@]}"; do
        ask=${asks[$name]} say=${says[$name]}
        exec {ask}>&-
        wait "${players[$name]}" || failed=1
        exec {say}<&-
    done
    asks=() says=() players=() said=()
    return "$failed"
}

# Of the numbers on standard input: the one whose rank is so many standard deviations of the median's rank from the middle. 0 is
# the median; -1.96 and 1.96 are the ends of its 95 % interval, whatever the distribution.
ranked() {
    sort -g | awk -v away="$1" '
        { value[NR] = $1 }
        END {
            at = int((NR + 1) / 2 + away * sqrt(NR) / 2 + 0.5)
            if (at < 1) at = 1
            if (at > NR) at = NR
            print value[at]
        }'
}

# Of the numbers on standard input: the one that a tenth of them exceed. On a busy machine those rounds are left alone.
fast() { sort -g | awk '{ value[NR] = $1 } END { at = int(NR * 0.9 + 0.5); if (at < 1) at = 1; print value[at] }'; }
