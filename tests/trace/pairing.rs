//! Pairing, told in scenarios: `tests/trace/scenarios/*.toml`.
//!
//! A scenario lists what was recorded, a row per frame or event, and what must come of it:
//!
//! ```toml
//! about = "what this scenario promises"
//! record = [
//!   [0, "c2s", 'request 1 tools/call {"name":"a"}'],   # milliseconds, stream, what
//!   [[5, 9], "s2c", 'result 1 {"content":[]}'],        # first and last byte apart
//!   [10, "event", "eof c2s writer"],
//!   [11, "event", "exit 0"],
//! ]
//! exchanges = [{ request = 1, response = 2, status = "ok", latency_ms = 5 }]
//! findings = [["request-unanswered", 1]]
//! attached = [[3, 1]]                                   # frame 3 belongs to exchange 1, 0 = none
//! ```
//!
//! Frames count from 1, events do not count; exchanges count from 1 in the order of their
//! requests, and `parent` and `chain` name them so. Of an exchange `request`, `response`, `status`,
//! `latency_ms`, `waited_ms`, `code`, `parent`, `chain` and `cancelled` are always compared (absent
//! means none or 0), everything else where it is given. The findings about lines, JSON-RPC and
//! pairing are compared in full. `support/told.rs` has the short forms.

#[path = "scenarios/scenarios_compare.rs"]
mod compare;

use crate::telling::{Derived, Telling};
use crate::told::Row;
use compare::{Columns, Expected};
use mcpreel_lint::families;
use serde::Deserialize;
use std::fmt::Write;

/// The families of rules whose findings scenarios tell in full; those of the others have cases of
/// their own.
const TOLD: [&str; 3] = ["framing", "JSON-RPC", "pairing"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Scenario {
    about: String,
    record: Vec<Row>,
    #[serde(default)]
    exchanges: Vec<Expected>,
    #[serde(default)]
    findings: Vec<(String, u64)>,
    #[serde(default)]
    attached: Vec<(u64, u64)>,
    /// The recording goes on: nothing is lost or unanswered yet.
    #[serde(default)]
    live: bool,
}

#[test]
fn every_scenario_comes_out_as_told() {
    let mut failures = String::new();
    for path in crate::cases::files("scenarios") {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let scenario: Scenario = crate::cases::read(&path);
        for difference in differences(&scenario) {
            let _ = writeln!(failures, "{name} ({}): {difference}", scenario.about);
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

#[test]
fn a_reindex_in_pieces_gives_the_same_exchanges() {
    for path in crate::cases::files("scenarios") {
        let scenario: Scenario = crate::cases::read(&path);
        let whole = play(&scenario, usize::MAX);
        let pieces = play(&scenario, 1);
        let print = |derived: &Derived| format!("{:#?}", derived.exchanges);
        assert_eq!(print(&whole), print(&pieces), "{}", path.display());
    }
}

/// Plays a scenario, taking what is derived after every `rows_per_batch` rows.
fn play(scenario: &Scenario, rows_per_batch: usize) -> Derived {
    let mut telling = Telling::default();
    for (number, row) in (1..).zip(&scenario.record) {
        telling.row(row);
        if number % rows_per_batch == 0 {
            telling.take();
        }
    }
    telling.end(scenario.live)
}

fn differences(scenario: &Scenario) -> Vec<String> {
    let derived = play(scenario, usize::MAX);
    let mut differences = Vec::new();
    let (found, expected) = (derived.exchanges.len(), scenario.exchanges.len());
    if found != expected {
        differences.push(format!("{found} exchanges, expected {expected}"));
    }
    for (exchange, expected) in derived.exchanges.iter().zip(&scenario.exchanges) {
        differences.extend(Columns::of(exchange, expected));
    }
    differences.extend(finding_differences(&derived, scenario));
    for (frame, exchange) in &scenario.attached {
        let of_frame = derived.messages.iter().filter(|m| m.frame.0 == *frame);
        let found: Vec<_> = of_frame.map(|m| m.exchange.map_or(0, |id| id.0)).collect();
        if !found.contains(exchange) {
            differences.push(format!("frame {frame}: at {found:?}, expected {exchange}"));
        }
    }
    differences
}

fn finding_differences(derived: &Derived, scenario: &Scenario) -> Option<String> {
    let families = families();
    let told = families.iter().filter(|family| TOLD.contains(&family.name));
    let told: Vec<_> = told
        .flat_map(|family| family.rules.iter().copied())
        .collect();
    let mut found: Vec<_> = derived
        .findings
        .iter()
        .filter(|finding| told.contains(&finding.rule))
        .map(|finding| {
            (
                finding.rule.id.to_owned(),
                finding.frame.map_or(0, |seq| seq.0),
            )
        })
        .collect();
    let mut expected = scenario.findings.clone();
    found.sort();
    expected.sort();
    (found != expected).then(|| format!("findings {found:?}, expected {expected:?}"))
}
