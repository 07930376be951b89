//! Rules about what stands in params and results: URIs, base64, `_meta` keys, elicitation, sampling, tasks.

use super::family::Family;
use super::rule::Rule;

/// The family of these rules.
#[derive(Debug, Default)]
pub struct Content;

impl Family for Content {
    fn name(&self) -> &'static str {
        "content"
    }

    fn rules(&self) -> &'static [&'static Rule] {
        &[]
    }
}
