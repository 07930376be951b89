//! The rule that is offered for a difference: the one that says the least that is enough.

use super::Occurrence;
use super::words;
use crate::compare::{Change, Class, Comparison, Excerpt, Label, Line, Verdict};
use crate::rules::{Matching, ignore_rule, match_rule};
use mcpreel_wire::json::Path;

/// The rule that passes over the line `at`, which stands at `path`; `None` where one would say
/// nothing or too much.
pub(super) fn rule(
    found: &Comparison,
    (at, class): (usize, Class),
    path: &Path,
    call: &Occurrence<'_>,
) -> Option<String> {
    let line = &found.lines[at];
    let Verdict::Differs { change, .. } = &line.verdict else {
        return None;
    };
    // Of what is noise already, or the order of a list that is read by name, nothing is to be said.
    if class >= Class::Order || *change == Change::Outcome || path.steps().len() < 2 {
        return None;
    }
    if is_moved(&found.lines, at) {
        let (_, list) = path.steps().split_last()?;
        let list = Path::new(list.to_vec());
        return Some(match_rule(call.method, call.name, &list, &Matching::Set));
    }
    let only = words::only(line, *change);
    Some(ignore_rule(call.method, call.name, path, only))
}

/// Whether what an element was is there still, and what it is was there before: elsewhere in the
/// same list.
fn is_moved(lines: &[Line], at: usize) -> bool {
    let [was, is] = element(&lines[at]);
    if was.is_none() && is.is_none() {
        return false;
    }
    let depth = lines[at].depth;
    let within = |line: &&Line| line.depth >= depth;
    let before = lines[..at].iter().rev().take_while(within);
    let others: Vec<_> = before
        .chain(lines[at + 1..].iter().take_while(within))
        .filter(|line| line.depth == depth)
        .map(element)
        .collect();
    let is_there = |value: Option<&str>, side: usize| {
        value.is_none_or(|value| others.iter().any(|other| other[side] == Some(value)))
    };
    is_there(was, 1) && is_there(is, 0)
}

/// What both sides have where an element differs.
fn element(line: &Line) -> [Option<&str>; 2] {
    let Verdict::Differs { left, right, .. } = &line.verdict else {
        return [None; 2];
    };
    if !matches!(line.label, Label::Element { key: None, .. }) {
        return [None; 2];
    }
    [left, right].map(|side| side.as_ref().map(text))
}

fn text(excerpt: &Excerpt) -> &str {
    &excerpt.text
}
