#!/usr/bin/env bash
# cargo-mutants over designs and pool: is there a test that notices when the code is changed?
# ci/mutants.sh FILE…   those files only, each a path from the root; without any, what .cargo/mutants.toml names.
# MUTANTS_TESTS names the packages whose tests must notice, if fewer will do; MUTANTS_TARGETS the test targets in them;
# MUTANTS_TIMEOUT the seconds after which a test is an endless loop, and so noticed, 120 at least by default.
# First the planted fault: a crate with a function that no test calls, whose mutants must be reported as missed.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! cargo mutants --version >/dev/null 2>&1; then
    echo "not run: cargo-mutants is not installed here (cargo install cargo-mutants)"
    exit 0
fi
lane="${CARGO_TARGET_DIR:-target}/lane-mutants"
mkdir -p "$lane"
unset CARGO_TARGET_DIR

plant=$(mktemp -d)
trap 'rm -rf "$plant"' EXIT
mkdir "$plant/src"
printf '[package]\nname = "plant"\nversion = "0.1.0"\nedition = "2024"\n[workspace]\n' >"$plant/Cargo.toml"
printf 'pub fn untested(a: u32) -> u32 {\n    a + 1\n}\n' >"$plant/src/lib.rs"
if cargo mutants --dir "$plant" --output "$plant" --timeout 60 >/dev/null 2>&1; then
    echo "the planted fault, an untested function, was not reported" >&2
    exit 1
fi
grep -q "untested" "$plant/mutants.out/missed.txt" || { echo "the planted mutants were not missed" >&2; exit 1; }
echo "plant caught: $(wc -l <"$plant/mutants.out/missed.txt") mutants of an untested function are missed"

arguments=()
if [ $# -gt 0 ]; then
    # Named files instead of the configured ones, with the same tests.
    arguments=(--no-config --minimum-test-timeout "${MUTANTS_TIMEOUT:-120}")
    for package in ${MUTANTS_TESTS:-slotwork slotwork-free-list slotwork-catalog}; do
        arguments+=(--test-package "$package")
    done
    for file in "$@"; do arguments+=(--file "$file"); done
fi
targets=()
for target in ${MUTANTS_TARGETS:-}; do targets+=(--test "$target"); done
if [ ${#targets[@]} -gt 0 ]; then
    # cargo-mutants would look for those targets in the changed crate itself, so the code as it is gets tested here.
    packages=()
    for package in ${MUTANTS_TESTS:?names the packages of MUTANTS_TARGETS}; do packages+=(--package "$package"); done
    cargo test --quiet --target-dir "$lane/unchanged" "${packages[@]}" "${targets[@]}"
    arguments+=(--baseline skip --timeout "${MUTANTS_TIMEOUT:-120}")
    # For building too, not for running alone: the other targets take minutes each time.
    for target in $MUTANTS_TARGETS; do arguments+=("--cargo-arg=--test=$target"); done
fi
cargo mutants --output "$lane" --no-shuffle "${arguments[@]}"
