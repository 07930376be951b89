//! Rules about error codes and messages.

use super::family::Family;
use super::rule::Rule;

/// The family of these rules.
#[derive(Debug, Default)]
pub struct Errors;

impl Family for Errors {
    fn name(&self) -> &'static str {
        "errors"
    }

    fn rules(&self) -> &'static [&'static Rule] {
        &[]
    }
}
