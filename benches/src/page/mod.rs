//! The report.
pub mod chart;
pub mod markup;
