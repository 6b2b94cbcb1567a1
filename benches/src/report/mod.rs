//! How results are shown and kept: tables for people, JSON and CSV for programs.

mod beside;
mod files;
mod list;
mod metrics;
mod tables;

pub use files::{Destination, OutputError};
pub use list::{listing, listing_table};
pub use metrics::floor_table;
pub use tables::rank_report;

use comfy_table::{CellAlignment, ContentArrangement, Table};

/// A table with this header; columns after the first are set right where `numbers` says so.
pub(crate) fn table(header: &[&str], numbers: std::ops::Range<usize>) -> Table {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::UTF8_BORDERS_ONLY);
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header.to_vec());
    for column in numbers {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}
