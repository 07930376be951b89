//! What is recorded, what a host says, what it gets: `scenarios/*.toml`, without processes.
//!
//! ```toml
//! about = "what this scenario promises"
//! record = [
//!   [0, "c2s", 'request 1 tools/call {"name":"a"}'],   # milliseconds, stream, what
//!   [5, "s2c", 'result 1 {"content":[]}'],
//! ]
//! options = { once = true }
//! live = [
//!   [0, "host", 'request "x" tools/call {"name":"a"}'],
//!   [0, "mock", 'result "x" {"content":[]}'],          # the whole line, at this moment
//!   [0, "like", '"code":-32000 .. "nearest"'],         # a line with these parts in this order
//!   [9, "end", "input"],
//! ]
//! report = { used = 1, repeated = 0 }
//! ```
//!
//! Live rows are `host` (a line of the host), `mock` and `like` (a line to the host), `stderr`,
//! `say` (a remark, by parts of it), and `end` (of the input, or of the mock: `missed`, `crash`, `died 3`, `died SIGSEGV`).
//! Everything that comes out has to be told, in its order. `support/told.rs` has the short forms.

use crate::files;
use crate::mock::record;
use crate::told;
use mcpreel_replay::mock::{
    Action, Ended, Fault, Index, Latency, OnMiss, Options, Report, Secrets, Server, Source,
};
use mcpreel_replay::player::Line;
use mcpreel_replay::rules::Rules;
use mcpreel_store::reader::Recording;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::session::End;
use serde::Deserialize;
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

