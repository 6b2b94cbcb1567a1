//! Platforms Loom and Shuttle, models, and the known-bad museum.
pub mod job;
pub mod models;
pub mod museum;
pub mod platform;
pub mod seen;
