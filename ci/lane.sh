# What the sanitizers' lanes share; to be sourced, from the root of the workspace.

# build_lane NAME FLAGS: the stress program in a target folder of its own. Sets LANE_PROGRAM.
build_lane() {
    local name=$1 flags=$2 host
    host=$(rustc -vV | sed -n 's/^host: //p')
    local target="${CARGO_TARGET_DIR:-target}/lane-$name"
    RUSTC_BOOTSTRAP=1 RUSTFLAGS="$flags" CARGO_TARGET_DIR="$target" \
        cargo build --quiet --package slotwork-catalog --example lane_stress --target "$host"
    LANE_PROGRAM="$target/$host/debug/examples/lane_stress"
}

# must_be_caught TEXT ARGUMENTS…: the planted fault is stopped, and this is what the sanitizer says of it.
must_be_caught() {
    local text=$1 output
    shift
    if output=$("$LANE_PROGRAM" "$@" 2>&1); then
        echo "$output"
        echo "the planted fault ($*) was not caught" >&2
        exit 1
    fi
    if ! grep -q "$text" <<<"$output"; then
        echo "$output"
        echo "the planted fault ($*) ended the program, but not with '$text'" >&2
        exit 1
    fi
    echo "plant caught: $text"
}
