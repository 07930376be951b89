//! Pairing, told in scenarios: `tests/scenarios/*.toml`.
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
//! means none or 0), everything else where it is given. Findings are compared in full. What is no
//! short form (`request`, `result`, `error`, `notify`) is the line itself.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "scenarios/compare.rs"]
mod compare;

use compare::{Columns, Expected};
use mcpreel::lint::{Analysis, Derived};
use mcpreel::protocol::message::classify;
use mcpreel::trace::clock::Moment;
use mcpreel::trace::event::{Closer, Event, EventKind};
use mcpreel::trace::exchange::{Exchange, ExchangeId};
use mcpreel::trace::frame::{FrameHead, Seq, StreamId};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Scenario {
    about: String,
    record: Vec<(When, String, String)>,
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

#[derive(Clone, Copy, Deserialize)]
#[serde(untagged)]
enum When {
    At(u64),
    FromTo(u64, u64),
}

const MS: u64 = 1_000_000;

#[test]
fn every_scenario_comes_out_as_told() {
    let mut failures = String::new();
    for path in scenario_files() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let scenario = read(&path);
        for difference in differences(&scenario) {
            let _ = writeln!(failures, "{name} ({}): {difference}", scenario.about);
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

#[test]
fn there_are_scenarios_enough_to_trust_them() {
    let files = scenario_files();
    assert!(files.len() >= 40, "{} scenarios", files.len());
    for path in files {
        assert!(!read(&path).exchanges.is_empty(), "{}", path.display());
    }
}

#[test]
fn a_reindex_in_pieces_gives_the_same_exchanges() {
    for path in scenario_files() {
        let scenario = read(&path);
        let whole = play(&scenario, usize::MAX);
        let pieces = play(&scenario, 1);
        let print = |derived: &Derived| format!("{:#?}", derived.exchanges);
        assert_eq!(print(&whole), print(&pieces), "{}", path.display());
    }
}

fn scenario_files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let entries = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "toml")
    });
    files.sort();
    files
}

fn read(path: &Path) -> Scenario {
    let text = std::fs::read_to_string(path).unwrap();
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Plays a scenario, taking what is derived after every `rows_per_batch` rows.
fn play(scenario: &Scenario, rows_per_batch: usize) -> Derived {
    let mut analysis = Analysis::new();
    let mut all = Derived::default();
    let mut latest: BTreeMap<ExchangeId, Exchange> = BTreeMap::new();
    let mut take = |analysis: &mut Analysis, all: &mut Derived| {
        let batch = analysis.take();
        all.messages.extend(batch.messages);
        all.findings.extend(batch.findings);
        latest.extend(batch.exchanges.into_iter().map(|e| (e.id, e)));
        all.exchanges = latest.values().cloned().collect();
    };
    let mut seq = 0;
    for (row, (when, stream, what)) in scenario.record.iter().enumerate() {
        let (first, last) = match *when {
            When::At(t) => (Moment(t * MS), Moment(t * MS)),
            When::FromTo(first, last) => (Moment(first * MS), Moment(last * MS)),
        };
        if stream == "event" {
            analysis.event(&Event {
                t: last,
                after_seq: Seq(seq),
                kind: event(what),
            });
        } else {
            seq += 1;
            let raw = format!("{}\n", line(what));
            let head = FrameHead {
                seq: Seq(seq),
                stream: stream_id(stream),
                offset: 0,
                t_first: first,
                t_last: last,
                size: raw.len() as u64,
            };
            let content = match head.stream.messages() {
                Some(_) => classify(raw.as_bytes()),
                None => mcpreel::protocol::message::Content::default(),
            };
            analysis.frame(&head, raw.as_bytes(), &content);
        }
        if (row + 1) % rows_per_batch == 0 {
            take(&mut analysis, &mut all);
        }
    }
    if !scenario.live {
        analysis.finish();
    }
    take(&mut analysis, &mut all);
    all
}

fn stream_id(word: &str) -> StreamId {
    StreamId::STDIO
        .into_iter()
        .find(|stream| stream.as_str() == word)
        .unwrap_or_else(|| panic!("no stream {word}"))
}

fn event(what: &str) -> EventKind {
    let words: Vec<_> = what.split(' ').collect();
    match words[..] {
        ["eof", stream, by] => EventKind::Eof {
            stream: stream_id(stream),
            by: match by {
                "writer" => Closer::Writer,
                "reader" => Closer::Reader,
                _ => panic!("no closer {by}"),
            },
        },
        ["exit", how] => EventKind::Exit {
            code: how.parse().ok(),
            signal: how.starts_with("SIG").then(|| how.to_owned()),
            max_rss_bytes: 0,
            user_ns: 0,
            system_ns: 0,
        },
        ["spawn-failed", code] => EventKind::SpawnFailed {
            exit_code: code.parse().unwrap(),
            message: "not found".to_owned(),
        },
        ["recovered"] => EventKind::Recovered { frames: 1 },
        _ => panic!("no event {what}"),
    }
}

/// The line that a short form stands for.
fn line(what: &str) -> String {
    let mut words = what.splitn(2, ' ');
    let (form, rest) = (words.next().unwrap(), words.next().unwrap_or(""));
    let (first, more) = rest.split_once(' ').unwrap_or((rest, ""));
    let member = |name: &str, json: &str| match json {
        "" => String::new(),
        _ => format!(r#","{name}":{json}"#),
    };
    match form {
        "request" => {
            let (method, params) = more.split_once(' ').unwrap_or((more, ""));
            let params = member("params", params);
            format!(r#"{{"jsonrpc":"2.0","id":{first},"method":"{method}"{params}}}"#)
        }
        "notify" => {
            let params = member("params", more);
            format!(r#"{{"jsonrpc":"2.0","method":"{first}"{params}}}"#)
        }
        "result" => {
            let result = if more.is_empty() { "{}" } else { more };
            format!(r#"{{"jsonrpc":"2.0","id":{first},"result":{result}}}"#)
        }
        "error" => {
            format!(r#"{{"jsonrpc":"2.0","id":{first},"error":{{"code":{more},"message":"no"}}}}"#)
        }
        _ => what.to_owned(),
    }
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
    let mut found: Vec<_> = derived
        .findings
        .iter()
        .map(|finding| {
            (
                finding.rule.to_owned(),
                finding.frame.map_or(0, |seq| seq.0),
            )
        })
        .collect();
    let mut expected = scenario.findings.clone();
    found.sort();
    expected.sort();
    (found != expected).then(|| format!("findings {found:?}, expected {expected:?}"))
}
