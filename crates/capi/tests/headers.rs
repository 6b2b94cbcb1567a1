//! The headers are what the sources say. `UPDATE_HEADERS=1` writes them instead.

use std::path::{Path, PathBuf};

const HEADERS: [(&str, &[&str]); 2] = [("slotwork", FULL), ("threaded-workqueue", &["threaded_workqueue"])];

/// The full interface, in the order of its header.
const FULL: &[&str] = &[
    "slotwork_h/describe",
    "slotwork_h/structures",
    "slotwork_h/queue",
    "slotwork_h/submitter",
    "slotwork_h/request",
    "status",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn committed(name: &str) -> PathBuf {
    root().join("include").join(name).with_extension("h")
}

fn generated(name: &str, sources: &[&str]) -> String {
    let configuration = root().join("cbindgen").join(name).with_extension("toml");
    let mut builder = cbindgen::Builder::new().with_config(cbindgen::Config::from_file(configuration).unwrap());
    for source in sources {
        builder = builder.with_src(root().join("src").join(source).with_extension("rs"));
    }
    let mut text = Vec::new();
    builder.generate().unwrap().write(&mut text);
    String::from_utf8(text).unwrap()
}

/// The first line in which two headers differ.
fn drift(committed: &str, generated: &str) -> Option<String> {
    let (mut committed_lines, mut generated_lines) = (committed.lines(), generated.lines());
    loop {
        match (committed_lines.next(), generated_lines.next()) {
            (None, None) => return (committed != generated).then(|| "line ends differ".into()),
            (committed, generated) if committed == generated => {}
            (committed, generated) => return Some(format!("committed: {committed:?}, generated: {generated:?}")),
        }
    }
}

#[test]
fn headers_are_generated() {
    for (name, sources) in HEADERS {
        let text = generated(name, sources);
        if std::env::var_os("UPDATE_HEADERS").is_some() {
            std::fs::write(committed(name), &text).unwrap();
        }
        let found = std::fs::read_to_string(committed(name)).unwrap();
        assert_eq!(drift(&found, &text), None, "{name}.h: UPDATE_HEADERS=1 cargo test -p slotwork-capi --test headers");
    }
}

#[test]
fn a_header_that_drifted_is_rejected() {
    let (name, sources) = HEADERS[1];
    let text = generated(name, sources);
    for bad in [text.replace("unsigned int threads_nr", "int threads_nr"), format!("{text}\n"), text[1..].into()] {
        assert!(drift(&bad, &text).is_some());
    }
}
