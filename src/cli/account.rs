//! The account of a session with a mock, as lines for stderr: for people, or one JSON object each.

use super::output;
use mcpreel_replay::mock::Report;
use mcpreel_replay::mock::mock_report::{Counted, Missed, Unused};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::text::{count, escape, plural};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// Requests and frames that are named for people; more do not help.
const MOST_NAMED: usize = 10;

/// What is counted in the first line, with the name for programs.
fn counted(report: &Report) -> [(&'static str, u64, &'static str); 7] {
    let tally = &report.tally;
    let (near, missed) = (tally.near.count, tally.missed.count);
    let out_of_order = tally.out_of_order.count;
    [
        ("repeated", tally.repeated, "repeated"),
        (
            "normalised",
            tally.normalised,
            "matched but for ids and times",
        ),
        ("near", near, "answered by the nearest"),
        ("missed", missed, "not on record"),
        ("out_of_order", out_of_order, "out of order"),
        ("faults", tally.faults, "gone wrong on purpose"),
        ("malformed", tally.malformed, "malformed"),
    ]
}

/// What is counted in a line of its own, with the name for programs.
fn noted(report: &Report) -> [(&'static str, u64, &'static str); 5] {
    let tally = &report.tally;
    [
        (
            "not_asked",
            tally.not_asked,
            "requests of the server were not made: the host has not declared that it can answer \
             them",
        ),
        (
            "unanswered",
            tally.unanswered,
            "requests of the server were not answered by the host",
        ),
        (
            "unexpected",
            tally.unexpected,
            "responses of the host answer nothing",
        ),
        (
            "unreadable",
            tally.unreadable,
            "parts of the recording could not be read",
        ),
        (
            "orphans",
            report.orphans,
            "recorded responses answer nothing, and are not served",
        ),
    ]
}

/// The account for people: a summary, then misses and whatever was otherwise than on record.
pub fn lines(report: &Report) -> Vec<String> {
    let tally = &report.tally;
    let recorded = plural(report.recorded, "recorded request");
    let (recording, used) = (escape(&report.recording), count(report.used()));
    let mut first = format!("mock of {recording}: {used} of {recorded} used");
    for (_, number, words) in counted(report).into_iter().filter(|it| it.1 > 0) {
        _ = write!(first, ", {} {words}", count(number));
    }
    let mut lines = vec![first];
    for (name, found) in [("nearest", &tally.near), ("missed", &tally.missed)] {
        let sentence = |it: &Missed| escape(&it.sentence(&report.recording)).into_owned();
        let named = named(found, sentence).into_iter();
        lines.extend(named.map(|text| format!("  {name}: {text}")));
    }
    let unused = named(&report.unused, |request| {
        format!(
            "#{} {}",
            request.seq.0,
            escape(&request.subject.to_string())
        )
    });
    let out_of_order = named(&tally.out_of_order, |seq| format!("#{}", seq.0));
    for (name, named) in [("unused", unused), ("out of order", out_of_order)] {
        if !named.is_empty() {
            lines.push(format!("  {name}: {}", named.join(", ")));
        }
    }
    let noted = noted(report).into_iter().filter(|it| it.1 > 0);
    lines.extend(noted.map(|(_, number, words)| format!("  {}: {words}", count(number))));
    lines.extend(report.unfired.iter().map(|rule| {
        let (at, rule) = (escape(&rule.at), escape(&rule.rule));
        format!("  {at}: the rule changed nothing: {rule}")
    }));
    lines
}

/// The first of what was found in words, and how many more there are.
fn named<T>(found: &Counted<T>, words: impl Fn(&T) -> String) -> Vec<String> {
    output::some(found.kept.iter().map(words), found.count, MOST_NAMED)
}

/// The account for programs: a summary, then an object for each of what was found.
pub fn json(report: &Report) -> Vec<Value> {
    let tally = &report.tally;
    let missed = |it: &Missed| {
        let (nearest, paths) = match &it.nearest {
            Some((seq, paths)) => (Some(seq.0), &paths[..]),
            None => (None, &[][..]),
        };
        json!({
            "method": escape(&it.subject.method),
            "name": it.subject.name.as_deref().map(escape),
            "reason": it.reason.as_str(),
            "nearest": nearest,
            "differs": paths.iter().map(|path| escape(path)).collect::<Vec<_>>(),
            "text": escape(&it.sentence(&report.recording)),
        })
    };
    let mut lines = Vec::new();
    let mut left_out = Map::new();
    listed("near", &tally.near, missed, &mut left_out, &mut lines);
    listed("missed", &tally.missed, missed, &mut left_out, &mut lines);
    let unused = |request: &Unused| {
        let subject = &request.subject;
        let name = subject.name.as_deref().map(escape);
        json!({"seq": request.seq.0, "method": escape(&subject.method), "name": name})
    };
    listed("unused", &report.unused, unused, &mut left_out, &mut lines);
    let seq = |seq: &Seq| json!({"seq": seq.0});
    let order = &tally.out_of_order;
    listed("out_of_order", order, seq, &mut left_out, &mut lines);
    let counts = counted(report).into_iter().chain(noted(report));
    let counts = counts.chain([("unused", report.unused.count, "")]);
    let counts: Map<_, _> = counts
        .map(|(key, number, _)| (key.to_owned(), number.into()))
        .collect();
    let summary = json!({
        "kind": "summary",
        "recording": escape(&report.recording),
        "recorded": report.recorded,
        "used": report.used(),
        "requests": tally.requests,
        "served": tally.served,
        "counts": counts,
        "left_out": left_out,
    });
    lines.insert(0, summary);
    lines.extend(report.unfired.iter().map(
        |rule| json!({"kind": "unfired", "at": escape(&rule.at), "rule": escape(&rule.rule)}),
    ));
    lines
}

fn listed<T>(
    kind: &str,
    found: &Counted<T>,
    object: impl Fn(&T) -> Value,
    left_out: &mut Map<String, Value>,
    lines: &mut Vec<Value>,
) {
    let more = found.count.saturating_sub(found.kept.len() as u64);
    left_out.insert(kind.to_owned(), more.into());
    lines.extend(found.kept.iter().map(|one| {
        let mut object = object(one);
        object["kind"] = kind.into();
        object
    }));
}
