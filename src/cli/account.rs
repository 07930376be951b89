//! The account of a session with a mock, as lines for stderr: for people, or one JSON object each.

use mcpreel_replay::mock::Report;
use mcpreel_replay::mock::mock_report::{Counted, Missed};
use mcpreel_wire::text::{count, escape, plural};
use serde_json::{Map, Value, json};

/// Requests and frames that are named for people; more do not help.
const MOST_NAMED: usize = 10;

/// Something that is counted.
struct Row {
    /// The name for programs.
    key: &'static str,
    /// The name in the first line; empty if it does not stand there.
    summary: &'static str,
    /// The name in lines of its own; empty if it has none.
    detail: &'static str,
    count: u64,
    /// The first items of a list, for people and for programs.
    items: Option<Vec<(String, Value)>>,
}

impl Row {
    fn number(key: &'static str, summary: &'static str, count: u64) -> Self {
        Self {
            key,
            summary,
            detail: "",
            count,
            items: None,
        }
    }

    fn note(key: &'static str, detail: &'static str, count: u64) -> Self {
        Self {
            detail,
            ..Self::number(key, "", count)
        }
    }

    fn list<T>(
        (key, summary, detail): (&'static str, &'static str, &'static str),
        found: &Counted<T>,
        item: impl Fn(&T) -> (String, Value),
    ) -> Self {
        Self {
            detail,
            items: Some(found.kept.iter().map(item).collect()),
            ..Self::number(key, summary, found.count)
        }
    }
}

/// All that is counted, in the order in which it is told.
fn rows(report: &Report) -> Vec<Row> {
    let tally = &report.tally;
    let missed = |missed: &Missed| {
        let text = escape(&missed.sentence(&report.recording)).into_owned();
        let nearest = missed.nearest.as_ref();
        let paths = nearest.map_or(&[][..], |(_, paths)| paths);
        let object = json!({
            "method": escape(&missed.subject.method),
            "name": missed.subject.name.as_deref().map(escape),
            "reason": missed.reason.as_str(),
            "nearest": nearest.map(|(seq, _)| seq.0),
            "differs": paths.iter().map(|path| escape(path)).collect::<Vec<_>>(),
            "text": text,
        });
        (text, object)
    };
    let near = ("near", "answered by the nearest", "nearest");
    let not_there = ("missed", "not on record", "missed");
    let out_of_order = ("out_of_order", "out of order", "out of order");
    vec![
        Row::number("repeated", "repeated", tally.repeated),
        Row::number(
            "normalised",
            "matched but for ids and times",
            tally.normalised,
        ),
        Row::list(near, &tally.near, missed),
        Row::list(not_there, &tally.missed, missed),
        Row::list(("unused", "", "unused"), &report.unused, |request| {
            let (seq, subject) = (request.seq.0, request.subject.as_ref());
            let text =
                subject.map_or_else(String::new, |it| format!(" {}", escape(&it.to_string())));
            let name = subject.and_then(|subject| subject.name.as_deref());
            let method = subject.map(|subject| escape(&subject.method));
            let object = json!({"seq": seq, "method": method, "name": name.map(escape)});
            (format!("#{seq}{text}"), object)
        }),
        Row::list(out_of_order, &tally.out_of_order, |seq| {
            (format!("#{}", seq.0), json!({"seq": seq.0}))
        }),
        Row::number("faults", "gone wrong on purpose", tally.faults),
        Row::number("malformed", "malformed", tally.malformed),
        Row::note(
            "not_asked",
            "requests of the server were not made: the host has not declared that it can answer \
             them",
            tally.not_asked,
        ),
        Row::note(
            "unanswered",
            "requests of the server were not answered by the host",
            tally.unanswered,
        ),
        Row::note(
            "unexpected",
            "responses of the host answer nothing",
            tally.unexpected,
        ),
        Row::note(
            "unreadable",
            "parts of the recording could not be read",
            tally.unreadable,
        ),
        Row::note(
            "orphans",
            "recorded responses answer nothing, and are not served",
            report.orphans,
        ),
    ]
}

/// The account for people: a summary, then misses and whatever was otherwise than on record.
pub fn lines(report: &Report) -> Vec<String> {
    let rows = rows(report);
    let rows = || rows.iter().filter(|row| row.count > 0);
    let mut parts = vec![format!(
        "mock of {}: {} of {} used",
        escape(&report.recording),
        count(report.used()),
        plural(report.recorded, "recorded request")
    )];
    let named = rows().filter(|row| !row.summary.is_empty());
    parts.extend(named.map(|row| format!("{} {}", count(row.count), row.summary)));
    let mut lines = vec![parts.join(", ")];
    for row in rows().filter(|row| !row.detail.is_empty()) {
        let Some(items) = &row.items else {
            lines.push(format!("  {}: {}", count(row.count), row.detail));
            continue;
        };
        let mut texts: Vec<_> = items
            .iter()
            .take(MOST_NAMED)
            .map(|(text, _)| text.clone())
            .collect();
        let more = row.count.saturating_sub(texts.len() as u64);
        if more > 0 {
            texts.push(format!("and {} more", count(more)));
        }
        // A near miss takes a line.
        if matches!(row.key, "near" | "missed") {
            lines.extend(texts.iter().map(|text| format!("  {}: {text}", row.detail)));
        } else {
            lines.push(format!("  {}: {}", row.detail, texts.join(", ")));
        }
    }
    lines.extend(report.unfired.iter().map(|rule| {
        let (at, rule) = (escape(&rule.at), escape(&rule.rule));
        format!("  {at}: the rule changed nothing: {rule}")
    }));
    lines
}

/// The account for programs.
pub fn json(report: &Report) -> Vec<Value> {
    let (mut counts, mut left_out, mut lines) = (Map::new(), Map::new(), Vec::new());
    for row in rows(report) {
        counts.insert(row.key.to_owned(), row.count.into());
        if let Some(items) = row.items {
            let more = row.count.saturating_sub(items.len() as u64);
            left_out.insert(row.key.to_owned(), more.into());
            lines.extend(items.into_iter().map(|(_, mut object)| {
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
    lines
}
