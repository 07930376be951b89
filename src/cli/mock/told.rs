//! What came of a session with a mock, in lines for stderr.

use crate::replay::mock::Report;
use crate::replay::mock::report::{Counted, Missed};
use crate::text::{count, escape, plural};
use crate::trace::frame::Seq;

/// Frames that are named; more do not help.
const MOST_NAMED: usize = 10;

/// What came of it, in one line.
pub fn account(report: &Report) -> String {
    let tally = &report.tally;
    let recording = escape(&report.recording);
    let mut parts = vec![format!(
        "mock of {recording}: {} of {} used",
        count(report.used()),
        plural(report.recorded, "recorded request")
    )];
    let numbers = [
        (tally.repeated, "repeated"),
        (tally.normalised, "matched but for ids and times"),
        (tally.near.count, "answered by the nearest"),
        (tally.missed.count, "not on record"),
        (tally.passed.count, "passed on and answered"),
        (tally.left_open.count, "passed on, not answered"),
        (tally.not_passed.count, "not passed on"),
        (tally.out_of_order.count, "out of order"),
        (tally.faults, "gone wrong on purpose"),
        (tally.malformed, "malformed"),
    ];
    let told = numbers.iter().filter(|(number, _)| *number > 0);
    parts.extend(told.map(|(number, what)| format!("{} {what}", count(*number))));
    parts.join(", ")
}

/// What was missed, left out, or otherwise than on record.
pub fn details(report: &Report) -> Vec<String> {
    let tally = &report.tally;
    let mut lines = Vec::new();
    missed(
        &mut lines,
        "not on record",
        &tally.missed,
        &report.recording,
    );
    missed(&mut lines, "nearest", &tally.near, &report.recording);
    for (what, passed) in [
        ("answered by the server behind", &tally.passed),
        ("passed on, not answered", &tally.left_open),
        ("not passed on", &tally.not_passed),
    ] {
        missed(&mut lines, what, passed, &report.recording);
    }
    frames(&mut lines, "unused", &report.unused);
    frames(&mut lines, "out of order", &tally.out_of_order);
    frames(
        &mut lines,
        "the host's answers differ from",
        &tally.otherwise,
    );
    let numbers = [
        (
            tally.not_asked,
            "requests of the server were not made: the host has not declared that it can answer them",
        ),
        (
            tally.unanswered,
            "requests of the server were not answered by the host",
        ),
        (tally.unexpected, "responses of the host answer nothing"),
        (tally.unreadable, "parts of the recording could not be read"),
        (
            report.orphans,
            "recorded responses answer nothing, and are not served",
        ),
    ];
    let told = numbers.iter().filter(|(number, _)| *number > 0);
    lines.extend(told.map(|(number, what)| format!("{}: {what}", count(*number))));
    lines
}

fn missed(lines: &mut Vec<String>, what: &str, missed: &Counted<Missed>, recording: &str) {
    for one in missed.kept.iter().take(MOST_NAMED) {
        let sentence = one.sentence(recording);
        lines.push(format!("{what}: {}", escape(&sentence)));
    }
    let more = missed.count.saturating_sub(MOST_NAMED as u64);
    if more > 0 {
        lines.push(format!("{what}: {} more", count(more)));
    }
}

fn frames(lines: &mut Vec<String>, what: &str, frames: &Counted<Seq>) {
    if frames.count == 0 {
        return;
    }
    let named = frames.kept.iter().take(MOST_NAMED);
    let mut named: Vec<_> = named.map(|seq| format!("#{}", seq.0)).collect();
    let more = frames.count.saturating_sub(MOST_NAMED as u64);
    if more > 0 {
        named.push(format!("and {} more", count(more)));
    }
    lines.push(format!("{what}: {}", named.join(", ")));
}
