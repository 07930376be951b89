//! Rules about what was declared, who may send what, and in which revision.

use super::family::Family;
use super::rule::Rule;

/// The family of these rules.
#[derive(Debug, Default)]
pub struct Capability;

impl Family for Capability {
    fn name(&self) -> &'static str {
        "capability"
    }

    fn rules(&self) -> &'static [&'static Rule] {
        &[]
    }
}
