//! What came of a session with a mock, for programs: one JSON object per line, a summary first.

use super::Broken;
use super::told::{self, Found};
use mcpreel_replay::mock::Report;
use mcpreel_replay::mock::report::{Missed, Unused};
use mcpreel_wire::text::escape;
use serde_json::{Map, Value, json};

/// A remark.
pub fn remark(text: &str) -> Value {
    json!({"kind": "remark", "text": escape(text)})
}

/// What came of it, with the assertions that do not hold.
pub fn report(report: &Report, broken: &[Broken]) -> Vec<Value> {
    let mut lines = vec![summary(report)];
    for told in told::all(report) {
        match told.found {
            Found::Number(_) => {}
            Found::Requests(requests) => {
                let kept = requests.kept.iter();
                lines.extend(kept.map(|one| request(told.key, one, &report.recording)));
            }
            Found::Frames(frames) => {
                let kept = frames.kept.iter();
                lines.extend(kept.map(|seq| json!({"kind": told.key, "seq": seq.0})));
            }
            Found::Recorded(requests) => {
                let kept = requests.kept.iter();
                lines.extend(kept.map(|one| recorded(told.key, one)));
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

fn summary(report: &Report) -> Value {
    let (mut counts, mut left_out) = (Map::new(), Map::new());
    for told in told::all(report) {
        counts.insert(told.key.to_owned(), told.found.count().into());
        let more = match told.found {
            Found::Number(_) => continue,
            Found::Requests(requests) => requests.more(),
            Found::Frames(frames) => frames.more(),
            Found::Recorded(requests) => requests.more(),
        };
        left_out.insert(told.key.to_owned(), more.into());
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
        "behind_failed": tally.behind_failed.as_deref().map(escape),
    })
}

/// A request that is on record.
fn recorded(kind: &str, request: &Unused) -> Value {
    let subject = request.subject.as_ref();
    let name = subject.and_then(|subject| subject.name.as_deref());
    json!({
        "kind": kind,
        "seq": request.seq.0,
        "method": subject.map(|subject| escape(&subject.method)),
        "name": name.map(escape),
    })
}

/// A request that is not on record: what became of it, why it is none, and what comes nearest.
fn request(kind: &str, missed: &Missed, recording: &str) -> Value {
    let nearest = missed.nearest.as_ref();
    let differs = nearest.map(|(_, paths)| paths.iter().map(|path| escape(path)));
    json!({
        "kind": kind,
        "method": escape(&missed.method),
        "name": missed.name.as_deref().map(escape),
        "reason": missed.reason.as_str(),
        "nearest": nearest.map(|(seq, _)| seq.0),
        "differs": differs.into_iter().flatten().collect::<Vec<_>>(),
        "text": escape(&missed.sentence(recording)),
    })
}
