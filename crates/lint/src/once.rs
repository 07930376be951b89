//! What is reported once: a fault that every later message repeats would bury the others.

use super::rule::Rule;

/// The rules that have been reported.
#[derive(Clone, Debug, Default)]
pub struct Once(Vec<&'static str>);

impl Once {
    /// Whether this is the first time that `rule` is reported.
    pub fn is_first(&mut self, rule: &'static Rule) -> bool {
        let is_first = !self.0.contains(&rule.id);
        if is_first {
            self.0.push(rule.id);
        }
        is_first
    }
}
