//! Platforms Loom and Shuttle, models, and the known-bad museum.
