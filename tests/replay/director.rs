//! What is sent when, and what is found: `scenarios/*.toml`.
//!
//! ```toml
//! about = "what this scenario promises"
//! record = [
//!   [0, "c2s", 'request 1 tools/list'],      # milliseconds, stream, what
//!   [5, "s2c", 'result 1 {"tools":[]}'],
//! ]
//! replay = [
//!   ["sends", 'request 1 tools/list'],       # the next line that goes out is this one
//!   ["waits", "answer #1"],                  # nothing goes out; what is waited for
//!   ["hears", 'result 1 {"tools":[]}'],      # the server says this
//!   ["passes", "10000"],                     # so many milliseconds pass
//!   ["closes"],                              # the server's input is closed
//!   ["signals", "Term"],                     # the server gets this signal
//!   ["exits", "0"],                          # the server ends: a code, or SIGSEGV
//!   ["quiet"],                               # nothing goes out
//! ]
//! report = ["#1 breaking", "offers a: breaking"]   # what is found: exchanges, then tools and the
//!                                            # like; none: everything is alike
//! exit = 1
//! ```
//!
//! Between a `hears` and the next row everything goes out that goes out then; what no `sends` asks
//! for fails the scenario. A server that was told to close exits with 0 unless the scenario says
//! otherwise. [`Choices`](crate::play::Choices) has what a user may choose.

use crate::files;
use crate::play::{self, Scenario};
use std::fmt::Write as _;

#[test]
fn every_scenario_comes_out_as_told() {
    let mut failures = String::new();
    for path in files::files("tests/replay/scenarios") {
        let scenario: Scenario = files::read(&path);
        if let Err(difference) = play::play(&scenario) {
            let (name, about) = (path.display(), &scenario.about);
            let _ = writeln!(failures, "{name} ({about}): {difference}");
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}
