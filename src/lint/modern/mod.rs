//! Rules about the modern era: what every request and result must carry, input rounds, subscriptions, caching.

use super::family::Family;
use super::rule::Rule;

/// The family of these rules.
#[derive(Debug, Default)]
pub struct Modern;

impl Family for Modern {
    fn name(&self) -> &'static str {
        "modern"
    }

    fn rules(&self) -> &'static [&'static Rule] {
        &[]
    }
}
