//! Completion: the texts that may be typed at the caret.

use super::ast::{Expr, Field, Flag, Root, Type};
use super::help::Entry;
use super::parse::{self, Part};
use super::{Query, print};
use crate::exchange::Status;
use mcpreel_wire::json::Path;
use std::ops::Range;

const HEADER: Entry = (
    "header.",
    "a header of the HTTP exchange, request or response",
);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// The bytes of the text that a candidate replaces.
    pub replace: Range<usize>,
    /// The texts that may stand there, each with its help, in the order of the documentation.
    pub candidates: Vec<Entry>,
    /// The field whose values may stand there too: those that were seen are for the caller to add,
    /// written by [`value_text`], if they begin with what stands in `replace`. Where the candidates
    /// are the words of a fixed list, it is worth saying how often each was seen.
    pub wants_values_of: Option<Field>,
}

/// The texts that may stand at the byte `caret` of `text`; a caret within a character counts as
/// before the character.
pub fn complete(text: &str, caret: usize) -> Completion {
    let caret = text.floor_char_boundary(caret.min(text.len()));
    let (start, part) = parse::last_part(&text[..caret]);
    let (typed, rest) = (&text[start..caret], &text[caret..]);
    let behind_name = |candidates| Completion {
        replace: caret..caret,
        candidates,
        wants_values_of: None,
    };
    if matches!(part, Part::Name) {
        if typed.starts_with('"') {
            return behind_name(Vec::new());
        }
        if let Some(kind) = kind_of_name(typed) {
            let ops = kind.ops().map(|op| (op.as_str(), op.help()));
            return behind_name(ops.collect());
        }
    }
    let length = match part {
        Part::Value(..) => parse::value(rest).0,
        _ => parse::name(rest),
    };
    Completion {
        replace: start..caret + length,
        ..candidates(part, typed)
    }
}

/// A value that was seen, as the language writes it behind a field: in quotes where needed.
pub fn value_text(field: Field, value: &str) -> String {
    let text = format!("{}:{value}", field.as_str());
    let is_plain = Query::parse(&text).is_ok_and(|query| {
        matches!(query.expr, Some(Expr::Compare { .. })) && query.to_string() == text
    });
    if is_plain {
        value.to_owned()
    } else {
        print::in_quotes(value)
    }
}

/// The kind of values that the field or place `name` has; `None` if it is neither.
fn kind_of_name(name: &str) -> Option<Type> {
    let (path, length) = Path::read(name).ok()?;
    let subject = parse::subject(&path, 0..length).ok()?;
    (length == name.len()).then(|| subject.kind_of_values())
}

fn candidates(part: Part, typed: &str) -> Completion {
    let mut wants_values_of = None;
    let mut candidates: Vec<Entry> = match part {
        Part::Name => {
            let others = [("is:", "a flag"), ("has:", "whether something is there")];
            [&others, Field::HELP, &[HEADER], Root::HELP].concat()
        }
        Part::Flag => Flag::HELP.to_vec(),
        Part::Subject => [Field::HELP, &[HEADER], Root::HELP].concat(),
        Part::Value(field, Type::Words(words)) => {
            wants_values_of = field.filter(|it| matches!(it, Field::Status | Field::Severity));
            let is_status = field == Some(Field::Status);
            let status = |word| Status::parse(word).filter(|_| is_status);
            let help = |word| status(word).map_or("", Status::help);
            words.iter().map(|word| (*word, help(word))).collect()
        }
        Part::Value(field, kind) => {
            let is_free = matches!(kind, Type::Text | Type::Id | Type::Json);
            wants_values_of = field.filter(|field| is_free && *field != Field::Text);
            Vec::new()
        }
    };
    candidates.retain(|(text, _)| text.starts_with(typed));
    Completion {
        candidates,
        wants_values_of,
        ..Completion::default()
    }
}

#[cfg(test)]
mod complete_tests;
