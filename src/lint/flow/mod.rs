//! Rules about progress, cancellation, pagination, floods.

use super::family::Family;
use super::rule::Rule;

/// The family of these rules.
#[derive(Debug, Default)]
pub struct Flow;

impl Family for Flow {
    fn name(&self) -> &'static str {
        "flow"
    }

    fn rules(&self) -> &'static [&'static Rule] {
        &[]
    }
}
