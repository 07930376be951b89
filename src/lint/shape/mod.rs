//! Rules about params and results of every method against the shapes of its revision.

use super::family::Family;
use super::rule::Rule;

/// The family of these rules.
#[derive(Debug, Default)]
pub struct Shape;

impl Family for Shape {
    fn name(&self) -> &'static str {
        "shape"
    }

    fn rules(&self) -> &'static [&'static Rule] {
        &[]
    }
}
