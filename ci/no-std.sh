#!/usr/bin/env bash
# The core and every design without std: builds and runs a program that has none, refuses one that has, and shows
# the error for a target that lacks 64-bit atomics. Needs a C library to link with, and no installed target.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/no-std"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The crates of the program below, which drives every design, and what is below them.
mapfile -t packages < <(sed -n 's/^\(slotwork[a-z-]*\) = .*/\1/p' ci/no-std/Cargo.toml)
[ "${#packages[@]}" -ge 7 ]
packages+=(slotwork-free-list)
for package in "${packages[@]}"; do
    cargo check --quiet --locked --package "$package" --no-default-features
    echo "no_std: $package checks without std"
done

# Every design of the catalog is in that program.
sed -n '/^catalog!\[/,/^\];/s/.*: \(slotwork_.*\),/\1/p' crates/catalog/src/lib.rs >"$work/designs"
[ "$(wc -l <"$work/designs")" -ge 12 ]
while read -r design; do
    grep -q "circle::<$design>" ci/no-std/src/main.rs || { echo "no_std: FAILED: $design is not driven" >&2; exit 1; }
done <"$work/designs"

for features in "" "slotwork-linked-queue"; do
    cargo run --quiet --manifest-path ci/no-std/Cargo.toml --features "$features"
    echo "no_std: a program without std drives the designs (features: ${features:-none})"
done

if cargo build --quiet --manifest-path ci/no-std/Cargo.toml --features known-bad 2>"$work/known-bad"; then
    echo "no_std: FAILED: a program with std was not refused" >&2
    exit 1
fi
grep -q "duplicate lang item.*panic_impl\|found duplicate lang item" "$work/known-bad"
echo "no_std: a program with std is refused"

# The requirement alone, compiled for targets that need not be installed: the compiler knows what they have, and the
# file needs nothing of core but the macro.
requirement() {
    {
        echo '#![feature(no_core, rustc_attrs)] #![no_core] #![allow(internal_features)]'
        echo '#[rustc_builtin_macro] macro_rules! compile_error { ($message:expr) => {}; }'
        grep -v '^//!' crates/slotwork/src/requirements.rs
    } >"$work/requirement.rs"
    RUSTC_BOOTSTRAP=1 rustc --edition 2024 --crate-type lib --emit metadata --target "$1" \
        --out-dir "$work" "$work/requirement.rs" 2>"$work/errors"
}
for target in thumbv7m-none-eabi armv5te-unknown-linux-gnueabi riscv32imac-unknown-none-elf; do
    if requirement "$target"; then
        echo "no_std: FAILED: $target was not refused" >&2
        exit 1
    fi
    grep -q "slotwork needs atomics" "$work/errors" || { cat "$work/errors" >&2; exit 1; }
    echo "no_std: $target is refused: $(grep -m1 -o 'slotwork needs atomics.*' "$work/errors")"
done
for target in x86_64-unknown-none aarch64-unknown-none riscv64gc-unknown-none-elf armv7a-none-eabi; do
    requirement "$target" || { cat "$work/errors" >&2; exit 1; }
    echo "no_std: $target has what is needed"
done

# The whole of it for bare machines, where their core is installed (rustup target add): one that has what is needed, and a
# small one that has not, which must be refused by the contract's own words.
bare() { cargo check --quiet --locked --target "$1" --no-default-features "${packages[@]/#/--package=}"; }
installed() { [ -d "$(rustc --print sysroot)/lib/rustlib/$1/lib" ]; }
not_run() {
    echo "no_std: $1: NOT RUN, its core is not installed"
    [ -z "${CI:-}" ] || exit 1
}
for target in x86_64-unknown-none aarch64-unknown-none; do
    if installed "$target"; then
        bare "$target"
        echo "no_std: $target: all designs check"
    else
        not_run "$target"
    fi
done
target=thumbv7em-none-eabihf
if installed "$target"; then
    if bare "$target" 2>"$work/errors"; then
        echo "no_std: FAILED: $target was not refused" >&2
        exit 1
    fi
    grep -q "slotwork needs atomics" "$work/errors" || { cat "$work/errors" >&2; exit 1; }
    echo "no_std: $target: refused: $(grep -m1 -o 'slotwork needs atomics.*' "$work/errors")"
else
    not_run "$target"
fi
