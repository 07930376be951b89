//! Counts and latencies.

/// Counts and latencies.
#[derive(Debug, Default)]
pub struct Stats {}
