//! What came of a session with a mock, in lines for stderr.

use mcpreel_replay::mock::Report;
use mcpreel_replay::mock::report::{Counted, Missed, Unused};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::text::{count, escape, plural};

/// Frames that are named; more do not help.
const MOST_NAMED: usize = 10;

const NOISE: &str = "matched but for ids and times";

const LEFT_OPEN: &str = "passed on, not answered";

const NOT_ASKED: &str = "requests of the server were not made: the host has not declared that it \
                         can answer them";

const ORPHANS: &str = "recorded responses answer nothing, and are not served";

/// Something that is counted.
pub struct Told<'r> {
    /// What it is called for programs.
    pub key: &'static str,
    /// What it is called in the first line, if it stands there.
    summary: Option<&'static str>,
    /// What it is called in a line of its own, if it has one.
    detail: Option<&'static str>,
    /// What there is of it.
    pub found: Found<'r>,
}

/// What there is of something that is counted.
pub enum Found<'r> {
    /// So much.
    Number(u64),
    /// These requests.
    Requests(&'r Counted<Missed>),
    /// These frames of the recording.
    Frames(&'r Counted<Seq>),
    /// These requests of the recording.
    Recorded(&'r Counted<Unused>),
}

impl Found<'_> {
    /// How much.
    pub fn count(&self) -> u64 {
        match self {
            Self::Number(number) => *number,
            Self::Requests(requests) => requests.count,
            Self::Frames(frames) => frames.count,
            Self::Recorded(requests) => requests.count,
        }
    }
}

/// All that is counted, in the order in which it is told.
#[rustfmt::skip]
pub fn all(report: &Report) -> Vec<Told<'_>> {
    use Found::{Frames, Number, Recorded, Requests};
    let t = &report.tally;
    let rows = [
        ("repeated", "repeated", "", Number(t.repeated)),
        ("normalised", NOISE, "matched", Requests(&t.normalised)),
        ("near", "answered by the nearest", "nearest", Requests(&t.near)),
        ("missed", "not on record", "missed", Requests(&t.missed)),
        ("passed", "passed on and answered", "answered by the server behind", Requests(&t.passed)),
        ("left_open", LEFT_OPEN, LEFT_OPEN, Requests(&t.left_open)),
        ("not_passed", "not passed on", "not passed on", Requests(&t.not_passed)),
        ("unused", "", "unused", Recorded(&report.unused)),
        ("out_of_order", "out of order", "out of order", Frames(&t.out_of_order)),
        ("otherwise", "", "the host's answers differ from", Frames(&t.otherwise)),
        ("faults", "gone wrong on purpose", "", Number(t.faults)),
        ("malformed", "malformed", "", Number(t.malformed)),
        ("not_asked", "", NOT_ASKED, Number(t.not_asked)),
        ("unanswered", "", "requests of the server were not answered by the host", Number(t.unanswered)),
        ("unexpected", "", "responses of the host answer nothing", Number(t.unexpected)),
        ("unreadable", "", "parts of the recording could not be read", Number(t.unreadable)),
        ("orphans", "", ORPHANS, Number(report.orphans)),
    ];
    let words = |words: &'static str| (!words.is_empty()).then_some(words);
    let told = rows.into_iter().map(|(key, summary, detail, found)| Told {
        key,
        summary: words(summary),
        detail: words(detail),
        found,
    });
    told.collect()
}

/// What came of it, in one line.
pub fn account(report: &Report) -> String {
    let recording = escape(&report.recording);
    let mut parts = vec![format!(
        "mock of {recording}: {} of {} used",
        count(report.used()),
        plural(report.recorded, "recorded request")
    )];
    for told in all(report) {
        let found = told.found.count();
        let summary = told.summary.filter(|_| found > 0);
        parts.extend(summary.map(|what| format!("{} {what}", count(found))));
    }
    parts.join(", ")
}

/// What was missed, left out, or otherwise than on record.
pub fn details(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    for told in all(report) {
        let Some(what) = told.detail.filter(|_| told.found.count() > 0) else {
            continue;
        };
        match told.found {
            Found::Number(number) => lines.push(format!("{}: {what}", count(number))),
            Found::Requests(missed) => requests(&mut lines, what, missed, &report.recording),
            Found::Frames(found) => {
                let named = |seq: &Seq| format!("#{}", seq.0);
                lines.push(format!("{what}: {}", all_of(found, named)));
            }
            Found::Recorded(found) => lines.push(format!("{what}: {}", all_of(found, unused))),
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

fn all_of<T>(found: &Counted<T>, name: impl Fn(&T) -> String) -> String {
    let named = found.kept.iter().take(MOST_NAMED);
    let mut named: Vec<_> = named.map(name).collect();
    let more = found.count.saturating_sub(MOST_NAMED as u64);
    if more > 0 {
        named.push(format!("and {} more", count(more)));
    }
    named.join(", ")
}
