//! What redaction finds and what it touches, by classes of places, and the table of that in
//! `docs/redaction.md`.
//!
//! The cases were made up by people who had not seen the engine, from manuals, public lists of
//! rules and what logs look like.

use crate::redact::corpus::Session;
use crate::redact::engine::{policy, redacted};
use mcpreel_trace::frame::StreamId;
use serde::Deserialize;
use serde_json::json;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::Path;

/// Each class: its name, and what share of its secrets the first version found and of its
/// look-alikes it touched, in percent.
const CLASSES: [(&str, f64, f64); 11] = [
    ("shapes", 0.0, 0.0),
    ("variables", 0.0, 0.0),
    ("json", 0.0, 0.0),
    ("files", 0.0, 0.0),
    ("http", 0.0, 0.0),
    ("commands", 0.0, 0.0),
    ("argv", 0.0, 0.0),
    ("prose", 0.0, 0.0),
    ("tables", 0.0, 0.0),
    ("languages", 0.0, 0.0),
    ("encodings", 0.0, 0.0),
];

#[derive(Deserialize)]
struct Class {
    secret: Vec<Case>,
    alike: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    place: String,
    text: String,
    value: Option<String>,
    #[serde(default)]
    values: Vec<String>,
}

impl Case {
    fn session(&self) -> Session {
        let mut session = Session::default();
        let parsed = || serde_json::from_str::<serde_json::Value>(&self.text).expect("it is JSON");
        let message = match self.place.as_str() {
            "stderr" => {
                let lines = self.text.split_inclusive('\n');
                let frames = lines.map(|line| (StreamId::STDERR, line.as_bytes().to_vec()));
                session.frames.extend(frames);
                return session;
            }
            "argv" => {
                session.context.argv = serde_json::from_value(parsed()).expect("they are words");
                return session;
            }
            "text" => {
                json!({"id": 1, "result": {"content": [{"type": "text", "text": self.text}]}})
            }
            "structured" => json!({"id": 1, "result": {"structuredContent": parsed()}}),
            "arguments" => {
                let params = json!({"name": "run", "arguments": parsed()});
                json!({"id": 1, "method": "tools/call", "params": params})
            }
            other => panic!("where is {other}?"),
        };
        let stream = match self.place.as_str() {
            "arguments" => StreamId::C2S,
            _ => StreamId::S2C,
        };
        let line = format!("{message}\n");
        session.frames.push((stream, line.into_bytes()));
        session
    }

    fn values(&self) -> impl Iterator<Item = &String> {
        self.value.iter().chain(&self.values)
    }

    /// What is left of its values, a half of one included.
    fn left(&self) -> Vec<&str> {
        let text = said(&redacted(&self.session(), &policy()).0);
        let parts = self.values().flat_map(|value| {
            let middle = value.ceil_char_boundary(value.len() / 2);
            let (head, tail) = value.split_at(middle);
            let halves = [head, tail].into_iter().filter(|half| half.len() >= 8);
            let is_elsewhere = |half: &str| self.text.replace(value.as_str(), "").contains(half);
            let halves = halves.filter(move |half| !is_elsewhere(half));
            std::iter::once(value.as_str()).chain(halves)
        });
        parts.filter(|part| text.contains(part)).collect()
    }

    fn is_touched(&self) -> bool {
        let session = self.session();
        said(&redacted(&session, &policy()).0) != said(&session)
    }
}

/// All that a session says, the strings of its messages as they were before they became JSON.
fn said(session: &Session) -> String {
    let mut text = session.context.argv.join("\n");
    for (stream, raw) in &session.frames {
        let raw = String::from_utf8_lossy(raw);
        match serde_json::from_str(&raw) {
            Ok(value) if *stream != StreamId::STDERR => strings(&value, &mut text),
            _ => text.push_str(&raw),
        }
    }
    text
}

fn strings(value: &serde_json::Value, text: &mut String) {
    match value {
        serde_json::Value::Object(members) => members.iter().for_each(|(name, value)| {
            let _ = write!(text, "\n{name}: ");
            strings(value, text);
        }),
        serde_json::Value::Array(elements) => elements.iter().for_each(|one| strings(one, text)),
        serde_json::Value::String(string) => {
            text.push('\n');
            text.push_str(string);
        }
        other => _ = write!(text, "\n{other}"),
    }
}

fn class(name: &str) -> Class {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/share/redact/classes");
    let text =
        std::fs::read_to_string(path.join(name).with_extension("toml")).expect("it is there");
    // Taken out, so that nobody takes the file for a leak.
    toml::from_str(&text.replace('¦', "")).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// `found` of `all` in percent.
fn share(found: usize, all: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "some hundreds")]
    let share = 100.0 * found as f64 / all as f64;
    (share * 10.0).round() / 10.0
}

#[test]
fn the_table_of_classes_is_what_redaction_does_and_keeps_its_goals() {
    let mut table = String::from(
        "| class | secrets | found before | found | look-alikes | touched before | touched |\n|---|---|---|---|---|---|---|\n",
    );
    let (mut told, mut fine, mut missed) = (HashSet::new(), true, String::new());
    let mut sums = [0; 4];
    for (name, found_before, touched_before) in CLASSES {
        let class = class(name);
        let cases = class.secret.iter().chain(&class.alike);
        assert!(
            cases.clone().all(|case| told.insert(case.text.clone())),
            "{name}"
        );
        let (mut all, mut found) = (0, 0);
        for case in &class.secret {
            let left = case.left();
            let whole = case
                .values()
                .filter(|value| !left.iter().any(|part| value.contains(part)));
            found += whole.count();
            all += case.values().count();
            if !left.is_empty() {
                let _ = writeln!(
                    missed,
                    "== {name} left {left:?} in {}: {}",
                    case.place, case.text
                );
            }
        }
        let touched = class.alike.iter().filter(|case| case.is_touched());
        let touched = touched.inspect(|case| {
            let after = said(&redacted(&case.session(), &policy()).0);
            let _ = writeln!(
                missed,
                "== {name} touched in {}: {}\n-> {after}",
                case.place, case.text
            );
        });
        let touched = touched.count();
        let row = [all, found, class.alike.len(), touched];
        sums.iter_mut().zip(row).for_each(|(sum, one)| *sum += one);
        fine &= share(found, all) >= 90.0;
        let _ = writeln!(
            table,
            "| {name} | {all} | {found_before} % | {} % | {} | {touched_before} % | {} % |",
            share(found, all),
            class.alike.len(),
            share(touched, class.alike.len()),
        );
    }
    let [all, found, alikes, touched] = sums;
    let _ = writeln!(
        table,
        "| together | {all} | | {} % | {alikes} | | {} % |",
        share(found, all),
        share(touched, alikes)
    );
    if let Some(path) = std::env::var_os("MCPREEL_TELL_MISSED") {
        std::fs::write(path, &missed).expect("it can be written");
    }
    let is_good = fine && share(found, all) >= 97.0 && share(touched, alikes) <= 0.5;
    assert!(is_good, "{table}\n{missed}");
}
