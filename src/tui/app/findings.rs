//! What is wrong or remarkable.

/// What is wrong or remarkable.
#[derive(Debug, Default)]
pub struct Findings {}
