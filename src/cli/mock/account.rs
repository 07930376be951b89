//! The account of a session with a mock, as lines for stderr: for people, or one JSON object each.

use super::Broken;
use mcpreel_replay::mock::Report;
use mcpreel_replay::mock::report::{Counted, Missed, Unused};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::text::{count, escape, plural};
use serde_json::{Map, Value, json};

/// Frames that are named; more do not help.
const MOST_NAMED: usize = 10;

const NOT_ASKED: &str = "requests of the server were not made: the host has not declared that it \
                         can answer them";

const ORPHANS: &str = "recorded responses answer nothing, and are not served";

/// Something that is counted.
struct Row<'r> {
    /// Its name for programs.
    key: &'static str,
    /// Its name in the first line; empty if it does not stand there.
    summary: &'static str,
    /// Its name in a line of its own; empty if it has none.
    detail: &'static str,
    found: Found<'r>,
}

enum Found<'r> {
    Number(u64),
    Requests(&'r Counted<Missed>),
    /// Frames of the recording.
    Frames(&'r Counted<Seq>),
    /// Requests of the recording.
    Recorded(&'r Counted<Unused>),
}

impl Found<'_> {
    fn count(&self) -> u64 {
        match self {
            Self::Number(number) => *number,
            Self::Requests(requests) => requests.count,
            Self::Frames(frames) => frames.count,
            Self::Recorded(requests) => requests.count,
        }
    }

    /// How many are not kept; `None` for a number.
    fn more(&self) -> Option<u64> {
        match self {
            Self::Number(_) => None,
            Self::Requests(requests) => Some(requests.more()),
            Self::Frames(frames) => Some(frames.more()),
            Self::Recorded(requests) => Some(requests.more()),
        }
    }
}

/// All that is counted, in the order in which it is told.
#[rustfmt::skip]
fn rows(report: &Report) -> impl Iterator<Item = Row<'_>> {
    use Found::{Frames, Number, Recorded, Requests};
    let t = &report.tally;
    let rows = [
        ("repeated", "repeated", "", Number(t.repeated)),
        ("normalised", "matched but for ids and times", "", Number(t.normalised)),
        ("near", "answered by the nearest", "nearest", Requests(&t.near)),
        ("missed", "not on record", "missed", Requests(&t.missed)),
        ("unused", "", "unused", Recorded(&report.unused)),
        ("out_of_order", "out of order", "out of order", Frames(&t.out_of_order)),
        ("faults", "gone wrong on purpose", "", Number(t.faults)),
        ("malformed", "malformed", "", Number(t.malformed)),
        ("not_asked", "", NOT_ASKED, Number(t.not_asked)),
        ("unanswered", "", "requests of the server were not answered by the host", Number(t.unanswered)),
        ("unexpected", "", "responses of the host answer nothing", Number(t.unexpected)),
        ("unreadable", "", "parts of the recording could not be read", Number(t.unreadable)),
        ("orphans", "", ORPHANS, Number(report.orphans)),
    ];
    rows.into_iter().map(|(key, summary, detail, found)| Row { key, summary, detail, found })
}

/// What came of it, in one line.
pub fn summary(report: &Report) -> String {
    let recording = escape(&report.recording);
    let mut parts = vec![format!(
        "mock of {recording}: {} of {} used",
        count(report.used()),
        plural(report.recorded, "recorded request")
    )];
    let named = rows(report).filter(|row| !row.summary.is_empty() && row.found.count() > 0);
    parts.extend(named.map(|row| format!("{} {}", count(row.found.count()), row.summary)));
    parts.join(", ")
}

/// What was missed, left out, or otherwise than on record.
pub fn details(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    for row in rows(report).filter(|row| !row.detail.is_empty() && row.found.count() > 0) {
        let what = row.detail;
        match row.found {
            Found::Number(number) => lines.push(format!("{}: {what}", count(number))),
            Found::Requests(missed) => requests(&mut lines, what, missed, &report.recording),
            Found::Frames(found) => {
                let named = |seq: &Seq| format!("#{}", seq.0);
                lines.push(format!("{what}: {}", first_of(found, named)));
            }
            Found::Recorded(found) => lines.push(format!("{what}: {}", first_of(found, unused))),
        }
    }
    let unfired = report.unfired.iter().take(MOST_NAMED);
    lines.extend(unfired.map(|rule| {
        let (at, rule) = (escape(&rule.at), escape(&rule.rule));
        format!("{at}: the rule changed nothing: {rule}")
    }));
    let more = report.unfired.len().saturating_sub(MOST_NAMED) as u64;
    if more > 0 {
        lines.push(format!(
            "{} that changed nothing",
            plural(more, "more rule")
        ));
    }
    lines
}

