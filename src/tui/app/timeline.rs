//! The rows in time.

/// The rows in time.
#[derive(Debug, Default)]
pub struct Timeline {}
