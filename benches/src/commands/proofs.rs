//! `slotwork verify` and `slotwork museum`: hands over to the program that holds the models.
//!
//! That program instantiates every model with every design, which takes minutes to compile; it is built
//! when it is first asked for, so that whoever only ranks designs does not wait for it.

use crate::cli::complain;
use crate::run::refuse;
use crate::{FAILED, INTERRUPTED, interrupt};
use anyhow::Result;
use clap::Args;
use slotwork_bench::machine::Machine;
use slotwork_bench::placement::Placement;
use std::env::consts::EXE_SUFFIX;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Everything behind the command, as it stands there.
#[derive(Args, Clone, Debug)]
pub(crate) struct ForwardedArguments {
    /// Options; `--help` lists them.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

const PROGRAM: &str = "slotwork-proofs";

/// Runs the command of this name; its exit code.
pub(crate) fn run(command: &str, forwarded: &ForwardedArguments) -> Result<u8> {
    let program = find()?;
    // Ctrl-C reaches the other program too, which keeps what it has; this one waits for it.
    let _ = interrupt::watch();
    let mut process = Command::new(&program);
    process.arg(command);
    let merging = forwarded.arguments.first().is_some_and(|first| first == "merge");
    if command == "verify" && !merging {
        let machine = Machine::inspect(&Placement::free());
        let changes = if machine.dirty == Some(true) { " and changes" } else { "" };
        let commit = machine.commit.as_ref().map_or_else(|| "unknown".into(), |commit| format!("{commit}{changes}"));
        process.args(["--machine", &machine.to_string(), "--commit", &commit]);
    }
    let status = process
        .args(&forwarded.arguments)
        .status()
        .map_err(|error| refuse(format!("cannot start '{}': {error}", program.display())))?;
    Ok(status.code().map_or(INTERRUPTED, |code| u8::try_from(code).unwrap_or(FAILED)))
}

/// The program, built first where this one was built by cargo in its own tree.
fn find() -> Result<PathBuf> {
    let here = std::env::current_exe().map_err(|error| refuse(format!("this program is nowhere: {error}")))?;
    let folder = here.parent().unwrap_or_else(|| Path::new("."));
    let sibling = folder.join(format!("{PROGRAM}{EXE_SUFFIX}"));
    if let Some(target) = built_in_tree(folder) {
        build(target, folder)?;
    }
    if sibling.is_file() {
        Ok(sibling)
    } else {
        let place = folder.display();
        Err(refuse(format!(
            "{PROGRAM} is not beside slotwork in '{place}': build it with cargo build --release -p model-checks"
        )))
    }
}

/// The target folder, if this program is in one of its profiles' folders and the tree is still there.
fn built_in_tree(folder: &Path) -> Option<&Path> {
    let profile = folder.file_name()?;
    let in_profile = profile == "release" || profile == "debug";
    (in_profile && Path::new(env!("CARGO_MANIFEST_DIR")).is_dir()).then(|| folder.parent())?
}

/// Builds it in the profile of this program; says so when there is something to build.
fn build(target: &Path, folder: &Path) -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut process = Command::new(cargo);
    process.args(["build", "-p", "model-checks", "--bin", PROGRAM, "--manifest-path"]);
    process.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).arg("--target-dir").arg(target);
    if folder.file_name().is_some_and(|profile| profile == "release") {
        process.arg("--release");
    }
    if !folder.join(format!("{PROGRAM}{EXE_SUFFIX}")).is_file() {
        complain("building the models: some minutes, once");
    } else {
        process.arg("--quiet");
    }
    match process.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(refuse(format!("{PROGRAM} does not build: cargo ended with {status}"))),
        // Without cargo, whatever was built before will do.
        Err(_) => Ok(()),
    }
}
