//! What is searched for.

/// What is searched for.
#[derive(Debug, Default)]
pub struct Search {}
