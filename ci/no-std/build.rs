//! No start files of std's: the C library alone calls `main`.

fn main() {
    println!("cargo::rustc-link-lib=c");
}
