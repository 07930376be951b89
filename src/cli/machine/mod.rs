//! Reports for machines, whatever they are about: what `lint` and comparisons write alike.
//!
//! * [`junit`]: test reports;
//! * [`github`]: annotations of GitHub Actions.

pub mod github;
pub mod junit;

use mcpreel_wire::text::{cut, escape};

/// Columns of a text in a report for machines. What a recording says may come from a stranger, and
/// who takes such reports refuses, or cuts, what is longer.
const TEXT: usize = 1000;

/// A text for a report: on one line, with nothing hidden in it, and of bounded length.
pub fn safe(text: &str) -> String {
    cut(&escape(text), TEXT)
}
