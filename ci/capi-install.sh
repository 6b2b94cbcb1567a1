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

check() {
    local way=$1 root=$2
    local library
    library=$(find "$root" -name 'libslotwork.so' | head -1)
    local folder pkgconfig
    folder=$(dirname "$library")
    pkgconfig=$(dirname "$(find "$root" -name slotwork.pc)")
    soname=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\].*/\1/p')
    [[ $soname =~ ^libslotwork\.so\.[0-9]+ ]] && [ -e "$folder/$soname" ]
    check_symbols "$library" crates/capi/symbols.txt
    strip -o "$work/stripped" "$library"
    echo "$way: soname $soname, $(wc -l <crates/capi/symbols.txt) symbols, $(stat -c %s "$work/stripped") bytes stripped"

    # The sysroot stands for the empty folder, as a distribution's build would have it.
    # A .pc of an absolute prefix is moved with it.
    export PKG_CONFIG_LIBDIR=$pkgconfig:/usr/lib/x86_64-linux-gnu/pkgconfig:/usr/lib/pkgconfig:/usr/share/pkgconfig
    sed -i "s|^prefix=.*|prefix=$root/usr|; s|^libdir=/usr|libdir=$root/usr|; s|^includedir=/usr|includedir=$root/usr|; s|^exec_prefix=/usr|exec_prefix=$root/usr|" \
        "$pkgconfig/slotwork.pc"
    for example in page_compress many_submitters; do
        # shellcheck disable=SC2046
        "${CC:-cc}" -std=c11 -D_GNU_SOURCE -O2 -pthread -Wall -Wextra -Werror "examples/$example.c" -o "$work/$example" \
            $(pkg-config --cflags --libs slotwork zlib)
    done
    LD_LIBRARY_PATH=$folder "$work/page_compress" -t 2 -m 4 -c 1
    LD_LIBRARY_PATH=$folder "$work/many_submitters"
    echo "$way: the examples build with pkg-config alone, and run"
}

make --quiet -C crates/capi install DESTDIR="$work/make" PREFIX=/usr
check make "$work/make"

# The known-bad: a library that shows one symbol more is refused.
echo 'int slotwork_stray(void) { return 0; }' >"$work/stray.c"
"${CC:-cc}" -shared -fPIC "$work/stray.c" -o "$work/stray.so" -Wl,--whole-archive "$(find "$work/make" -name libslotwork.a)" \
    -Wl,--no-whole-archive -Wl,--no-gc-sections -lgcc_s -lm -ldl
if check_symbols "$work/stray.so" crates/capi/symbols.txt >/dev/null; then
    echo "FAILED: a stray symbol was not seen" >&2
    exit 1
fi
echo "symbols: a stray one is refused"

if cargo cinstall --version >/dev/null 2>&1; then
    cargo cinstall --quiet --release --locked --package slotwork-capi --destdir "$work/cargo-c" --prefix /usr
    check cargo-c "$work/cargo-c"
elif [ -n "${REQUIRE_CARGO_C:-}" ]; then
    echo "cargo-c: NOT RUN, and it has to be there" >&2
    exit 1
else
    echo "cargo-c: NOT RUN, cargo cinstall is not there"
fi