const MS: u64 = 1_000_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Scenario {
    about: String,
    record: Vec<(u64, String, String)>,
    #[serde(default)]
    options: Asked,
    #[serde(default)]
    live: Vec<(u64, String, String)>,
    #[serde(default)]
    report: BTreeMap<String, toml::Value>,
    /// Why it cannot be served, in part.
    refused: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct Asked {
    on_miss: Option<String>,
    once: bool,
    latency: Option<String>,
    faults: Vec<String>,
    stderr: bool,
    bind: BTreeMap<String, String>,
    /// The text of a file of rules.
    rules: String,
}

#[test]
fn every_scenario_comes_out_as_told() {
    let mut failures = String::new();
    for path in files::files("tests/replay/mock/scenarios") {
        let scenario: Scenario = files::read(&path);
        if let Err(why) = check(&scenario) {
            let (name, about) = (path.display(), &scenario.about);
            let _ = writeln!(failures, "{name} ({about}): {why}");
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

fn check(scenario: &Scenario) -> Result<(), String> {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let reel = record(dir.path(), &scenario.record);
    let recording = Recording::open(&reel).expect("it can be read");
    let secrets = Secrets(scenario.options.bind.clone());
    let options = options(&scenario.options);
    let index = match (
        Index::read(&recording, &secrets, &options.rules, None),
        &scenario.refused,
    ) {
        (Ok(index), None) => index,
        (Ok(_), Some(refused)) => return Err(format!("it is served, expected: {refused}")),
        (Err(error), Some(refused)) => return has_parts(&error.to_string(), refused),
        (Err(error), None) => return Err(error.to_string()),
    };
    let source = Source { recording, secrets };
    let server = Server::new(index, source, options);
    let mut live = Live {
        server,
        came: VecDeque::new(),
    };
    live.server.begin(Moment(0));
    live.take(Moment(0));
    for row in &scenario.live {
        live.row(row)?;
    }
    if let Some((t, what)) = live.came.pop_front() {
        return Err(format!("came besides at {} ms: {}", t.0 / MS, shown(&what)));
    }
    compare_report(&live.server.report(), &scenario.report)
}

fn options(asked: &Asked) -> Options {
    let duration = |text: &str| {
        let ms = text.strip_suffix("ms")?.parse().ok()?;
        Some(Duration::from_millis(ms))
    };
    let mut rules = Rules::default();
    let added = rules.add(&asked.rules, Path::new("rules.toml"));
    added.unwrap_or_else(|problems| panic!("{problems:?}"));
    Options {
        on_miss: match asked.on_miss.as_deref() {
            None => OnMiss::Error,
            Some("nearest") => OnMiss::Nearest,
            Some("hang") => OnMiss::Hang,
            Some("exit") => OnMiss::Exit,
            Some(other) => panic!("no way to miss: {other}"),
        },
        once: asked.once,
        latency: match asked.latency.as_deref() {
            None => Latency::None,
            Some("recorded") => Latency::Recorded,
            Some(fixed) => Latency::Fixed(duration(fixed).expect("it is a time")),
        },
        faults: asked
            .faults
            .iter()
            .map(|fault| Fault::parse(fault, duration).expect("it is a fault"))
            .collect(),
        stderr: asked.stderr,
        rules,
    }
}

/// A session with the mock.
struct Live {
    server: Server,
    /// What came out and was not told yet.
    came: VecDeque<(Moment, Action)>,
}

impl Live {
    fn row(&mut self, (ms, who, what): &(u64, String, String)) -> Result<(), String> {
        let now = Moment(ms * MS);
        self.pass_time(now);
        match who.as_str() {
            "host" => self.server.line(Line::Whole(&told::bytes(what)), now),
            "end" if what == "input" => self.server.end_of_input(now),
            _ => return self.comes(now, who, what),
        }
        self.take(now);
        Ok(())
    }

    /// Does what is due until `now`, each thing at its moment.
    fn pass_time(&mut self, now: Moment) {
        while let Some(due) = self.server.due().filter(|due| *due <= now) {
            self.server.tick(due);
            self.take(due);
        }
    }

    fn take(&mut self, now: Moment) {
        loop {
            let actions = self.server.take();
            if actions.is_empty() {
                return;
            }
            self.came
                .extend(actions.into_iter().map(|action| (now, action)));
            self.server.tick(now);
        }
    }

    /// What is told must come next, at this moment.
    fn comes(&mut self, now: Moment, who: &str, what: &str) -> Result<(), String> {
        let Some((t, action)) = self.came.pop_front() else {
            return Err(format!(
                "at {} ms nothing came, expected {who} {what}",
                now.0 / MS
            ));
        };
        let found = shown(&action);
        if t != now {
            return Err(format!(
                "at {} ms, expected at {} ms: {found}",
                t.0 / MS,
                now.0 / MS
            ));
        }
        let expected = match (who, &action) {
            ("mock", Action::Write(_)) => shown(&Action::Write(told::bytes(what))),
            ("stderr", Action::Stderr(_)) => shown(&Action::Stderr(told::bytes(what))),
            ("like", Action::Write(_)) | ("say", Action::Say(_)) => return has_parts(&found, what),
            ("end", Action::End(_)) => format!("end {what}"),
            _ => format!("{who} {what}"),
        };
        (found == expected)
            .then_some(())
            .ok_or_else(|| format!("\n  came     {found}\n  expected {expected}"))
    }
}

fn shown(action: &Action) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match action {
        Action::Write(bytes) => format!("mock {}", text(bytes)),
        Action::Stderr(bytes) => format!("stderr {}", text(bytes)),
        Action::Say(said) => format!("say {said}"),
        Action::End(Ended::Missed) => "end missed".to_owned(),
        Action::End(Ended::Crash) => "end crash".to_owned(),
        Action::End(Ended::AsRecorded(End::Exited { code })) => format!("end died {code}"),
        Action::End(Ended::AsRecorded(End::Killed { signal })) => format!("end died {signal}"),
        Action::End(Ended::AsRecorded(other)) => format!("end {other:?}"),
    }
}

/// Whether `text` has these parts, in their order.
fn has_parts(text: &str, parts: &str) -> Result<(), String> {
    let mut rest = text;
    for part in parts.split(" .. ") {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return Err(format!("no {part:?} (in this place) in {text}")),
        }
    }
    Ok(())
}

fn compare_report(report: &Report, expected: &BTreeMap<String, toml::Value>) -> Result<(), String> {
    let tally = &report.tally;
    for (name, expected) in expected {
        let found = match name.as_str() {
            "recorded" => report.recorded,
            "used" => report.used(),
            "served" => tally.served,
            "repeated" => tally.repeated,
            "normalised" => tally.normalised,
            "missed" => tally.missed.count,
            "near" => tally.near.count,
            "out-of-order" => tally.out_of_order.count,
            "faults" => tally.faults,
            "malformed" => tally.malformed,
            "not-asked" => tally.not_asked,
            "unanswered" => tally.unanswered,
            "unexpected" => tally.unexpected,
            "orphans" => report.orphans,
            other => panic!("no figure {other}"),
        };
        let expected = expected.as_integer().expect("a figure is a number");
        if i64::try_from(found) != Ok(expected) {
            return Err(format!("{name}: {found}, expected {expected}"));
        }
    }
    Ok(())
}
