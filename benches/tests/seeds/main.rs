//! The seeds' benchmarks as a user meets them.

mod benchmarks;
mod migrate;
mod place;
