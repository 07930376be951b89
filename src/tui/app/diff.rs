//! Two exchanges side by side.

/// Two exchanges side by side.
#[derive(Debug, Default)]
pub struct Diff {}
