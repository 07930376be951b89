//! What may be typed at the caret.

use super::ast::{Expr, Field, Op, Root, Type};
use super::help::{self, Entry};
use super::parse::Head;
use super::{Query, print};
use crate::exchange::Status;
use std::ops::Range;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// The bytes of the text that a candidate replaces.
    pub replace: Range<usize>,
    /// What may stand there, in the order of the documentation.
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

/// What may stand at the byte `caret` of `text`; a caret within a character counts as before it.
pub fn complete(text: &str, caret: usize) -> Completion {
    let caret = text.floor_char_boundary(caret.min(text.len()));
    let start = word_start(&text[..caret]);
    let word = &text[start..caret];
    if word.starts_with('"') {
        return nothing(caret);
    }
    let (skipped, context) = context(word);
    let start = start + skipped;
    let end = match context {
        Context::Name | Context::Flag | Context::Subject => {
            caret + super::parse::name(&text[caret..])
        }
        Context::Operator(_) => caret,
        Context::Value(..) => caret + super::parse::value(&text[caret..]).0,
    };
    let typed = &text[start..caret];
    let mut completion = candidates(context, typed);
    completion.replace = start..end;
    completion
}

/// The word at the end of `text`, if it may still become the name of a field, a place or a
/// condition by typing on: nobody who types `is:failed` means to search for `is`.
pub fn undecided(text: &str) -> Option<Range<usize>> {
    let start = word_start(text);
    let word = text[start..].trim_start_matches(['(', '-']);
    let names = Field::ALL.iter().map(|field| field.as_str());
    let roots = Root::ALL.iter().map(|root| root.as_str());
    let mut names = names.chain(roots).chain(["is", "has", "AND", "OR", "NOT"]);
    let may_become = !word.is_empty() && names.any(|name| name.starts_with(word));
    may_become.then(|| text.len() - word.len()..text.len())
}

/// How a value that was seen is written behind a field, in quotes where it needs them.
pub fn value_text(field: Field, value: &str) -> String {
    let text = format!("{}:{value}", field.as_str());
    let text_of = |expr: Option<Expr>| match expr {
        Some(Expr::Compare {
            value: super::ast::Value::Text { text, .. },
            ..
        }) => text == value.into(),
        _ => false,
    };
    match Query::parse(&text) {
        Ok(query) if text_of(query.expr.clone()) => value.to_owned(),
        // An id or code is JSON, and stands for itself.
        Ok(query)
            if matches!(field.kind_of_values(), Type::Id | Type::Json)
                && query.to_string() == text =>
        {
            value.to_owned()
        }
        _ => print::quoted(value),
    }
}

/// What can stand behind the part of a word that was typed.
#[derive(Clone, Copy)]
enum Context {
    Name,
    Flag,
    Subject,
    Operator(Type),
    Value(Option<Field>, Type),
}

fn nothing(caret: usize) -> Completion {
    Completion {
        replace: caret..caret,
        ..Completion::default()
    }
}

/// Where the word or value begins in which `text` ends.
fn word_start(text: &str) -> usize {
    let mut at = 0;
    let mut start = 0;
    while at < text.len() {
        let rest = &text[at..];
        start = at;
        let length = piece(rest);
        at += length;
        let ended = rest[..length].ends_with(super::parse::ends_word) && rest[..length] != *"\"";
        if ended && at == text.len() && !is_open_string(rest) {
            start = at;
        }
    }
    // A dash in front negates; it is no part of the name.
    start + usize::from(text[start..].starts_with('-'))
}

fn is_open_string(text: &str) -> bool {
    text.starts_with('"') && super::parse::string(text).is_none()
}

/// The length of what `text` begins with: a string, a word with its value, a parenthesis, or
/// white space.
fn piece(text: &str) -> usize {
    if text.starts_with('"') {
        return super::parse::string(text).map_or(text.len(), |(_, length)| length);
    }
    let dash = usize::from(text.starts_with('-'));
    match super::parse::head(&text[dash..]) {
        Head::Path(length, op) => {
            let value = dash + length + op.as_str().len();
            let rest = &text[value..];
            if is_open_string(rest) {
                return text.len();
            }
            let length = super::parse::string(rest).filter(|_| rest.starts_with('"'));
            value + length.map_or_else(|| super::parse::value(rest).0, |(_, length)| length)
        }
        Head::Open(_) => text.len(),
        Head::None => {
            let char = text.chars().next().map_or(1, char::len_utf8);
            super::parse::word(text).max(char)
        }
    }
}

/// What stands at the end of `word`, and how much of it comes before that.
fn context(word: &str) -> (usize, Context) {
    let Head::Path(length, op) = super::parse::head(word) else {
        let whole = Field::parse(word).map(Field::kind_of_values);
        let root = word.split(['.', '[']).next().and_then(Root::parse);
        let path = root.filter(|_| {
            !word.ends_with('.') && super::parse::path_length(word) == Some(word.len())
        });
        return match whole.or(path.map(|_| Type::Json)) {
            Some(kind) => (word.len(), Context::Operator(kind)),
            None => (0, Context::Name),
        };
    };
    let before = length + op.as_str().len();
    let context = match (&word[..length], op) {
        ("is", Op::Contains) => Context::Flag,
        ("has", Op::Contains) => Context::Subject,
        (name, _) => match Field::parse(name) {
            Some(field) => Context::Value(Some(field), field.kind_of_values()),
            None => Context::Value(None, Type::Json),
        },
    };
    (before, context)
}

fn candidates(context: Context, typed: &str) -> Completion {
    let named = |entries: &mut dyn Iterator<Item = Entry>| {
        let fitting = entries.filter(|entry| entry.text.starts_with(typed));
        fitting.map(candidate).collect::<Vec<_>>()
    };
    let (candidates, wants_values_of) = match context {
        Context::Name => {
            let is = [
                Entry {
                    text: "is:",
                    help: "a flag",
                },
                Entry {
                    text: "has:",
                    help: "whether something is there",
                },
            ];
            let paths = help::fields().chain(help::roots());
            (named(&mut is.into_iter().chain(paths)), None)
        }
        Context::Flag => (named(&mut help::flags()), None),
        Context::Subject => (named(&mut help::fields().chain(help::roots())), None),
        Context::Operator(kind) => {
            let entries = kind.ops().map(|op| Entry {
                text: op.as_str(),
                help: op.help(),
            });
            (entries.map(candidate).collect(), None)
        }
        Context::Value(field, Type::Words(words)) => {
            let entries = words.iter().map(|text| Entry {
                text,
                help: meaning(field, text),
            });
            let counted = field.filter(|field| matches!(field, Field::Status | Field::Severity));
            (named(&mut { entries }), counted)
        }
        Context::Value(field, kind) => {
            let free = matches!(kind, Type::Text | Type::Id | Type::Json);
            (
                Vec::new(),
                field.filter(|field| free && *field != Field::Text),
            )
        }
    };
    Completion {
        candidates,
        wants_values_of,
        ..Completion::default()
    }
}

/// What a word of a fixed list means, where it does not say so itself.
fn meaning(field: Option<Field>, word: &str) -> &'static str {
    let status = || Status::parse(word).map(Status::help);
    match field {
        Some(Field::Status) => status().unwrap_or_default(),
        _ => "",
    }
}

fn candidate(entry: Entry) -> Candidate {
    Candidate {
        text: entry.text.to_owned(),
        help: entry.help.to_owned(),
    }
}

#[cfg(test)]
mod complete_tests;
