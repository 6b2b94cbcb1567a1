//! Remembers which compiler built the program, without which no figure can be compared; and takes the newest run of
//! `notes/results` along, for `slotwork pick`.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let compiler = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = Command::new(compiler).arg("--version").output();
    let version = version.ok().and_then(|output| String::from_utf8(output.stdout).ok());
    println!("cargo:rustc-env=SLOTWORK_RUSTC={}", version.as_deref().unwrap_or("unknown").trim());
    let profile = std::env::var("PROFILE").unwrap_or_else(|_| "unknown".into());
    println!("cargo:rustc-env=SLOTWORK_PROFILE={profile}");
    newest_run();
}

/// Names the newest run; where there is none, an empty file, which is none either.
fn newest_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../notes/results");
    println!("cargo:rerun-if-changed={}", folder.display());
    let (path, name) = runs(&folder).pop().unwrap_or_else(|| {
        let path = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it")).join("no-run.json");
        std::fs::write(&path, "").expect("the output folder takes files");
        (path, "none".into())
    });
    println!("cargo:rustc-env=SLOTWORK_NEWEST_RUN={}", path.display());
    println!("cargo:rustc-env=SLOTWORK_NEWEST_RUN_NAME=notes/results/{name}");
}

/// The dated runs of a folder with their names, the newest last. A program carries no more than a few megabytes of them.
fn runs(folder: &Path) -> Vec<(PathBuf, String)> {
    const MOST_BYTES: u64 = 8 << 20;
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut runs: Vec<(PathBuf, String)> = entries
        .filter(|entry| entry.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MOST_BYTES))
        .map(|entry| (entry.path(), entry.file_name().to_string_lossy().into_owned()))
        .filter(|(_, name)| name.starts_with("20") && name.contains("-rank-") && name.ends_with(".json"))
        .collect();
    runs.sort_by(|a, b| a.1.cmp(&b.1));
    runs
}
