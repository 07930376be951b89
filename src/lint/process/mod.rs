//! Rules about the process: how it starts, what it says on stderr, how it ends, what takes too long.

use super::family::Family;
use super::rule::Rule;

/// The family of these rules.
#[derive(Debug, Default)]
pub struct Process;

impl Family for Process {
    fn name(&self) -> &'static str {
        "process"
    }

    fn rules(&self) -> &'static [&'static Rule] {
        &[]
    }
}
