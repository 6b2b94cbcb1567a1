//! `slotwork verify`: runs the plan, prints the cards, keeps the file.

use crate::cli::{OutputArguments, VerifyArguments, VerifyCommand, complain, print, refuse};
use crate::{FAILED, INTERRUPTED};
use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use jiff::Timestamp;
use model_checks::card::{self, Progress, Proofs, Status, part_of, plan};
use slotwork_catalog::entry;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

static INTERRUPT: AtomicBool = AtomicBool::new(false);

/// Runs the command; the exit code.
pub(crate) fn run(arguments: &VerifyArguments) -> Result<u8> {
    if let Some(VerifyCommand::Merge { files, output }) = &arguments.command {
        return merge(files, output);
    }
    model_checks::apart::choose_limit(Duration::from_secs_f64(arguments.time_limit));
    if let Some(text) = &arguments.replay {
        return replay(text, arguments.output.json);
    }
    let tasks = plan(arguments.level(), &arguments.designs).map_err(refuse)?;
    let started = Timestamp::now();
    let kept = Kept::prepare(&arguments.output.output, started)?;
    // The second Ctrl-C ends the program at once.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPT.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(INTERRUPTED));
        }
    });
    let mut proofs = Proofs::begin(
        started.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        arguments.commit.clone(),
        arguments.machine.clone(),
        arguments.level(),
        arguments.designs.clone(),
        arguments.partition,
        &tasks,
    );
    let own = part_of(tasks, arguments.partition);
    // Without a terminal on stderr, the bar draws nothing.
    let bar = ProgressBar::new(own.len() as u64);
    let style = ProgressStyle::with_template("{bar:40} {pos} of {len}  {eta} left  {msg}");
    bar.set_style(style.expect("the template is a constant and well formed"));
    proofs.done = card::run(&own, &INTERRUPT, |Progress { task, .. }: Progress<'_>| {
        bar.inc(1);
        bar.set_message(task.task.clone());
        for why in task.rows.iter().filter_map(|row| row.verdict().err()) {
            bar.suspend(|| complain(&format!("{}: {why}", task.task)));
        }
    });
    bar.finish_and_clear();
    let code = finish(&proofs, &arguments.output, &kept)?;
    if INTERRUPT.load(Ordering::Relaxed) {
        complain("interrupted; what was checked so far is kept");
        return Ok(if code == FAILED && proofs.status() == Status::Failed { FAILED } else { INTERRUPTED });
    }
    // A part has no right to be complete; it is as good as what was asked of it.
    let whole_part = proofs.done.len() == own.len();
    Ok(match proofs.status() {
        Status::Incomplete if proofs.parts != [card::Part::WHOLE] && whole_part => 0,
        _ => code,
    })
}

fn merge(files: &[PathBuf], output: &OutputArguments) -> Result<u8> {
    let parts = files.iter().map(|file| Proofs::read(file)).collect::<Result<Vec<_>, _>>().map_err(refuse)?;
    let proofs = card::merge(parts).map_err(refuse)?;
    let kept = Kept::prepare(&output.output, Timestamp::now())?;
    finish(&proofs, output, &kept)
}

fn replay(text: &str, json: bool) -> Result<u8> {
    let replayed = card::again(text).map_err(refuse)?;
    if json {
        print(&format!("{}\n", serde_json::to_string_pretty(&replayed)?))?;
    } else {
        print(&replayed.to_string())?;
    }
    Ok(if replayed.failed { FAILED } else { 0 })
}

/// Writes the files, prints the cards and the summary; the exit code. The files come first: whatever becomes of the
/// output, the results are kept.
fn finish(proofs: &Proofs, output: &OutputArguments, kept: &Kept) -> Result<u8> {
    let mut text = String::new();
    for name in proofs.designs() {
        text.push_str(&card::card(proofs, entry(name).map_err(refuse)?));
    }
    text.push_str(&card::summary(proofs));
    let json = format!("{}\n", serde_json::to_string_pretty(proofs)?);
    let [json_path, text_path] = kept.write(&json, &text)?;
    complain(&format!("results: {} and {}", json_path.display(), text_path.display()));
    print(if output.json { &json } else { &text })?;
    Ok(if proofs.status() == Status::Green { 0 } else { FAILED })
}

/// The two files of a run. That they can be written is found out before anything is checked; they are made at
/// the end, so that a run that is killed leaves no empty ones.
struct Kept {
    folder: PathBuf,
    stamp: String,
}

impl Kept {
    fn prepare(folder: &Path, started: Timestamp) -> Result<Self> {
        let refused =
            |error: std::io::Error| refuse(format!("cannot write results to '{}': {error}", folder.display()));
        fs::create_dir_all(folder).map_err(refused)?;
        tempfile::NamedTempFile::new_in(folder).map_err(refused)?;
        Ok(Self { folder: folder.into(), stamp: started.strftime("%Y-%m-%dT%H-%M-%SZ").to_string() })
    }

    fn write(&self, json: &str, text: &str) -> Result<[PathBuf; 2]> {
        for number in 1_u32.. {
            let suffix = if number == 1 { String::new() } else { format!("-{number}") };
            let path = |extension: &str| self.folder.join(format!("verify-{}{suffix}.{extension}", self.stamp));
            let write = |path: &Path, content: &str| {
                let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
                file.write_all(content.as_bytes())
            };
            match write(&path("json"), json) {
                Err(taken) if taken.kind() == std::io::ErrorKind::AlreadyExists => continue,
                written => written.with_context(|| format!("cannot write '{}'", path("json").display()))?,
            }
            write(&path("txt"), text).with_context(|| format!("cannot write '{}'", path("txt").display()))?;
            return Ok([path("json"), path("txt")]);
        }
        unreachable!("the numbers do not run out")
    }
}
