//! What a difference means, where its values do not say it.

use crate::compare::{Change, Class, Excerpt, Half, Label, Line, Verdict};
use crate::rules::Side;

/// What a difference at `path` means, in a few words.
pub(super) fn note(half: Half, line: &Line, path: &str, class: Class) -> Option<String> {
    let Verdict::Differs {
        change,
        left,
        right,
        ..
    } = &line.verdict
    else {
        return None;
    };
    let note = match (change, path, &line.label) {
        (Change::Outcome, "result", _) => "an error instead of a result",
        (Change::Outcome, ..) => "a result instead of an error",
        (Change::Removed, "", _) if half == Half::Response => "no answer any more",
        (Change::Added, "", _) if half == Half::Response => "an answer, where there was none",
        (_, "result.isError", _) if class == Class::Breaking => "the call fails now",
        (Change::Order, ..) => "the same in another order",
        (Change::Type, ..) => return Some(types(left.as_ref()?, right.as_ref()?)),
        (_, _, Label::TextLine { left, right }) => {
            let line = left.or(*right)? + 1;
            return Some(format!("line {line}"));
        }
        _ => return None,
    };
    Some(note.to_owned())
}

/// The side that has something where the other has nothing, as rules see it: of a text that has
/// more lines both sides have the text.
pub(super) fn only(line: &Line, change: Change) -> Option<Side> {
    match (change, &line.label) {
        (_, Label::TextLine { .. }) => None,
        (Change::Removed, _) => Some(Side::Left),
        (Change::Added, _) => Some(Side::Right),
        _ => None,
    }
}

fn types(left: &Excerpt, right: &Excerpt) -> String {
    format!("{} instead of {}", kind(right), kind(left))
}

/// What a value is, by its first character.
fn kind(value: &Excerpt) -> &'static str {
    match value.text.trim_start().chars().next() {
        Some('"') => "string",
        Some('{') => "object",
        Some('[') => "array",
        Some('t' | 'f') => "boolean",
        Some('n') => "null",
        _ => "number",
    }
}
