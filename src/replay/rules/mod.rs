//! What a user says about values that may differ.

/// The rules of a comparison.
#[derive(Debug, Default)]
pub struct Rules {}
