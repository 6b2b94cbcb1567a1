//! Remembers which compiler built the program: a figure without its compiler cannot be compared.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let compiler = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = Command::new(compiler).arg("--version").output();
    let version = version.ok().and_then(|output| String::from_utf8(output.stdout).ok());
    println!("cargo:rustc-env=SLOTWORK_RUSTC={}", version.as_deref().unwrap_or("unknown").trim());
    let profile = std::env::var("PROFILE").unwrap_or_else(|_| "unknown".into());
    println!("cargo:rustc-env=SLOTWORK_PROFILE={profile}");
}
