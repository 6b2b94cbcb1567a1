//! The report as Markdown: a chart becomes what it shows in words, and its table.

use super::{Block, Document};
use std::fmt::Write;

/// The text.
#[must_use]
pub fn markdown(document: &Document) -> String {
    let mut text = format!("# {}\n", plain(&document.title));
    for line in &document.summary {
        let _ = write!(text, "\n{}\n", plain(line));
    }
    for section in &document.sections {
        let _ = write!(text, "\n## {}\n", plain(&section.title));
        for block in &section.blocks {
            let _ = match block {
                Block::Words(words) => write!(text, "\n{}\n", plain(words)),
                Block::Code(code) => write!(text, "\n```sh\n{}\n```\n", code.replace("```", "'''")),
                Block::Table(sheet) => write!(text, "\n{}", sheet.markdown()),
                Block::Chart(figure) => {
                    let title = plain(&figure.title);
                    write!(text, "\n### {title}\n\n{}\n\n{}", plain(&figure.description), figure.data.markdown())
                }
            };
        }
    }
    text
}

/// Words without what Markdown or HTML in it would understand.
fn plain(words: &str) -> String {
    words.replace('<', "&lt;").replace('*', "\\*").replace('_', "\\_").replace('`', "\\`").replace(['\n', '\r'], " ")
}
