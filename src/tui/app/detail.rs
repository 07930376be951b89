//! One row in full.

/// One row in full.
#[derive(Debug, Default)]
pub struct Detail {}
