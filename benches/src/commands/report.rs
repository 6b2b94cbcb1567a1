//! `slotwork report`.

use crate::run::{print, refuse};
use anyhow::Result;
use clap::Args;
use slotwork_bench::page::{document, write};
use slotwork_bench::reading::{Benchmark, Run, name_apart, parsed, text_of};
use std::path::PathBuf;

/// Options of `slotwork report`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Writes report.html (one page that needs no network), report.md, and every table as CSV into tables/. Takes runs of slotwork \
rank, and result files of workqueue-bench, ladder, allocator and locks, whose tables are shown beside the published ones.\n\n\
Exit codes: 0 written; 1 it could not be written; 2 a file is no result.\n\n\
Example:\n  slotwork report results/rank-*.json results/locks-*.json -o report")]
pub(crate) struct ReportArguments {
    /// The JSON files.
    #[arg(value_name = "RUN", required = true, num_args = 1..)]
    files: Vec<PathBuf>,
    /// The folder for the report.
    #[arg(short, long, value_name = "DIR", default_value = "report")]
    output: PathBuf,
    /// Print what was written as JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &ReportArguments) -> Result<u8> {
    let (mut runs, mut benchmarks): (Vec<Run>, Vec<Benchmark>) = (Vec::new(), Vec::new());
    for path in &arguments.files {
        let text = text_of(path).map_err(refuse)?;
        match Benchmark::parse(&text, path).map_err(refuse)? {
            Some(benchmark) => benchmarks.push(benchmark),
            None => runs.push(parsed(&text, path).map_err(refuse)?),
        }
    }
    name_apart(&mut runs);
    let written = write(&document(&runs, &benchmarks), &arguments.output)?;
    if arguments.json {
        print(&format!("{}\n", serde_json::to_string_pretty(&written)?))?;
    } else {
        let tables = written.tables.len();
        let (page, text) = (written.html.display(), written.markdown.display());
        print(&format!("report: {page} ({} charts), {text}, and {tables} tables beside them\n", written.charts))?;
    }
    Ok(0)
}
