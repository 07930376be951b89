//! The account of a session with a mock, as lines for stderr: for people, or one JSON object each.

use super::Broken;
use mcpreel_replay::mock::Report;
use mcpreel_replay::mock::mock_report::{Counted, Missed, Unused};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::text::{count, escape, plural};
use serde_json::{Map, Value, json};

/// Requests and frames that are named for people; more do not help.
const MOST_NAMED: usize = 10;

const NOT_ASKED: &str = "requests of the server were not made: the host has not declared that it \
                         can answer them";

const ORPHANS: &str = "recorded responses answer nothing, and are not served";

/// Something that is counted.
struct Row {
    /// Its name for programs.
    key: &'static str,
    /// Its name in the first line; empty if it does not stand there.
    summary: &'static str,
    /// Its name in lines of its own; empty if it has none.
    detail: &'static str,
    found: Found,
}

struct Found {
    count: u64,
    /// What is kept of a list; `None` where there is only a number.
    list: Option<List>,
}

struct List {
    /// How many are not kept.
    more: u64,
    /// For people: each on a line of its own, or all on one.
    texts: Vec<String>,
    has_lines: bool,
    /// For programs, without their kind.
    objects: Vec<Value>,
}

impl From<u64> for Found {
    fn from(count: u64) -> Self {
        Self { count, list: None }
    }
}

impl Found {
    fn list<T>(found: &Counted<T>, both: impl Fn(&T) -> (String, Value)) -> Self {
        let (texts, objects) = found.kept.iter().map(both).unzip();
        let list = List {
            more: found.more(),
            texts,
            has_lines: false,
            objects,
        };
        Self {
            count: found.count,
            list: Some(list),
        }
    }

    fn missed(found: &Counted<Missed>, recording: &str) -> Self {
        let mut found = Self::list(found, |missed| {
            let text = escape(&missed.sentence(recording)).into_owned();
            let nearest = missed.nearest.as_ref();
            let paths = nearest.map(|(_, paths)| paths.iter().map(|path| escape(path)));
            let object = json!({
                "method": escape(&missed.subject.method),
                "name": missed.subject.name.as_deref().map(escape),
                "reason": missed.reason.as_str(),
                "nearest": nearest.map(|(seq, _)| seq.0),
                "differs": paths.into_iter().flatten().collect::<Vec<_>>(),
                "text": text,
            });
            (text, object)
        });
        found.list.iter_mut().for_each(|list| list.has_lines = true);
        found
    }

    fn frames(found: &Counted<Seq>) -> Self {
        Self::list(found, |seq| (format!("#{}", seq.0), json!({"seq": seq.0})))
    }

    fn unused(found: &Counted<Unused>) -> Self {
        Self::list(found, |request| {
            let (seq, subject) = (request.seq.0, request.subject.as_ref());
            let text = match subject {
                Some(subject) => format!("#{seq} {}", escape(&subject.to_string())),
                None => format!("#{seq}"),
            };
            let name = subject.and_then(|subject| subject.name.as_deref());
            let method = subject.map(|subject| escape(&subject.method));
            (
                text,
                json!({"seq": seq, "method": method, "name": name.map(escape)}),
            )
        })
    }
}

/// All that is counted, in the order in which it is told.
#[rustfmt::skip]
fn rows(report: &Report) -> impl Iterator<Item = Row> {
    let (t, recording) = (&report.tally, &*report.recording);
    let rows: [(_, _, _, Found); 13] = [
        ("repeated", "repeated", "", t.repeated.into()),
        ("normalised", "matched but for ids and times", "", t.normalised.into()),
        ("near", "answered by the nearest", "nearest", Found::missed(&t.near, recording)),
        ("missed", "not on record", "missed", Found::missed(&t.missed, recording)),
        ("unused", "", "unused", Found::unused(&report.unused)),
        ("out_of_order", "out of order", "out of order", Found::frames(&t.out_of_order)),
        ("faults", "gone wrong on purpose", "", t.faults.into()),
        ("malformed", "malformed", "", t.malformed.into()),
        ("not_asked", "", NOT_ASKED, t.not_asked.into()),
        ("unanswered", "", "requests of the server were not answered by the host", t.unanswered.into()),
        ("unexpected", "", "responses of the host answer nothing", t.unexpected.into()),
        ("unreadable", "", "parts of the recording could not be read", t.unreadable.into()),
        ("orphans", "", ORPHANS, report.orphans.into()),
    ];
    rows.into_iter().map(|(key, summary, detail, found)| Row { key, summary, detail, found })
}

/// What came of the session, in one line.
pub fn summary(report: &Report) -> String {
    let recording = escape(&report.recording);
    let mut parts = vec![format!(
        "mock of {recording}: {} of {} used",
        count(report.used()),
        plural(report.recorded, "recorded request")
    )];
    let named = rows(report).filter(|row| !row.summary.is_empty() && row.found.count > 0);
    parts.extend(named.map(|row| format!("{} {}", count(row.found.count), row.summary)));
    parts.join(", ")
}

/// What was missed, left out, or otherwise than on record.
pub fn details(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    for row in rows(report).filter(|row| !row.detail.is_empty() && row.found.count > 0) {
        let (what, all) = (row.detail, row.found.count);
        let Some(mut list) = row.found.list else {
            lines.push(format!("{}: {what}", count(all)));
            continue;
        };
        list.texts.truncate(MOST_NAMED);
        let more = all.saturating_sub(MOST_NAMED as u64);
        match (list.has_lines, more) {
            (_, 0) => {}
            (true, more) => list.texts.push(format!("{} more", count(more))),
            (false, more) => list.texts.push(format!("and {} more", count(more))),
        }
        if list.has_lines {
            lines.extend(list.texts.iter().map(|text| format!("{what}: {text}")));
        } else {
            lines.push(format!("{what}: {}", list.texts.join(", ")));
        }
    }
    lines.extend(report.unfired.iter().map(|rule| {
        let (at, rule) = (escape(&rule.at), escape(&rule.rule));
        format!("{at}: the rule changed nothing: {rule}")
    }));
    lines
}

/// The account for programs, with the assertions that do not hold.
pub fn json(report: &Report, broken: &[Broken]) -> Vec<Value> {
    let (mut counts, mut left_out, mut lines) = (Map::new(), Map::new(), Vec::new());
    for row in rows(report) {
        counts.insert(row.key.to_owned(), row.found.count.into());
        if let Some(list) = row.found.list {
            left_out.insert(row.key.to_owned(), list.more.into());
            lines.extend(list.objects.into_iter().map(|mut object| {
                object["kind"] = row.key.into();
                object
            }));
        }
    }
    let summary = json!({
        "kind": "summary",
        "recording": escape(&report.recording),
        "recorded": report.recorded,
        "used": report.used(),
        "requests": report.tally.requests,
        "served": report.tally.served,
        "counts": counts,
        "left_out": left_out,
    });
    lines.insert(0, summary);
    lines.extend(report.unfired.iter().map(
        |rule| json!({"kind": "unfired", "at": escape(&rule.at), "rule": escape(&rule.rule)}),
    ));
    lines.extend(broken.iter().map(
        |broken| json!({"kind": "assertion", "assertion": broken.flag, "found": broken.found}),
    ));
    lines
}
