//! Rules about tools, their schemas, and values against them.

use super::family::Family;
use super::rule::Rule;

/// The family of these rules.
#[derive(Debug, Default)]
pub struct Tools;

impl Family for Tools {
    fn name(&self) -> &'static str {
        "tools"
    }

    fn rules(&self) -> &'static [&'static Rule] {
        &[]
    }
}
