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

use crate::play::{self, Scenario};
use std::fmt::Write as _;
use std::path::Path;

#[test]
fn every_scenario_comes_out_as_told() {
    let mut failures = String::new();
    for (name, scenario) in scenarios() {
        if let Err(difference) = play::play(&scenario) {
            let _ = writeln!(failures, "{name} ({}): {difference}", scenario.about);
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

/// All of them, with their names.
fn scenarios() -> Vec<(String, Scenario)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/replay/scenarios");
    let entries = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let name = |path: &Path| path.file_stem().unwrap().to_string_lossy().into_owned();
    files.iter().map(|path| (name(path), read(path))).collect()
}

fn read(path: &Path) -> Scenario {
    let text = std::fs::read_to_string(path).unwrap();
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
