//! The lines to put into a program: they are built, for every design, by the tests.

use super::Load;
use slotwork::Submitters;
use slotwork_catalog::Entry;

/// The crate and the type of a design's factory.
fn factory(entry: &Entry) -> (String, String) {
    let path = entry.factory.replace(' ', "");
    let (krate, name) = path.split_once("::").unwrap_or((&path, &path));
    (krate.to_string(), name.to_string())
}

/// For `Cargo.toml`; `tree` is where this workspace lies, as seen from there.
#[must_use]
pub fn cargo_lines(entry: &Entry, tree: &str) -> String {
    let package = factory(entry).0.replace('_', "-");
    let folder = package.strip_prefix("slotwork-").unwrap_or(&package).to_string();
    let tree = tree.trim_end_matches('/').replace('\\', "/").replace('"', "\\\"");
    format!(
        "[dependencies]\n\
         {package} = {{ path = \"{tree}/crates/{folder}\" }}\n\
         slotwork-workqueue = {{ path = \"{tree}/crates/workqueue\" }}\n"
    )
}

/// For `main.rs`: worker threads around the design, and who submits.
#[must_use]
pub fn main_lines(entry: &Entry, load: &Load) -> String {
    let (krate, design) = factory(entry);
    let (workers, slots) = (load.shape.lanes(), load.shape.slots_per_lane());
    let head = format!(
        "// {workers} workers with {slots} slots each, over `{}`.

use slotwork_workqueue::Workqueue;
use {krate}::{design};

#[derive(Default)]
struct Job {{
    number: u64,
    square: u64,
}}

impl Job {{
    fn run(&mut self) {{
        self.square = self.number * self.number;
    }}
}}
",
        entry.name
    );
    let build = format!(
        "    let (queue, submitter) = Workqueue::<Job, {design}>::builder(\"worker\")
        .workers({workers})
        .requests_per_worker({slots})
        .build(|_slot| Job::default(), Job::run)?;
"
    );
    let end = "    submitter.drain()?; // waits until all of them have been handled
    println!(\"{} requests handled\", queue.shutdown()?.handled);
    Ok(())
}
";
    match load.submitters {
        Submitters::One => format!(
            "{head}
fn main() -> Result<(), Box<dyn std::error::Error>> {{
{build}    for number in 0..1000 {{
        let mut job = submitter.request()?; // waits for a free slot; try_request never waits
        job.number = number;
        job.submit()?;
    }}
{end}"
        ),
        Submitters::Many => format!(
            "{head}
fn main() -> Result<(), Box<dyn std::error::Error>> {{
{build}    std::thread::scope(|scope| {{
        for _ in 0..{} {{
            let submitter = submitter.clone();
            scope.spawn(move || {{
                for number in 0..1000 {{
                    let mut job = submitter.request().expect(\"the queue runs\"); // waits for a free slot
                    job.number = number;
                    job.submit().expect(\"the queue runs\");
                }}
            }});
        }}
    }});
{end}",
            load.client_count()
        ),
    }
}