fn requests(lines: &mut Vec<String>, what: &str, missed: &Counted<Missed>, recording: &str) {
    for one in missed.kept.iter().take(MOST_NAMED) {
        let sentence = one.sentence(recording);
        lines.push(format!("{what}: {}", escape(&sentence)));
    }
    let more = missed.count.saturating_sub(MOST_NAMED as u64);
    if more > 0 {
        lines.push(format!("{what}: {} more", count(more)));
    }
}

/// `#12 tools/call search`
fn unused(request: &Unused) -> String {
    let subject = request.subject.as_ref();
    let subject = subject.map(|subject| format!(" {}", escape(&subject.to_string())));
    format!("#{}{}", request.seq.0, subject.unwrap_or_default())
}

fn first_of<T>(found: &Counted<T>, name: impl Fn(&T) -> String) -> String {
    let named = found.kept.iter().take(MOST_NAMED);
    let mut named: Vec<_> = named.map(name).collect();
    let more = found.count.saturating_sub(MOST_NAMED as u64);
    if more > 0 {
        named.push(format!("and {} more", count(more)));
    }
    named.join(", ")
}

/// The account for programs, with the assertions that do not hold.
pub fn json(report: &Report, broken: &[Broken]) -> Vec<Value> {
    let mut lines = vec![summary_json(report)];
    for row in rows(report) {
        let kind = row.key;
        match row.found {
            Found::Number(_) => {}
            Found::Requests(found) => {
                let kept = found.kept.iter();
                lines.extend(kept.map(|one| missed_json(kind, one, &report.recording)));
            }
            Found::Frames(found) => {
                let kept = found.kept.iter();
                lines.extend(kept.map(|seq| json!({"kind": kind, "seq": seq.0})));
            }
            Found::Recorded(found) => {
                let kept = found.kept.iter();
                lines.extend(kept.map(|one| unused_json(kind, one)));
            }
        }
    }
    lines.extend(report.unfired.iter().map(
        |rule| json!({"kind": "unfired", "at": escape(&rule.at), "rule": escape(&rule.rule)}),
    ));
    lines.extend(broken.iter().map(
        |broken| json!({"kind": "assertion", "assertion": broken.flag, "found": broken.found}),
    ));
    lines
}

fn summary_json(report: &Report) -> Value {
    let (mut counts, mut left_out) = (Map::new(), Map::new());
    for row in rows(report) {
        counts.insert(row.key.to_owned(), row.found.count().into());
        if let Some(more) = row.found.more() {
            left_out.insert(row.key.to_owned(), more.into());
        }
    }
    let tally = &report.tally;
    json!({
        "kind": "summary",
        "recording": escape(&report.recording),
        "recorded": report.recorded,
        "used": report.used(),
        "requests": tally.requests,
        "served": tally.served,
        "counts": counts,
        "left_out": left_out,
    })
}

fn unused_json(kind: &str, request: &Unused) -> Value {
    let subject = request.subject.as_ref();
    let name = subject.and_then(|subject| subject.name.as_deref());
    json!({
        "kind": kind,
        "seq": request.seq.0,
        "method": subject.map(|subject| escape(&subject.method)),
        "name": name.map(escape),
    })
}

fn missed_json(kind: &str, missed: &Missed, recording: &str) -> Value {
    let nearest = missed.nearest.as_ref();
    let differs = nearest.map(|(_, paths)| paths.iter().map(|path| escape(path)));
    json!({
        "kind": kind,
        "method": escape(&missed.subject.method),
        "name": missed.subject.name.as_deref().map(escape),
        "reason": missed.reason.as_str(),
        "nearest": nearest.map(|(seq, _)| seq.0),
        "differs": differs.into_iter().flatten().collect::<Vec<_>>(),
        "text": escape(&missed.sentence(recording)),
    })
}
