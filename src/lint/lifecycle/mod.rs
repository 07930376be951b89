//! Rules about the handshake of the legacy era.

use super::family::Family;
use super::rule::Rule;

/// The family of these rules.
#[derive(Debug, Default)]
pub struct Lifecycle;

impl Family for Lifecycle {
    fn name(&self) -> &'static str {
        "lifecycle"
    }

    fn rules(&self) -> &'static [&'static Rule] {
        &[]
    }
}
