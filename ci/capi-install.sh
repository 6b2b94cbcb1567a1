#!/usr/bin/env bash
# Installs the library into an empty folder, by make and, where it is, by cargo-c; then builds the examples with pkg-config
# alone and runs them. Checks soname, symbols, and size of the stripped library.
#
#   ci/capi-install.sh            cargo-c is used if `cargo cinstall` is there, and said to be missing if not;
#                                 with REQUIRE_CARGO_C=1 that is a failure
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What the library shows is what is documented: the list, and both headers.
symbols() { nm -D --defined-only "$1" | awk '{ print $3 }' | LC_ALL=C sort; }
check_symbols() {
    symbols "$1" | diff - "$2" >"$work/differences" || { cat "$work/differences"; return 1; }
    while read -r symbol; do
        grep -q "\b$symbol(" crates/capi/include/*.h || { echo "$symbol is in no header"; return 1; }
    done <"$2"
}

check_soname() {
    soname=$(readelf -d "$1" | sed -n 's/.*SONAME.*\[\(.*\)\].*/\1/p')
    [[ $soname =~ ^libslotwork\.so\.[0-9]+ ]] && [ -e "$(dirname "$1")/$soname" ]
}

# An example, with nothing but what pkg-config says. The folder that was installed into is its sysroot, as in a distribution's build.
build() {
    local flags
    flags=$(PKG_CONFIG_SYSROOT_DIR=$2 PKG_CONFIG_LIBDIR=$3:$(pkg-config --variable pc_path pkg-config) \
        pkg-config --cflags --libs slotwork zlib) || return 1
    # shellcheck disable=SC2086
    "${CC:-cc}" -std=c11 -D_GNU_SOURCE -O2 -pthread -Wall -Wextra -Werror "examples/$1.c" -o "$work/$1" $flags
}

check() {
    local way=$1 root=$2 library folder pkgconfig
    library=$(find "$root" -name 'libslotwork.so')
    folder=$(dirname "$library")
    pkgconfig=$(dirname "$(find "$root" -name slotwork.pc)")
    check_soname "$library"
    check_symbols "$library" crates/capi/symbols.txt
    strip -o "$work/stripped" "$library"
    echo "$way: soname $soname, $(wc -l <crates/capi/symbols.txt) symbols, $(stat -c %s "$work/stripped") bytes stripped"
    for example in page_compress many_submitters; do
        build "$example" "$root" "$pkgconfig"
    done
    LD_LIBRARY_PATH=$folder "$work/page_compress" -t 2 -m 4 -c 1
    LD_LIBRARY_PATH=$folder "$work/many_submitters"
    echo "$way: the examples build with pkg-config alone, and run"
}

# The known-bad: where nothing was installed, nothing builds; so it is not this machine's own slotwork that is found.
if build page_compress "$work" "$work" 2>/dev/null; then
    echo "FAILED: an example was built without what is to be installed: another slotwork is on this machine" >&2
    exit 1
fi
echo "pkg-config: without what was installed, nothing is found"

make --quiet -C crates/capi install DESTDIR="$work/make" PREFIX=/opt/slotwork
check make "$work/make"

# The known-bad: a library that shows one symbol more, and has no soname, is refused for each.
echo 'int slotwork_stray(void) { return 0; }' >"$work/stray.c"
"${CC:-cc}" -shared -fPIC "$work/stray.c" -o "$work/stray.so" -Wl,--whole-archive "$(find "$work/make" -name libslotwork.a)" \
    -Wl,--no-whole-archive -Wl,--no-gc-sections -lgcc_s -lm -ldl
if check_symbols "$work/stray.so" crates/capi/symbols.txt >/dev/null; then
    echo "FAILED: a stray symbol was not seen" >&2
    exit 1
fi
if check_soname "$work/stray.so"; then
    echo "FAILED: a missing soname was not seen" >&2
    exit 1
fi
echo "symbols, soname: a stray one, and none, are refused"

if cargo cinstall --version >/dev/null 2>&1; then
    cargo cinstall --release --locked --package slotwork-capi --destdir "$work/cargo-c" --prefix /opt/slotwork
    check cargo-c "$work/cargo-c"
elif [ -n "${REQUIRE_CARGO_C:-}" ]; then
    echo "cargo-c: NOT RUN, and it has to be there" >&2
    exit 1
else
    echo "cargo-c: NOT RUN, cargo cinstall is not there"
fi
