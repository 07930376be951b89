//! Completion: the texts that may be typed at the caret.

use super::ast::{Expr, Field, Flag, Op, Root, Type};
use super::help::{Entry, entry};
use super::parse::{self, Head};
use super::{Query, print};
use crate::exchange::Status;
use mcpreel_wire::json::Path;
use std::ops::Range;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// The bytes of the text that a candidate replaces.
    pub replace: Range<usize>,
    /// The texts that may stand there, in the order of the documentation.
    pub candidates: Vec<Candidate>,
    /// The field whose values may stand there too: those that were seen are for the caller to add,
    /// written by [`value_text`], if they begin with what stands in `replace`. Where the candidates
    /// are the words of a fixed list, it is worth saying how often each was seen.
    pub wants_values_of: Option<Field>,
}

/// Something that may stand at the caret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub text: String,
    pub help: String,
}

/// The texts that may stand at the byte `caret` of `text`; a caret within a character counts as
/// before the character.
pub fn complete(text: &str, caret: usize) -> Completion {
    let caret = text.floor_char_boundary(caret.min(text.len()));
    let start = word_start(&text[..caret]);
    let word = &text[start..caret];
    if word.starts_with('"') {
        return Completion {
            replace: caret..caret,
            ..Completion::default()
        };
    }
    let (skipped, context) = context(word);
    let (start, rest) = (start + skipped, &text[caret..]);
    let end = match context {
        Context::Name | Context::Flag | Context::Subject => caret + parse::name(rest),
        Context::Operator(_) => caret,
        Context::Value(..) => caret + parse::value(rest).0,
    };
    Completion {
        replace: start..end,
        ..candidates(context, &text[start..caret])
    }
}

/// The word at the end of `text`, if it may still become the name of a field, a place or a
/// condition by typing on: nobody who types `is:failed` means to search for `is`.
pub fn undecided(text: &str) -> Option<Range<usize>> {
    let start = word_start(text);
    let word = text[start..].trim_start_matches(['(', '-']);
    let names = [
        Field::WORDS,
        Root::WORDS,
        &["is", "has", "AND", "OR", "NOT"],
    ]
    .concat();
    let may_become = !word.is_empty() && names.iter().any(|name| name.starts_with(word));
    may_become.then(|| text.len() - word.len()..text.len())
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

/// The part of the grammar in which the caret stands.
#[derive(Clone, Copy)]
enum Context {
    Name,
    Flag,
    Subject,
    Operator(Type),
    Value(Option<Field>, Type),
}

/// The place at which the last word or value of `text` begins.
fn word_start(text: &str) -> usize {
    let (mut at, mut start) = (0, 0);
    while at < text.len() {
        let rest = &text[at..];
        let length = piece(rest);
        let is_string = rest.starts_with('"');
        let ends = !is_string && rest[..length].ends_with(parse::ends_word);
        start = if ends { at + length } else { at };
        at += length;
    }
    // A dash in front negates; it is no part of the name.
    start + usize::from(text[start..].starts_with('-'))
}

/// The length of what `text` begins with: a string, a word with its value, a parenthesis, or
/// white space.
fn piece(text: &str) -> usize {
    let or_all = |string: Option<(String, usize)>| string.map_or(text.len(), |(_, length)| length);
    if text.starts_with('"') {
        return or_all(parse::string(text));
    }
    let dash = usize::from(text.starts_with('-'));
    match parse::head(&text[dash..]) {
        Head::Condition(_, length, op) => {
            let value = dash + length + op.as_str().len();
            match &text[value..] {
                rest if rest.starts_with('"') => {
                    text.len().min(value + or_all(parse::string(rest)))
                }
                rest => value + parse::value(rest).0,
            }
        }
        Head::Open => text.len(),
        Head::Other => {
            let char = text.chars().next().map_or(1, char::len_utf8);
            parse::word(text).max(char)
        }
    }
}

/// The part of the grammar at the end of `word`, and how many bytes come before that part.
fn context(word: &str) -> (usize, Context) {
    let Head::Condition(_, length, op) = parse::head(word) else {
        let root = word.split(['.', '[']).next().and_then(Root::parse);
        let is_path = Path::read(word).is_ok_and(|(_, length)| length == word.len());
        let kind = match (Field::parse(word), root) {
            (Some(field), _) => field.kind_of_values(),
            (None, Some(_)) if is_path => Type::Json,
            _ => return (0, Context::Name),
        };
        return (word.len(), Context::Operator(kind));
    };
    let context = match (&word[..length], op) {
        ("is", Op::Contains) => Context::Flag,
        ("has", Op::Contains) => Context::Subject,
        (name, _) => match Field::parse(name) {
            Some(field) => Context::Value(Some(field), field.kind_of_values()),
            None => Context::Value(None, Type::Json),
        },
    };
    (length + op.as_str().len(), context)
}

fn candidates(context: Context, typed: &str) -> Completion {
    let mut wants_values_of = None;
    let entries: Vec<Entry> = match context {
        Context::Name => {
            let is = entry("is:", "a flag");
            let has = entry("has:", "whether something is there");
            [&[is, has], Field::HELP, Root::HELP].concat()
        }
        Context::Flag => Flag::HELP.to_vec(),
        Context::Subject => [Field::HELP, Root::HELP].concat(),
        Context::Operator(kind) => kind.ops().map(|op| entry(op.as_str(), op.help())).collect(),
        Context::Value(field, Type::Words(words)) => {
            wants_values_of = field.filter(|it| matches!(it, Field::Status | Field::Severity));
            let is_status = field == Some(Field::Status);
            let status = |word| Status::parse(word).filter(|_| is_status);
            let help = |word| status(word).map_or("", Status::help);
            words.iter().map(|word| entry(word, help(word))).collect()
        }
        Context::Value(field, kind) => {
            let is_free = matches!(kind, Type::Text | Type::Id | Type::Json);
            wants_values_of = field.filter(|field| is_free && *field != Field::Text);
            Vec::new()
        }
    };
    let is_operator = matches!(context, Context::Operator(_));
    let fits = |entry: &&Entry| is_operator || entry.text.starts_with(typed);
    let candidate = |entry: &Entry| Candidate {
        text: entry.text.to_owned(),
        help: entry.help.to_owned(),
    };
    Completion {
        candidates: entries.iter().filter(fits).map(candidate).collect(),
        wants_values_of,
        ..Completion::default()
    }
}

#[cfg(test)]
mod complete_tests;
