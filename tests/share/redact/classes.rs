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
    ("shapes", 79.4, 3.1),
    ("variables", 94.9, 11.5),
    ("json", 81.8, 9.5),
    ("files", 67.8, 13.3),
    ("http", 92.3, 11.9),
    ("commands", 68.9, 7.9),
    ("argv", 89.7, 4.7),
    ("prose", 27.7, 0.0),
    ("tables", 27.7, 0.0),
    ("languages", 2.6, 5.4),
    ("encodings", 75.6, 3.2),
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

/// The cases of a class: those that the engine was made with, or those in `unseen`, which nobody
/// looks at while working on it.
fn class(folder: &str, name: &str) -> Class {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/share/redact");
    let path = path.join(folder).join(name).with_extension("toml");
    let text = std::fs::read_to_string(path).expect("it is there");
    // Taken out, so that nobody takes the file for a leak.
    toml::from_str(&text.replace('¦', "")).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// `found` of `all` in percent.
fn share(found: usize, all: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "some hundreds")]
    let share = 100.0 * found as f64 / all as f64;
    (share * 10.0).round() / 10.0
}

/// Secrets, those found, look-alikes, and those touched.
type Counts = [usize; 4];

/// What is found and touched in the cases of a class; adds to `wrong` what is not as it should be.
fn judge(folder: &str, name: &str, wrong: &mut String) -> Counts {
    let class = class(folder, name);
    let mut told = HashSet::new();
    let mut cases = class.secret.iter().chain(&class.alike);
    assert!(cases.all(|case| told.insert(case.text.clone())), "{name}");
    let (mut all, mut found, mut touched) = (0, 0, 0);
    for case in &class.secret {
        let left = case.left();
        let is_found = |value: &&String| !left.iter().any(|part| value.contains(part));
        found += case.values().filter(is_found).count();
        all += case.values().count();
        if !left.is_empty() {
            let _ = writeln!(wrong, "== {name}: left of {}: {left:?}", case.text);
        }
    }
    for case in class.alike.iter().filter(|case| case.is_touched()) {
        touched += 1;
        let after = said(&redacted(&case.session(), &policy()).0);
        let _ = writeln!(wrong, "== {name}: touched: {}\n-> {after}", case.text);
    }
    [all, found, class.alike.len(), touched]
}

/// The table, class by class, and the wrong cases of those that are no secret to the engine.
fn table() -> (String, String) {
    let mut table = "| class | secrets | found before | found | of unseen ones | look-alikes | touched before | touched | of unseen ones |\n\
                     |---|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    let (mut wrong, mut sums) = (String::new(), [[0; 4]; 2]);
    let mut row = |name: &str, [seen, unseen]: [Counts; 2], [found, touched]: [String; 2]| {
        let share = |counts: Counts, at: usize| share(counts[at + 1], counts[at]);
        let _ = writeln!(
            table,
            "| {name} | {} | {found} | {} % | {} % | {} | {touched} | {} % | {} % |",
            seen[0],
            share(seen, 0),
            share(unseen, 0),
            seen[2],
            share(seen, 2),
            share(unseen, 2),
        );
    };
    for (name, found, touched) in CLASSES {
        let counts = [
            judge("classes", name, &mut wrong),
            judge("unseen", name, &mut String::new()),
        ];
        for (sum, one) in sums.iter_mut().flatten().zip(counts.iter().flatten()) {
            *sum += one;
        }
        row(
            name,
            counts,
            [found, touched].map(|before| format!("{before} %")),
        );
    }
    row("together", sums, Default::default());
    (table, wrong)
}

#[test]
fn the_table_of_classes_is_what_redaction_does() {
    const MARKS: [&str; 2] = ["<!-- classes -->\n", "<!-- end -->"];
    let (table, wrong) = table();
    if let Some(path) = std::env::var_os("MCPREEL_WRITE_WRONG") {
        std::fs::write(path, &wrong).expect("it can be written");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/redaction.md");
    let page = std::fs::read_to_string(&path).expect("it is there");
    let (head, rest) = page.split_once(MARKS[0]).expect("the table begins");
    let (written, foot) = rest.split_once(MARKS[1]).expect("the table ends");
    if std::env::var_os("MCPREEL_WRITE_TABLE").is_some() {
        let page = [head, MARKS[0], &table, MARKS[1], foot].concat();
        std::fs::write(&path, page).expect("it can be written");
        return;
    }
    assert!(
        written == table,
        "docs/redaction.md is stale: MCPREEL_WRITE_TABLE=1 cargo test --test share classes\n{table}"
    );
}
