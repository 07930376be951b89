//! Completion: the texts that may be typed at the caret.

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

/// A value that was seen, as the language writes it behind a field: in quotes where needed.
pub fn value_text(field: Field, value: &str) -> String {
    let text = format!("{}:{value}", field.as_str());
    let is_plain = Query::parse(&text).is_ok_and(|query| {
        matches!(query.expr, Some(Expr::Compare { .. })) && query.to_string() == text
    });
    if is_plain {
        value.to_owned()
    } else {
        print::quoted(value)
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

fn nothing(caret: usize) -> Completion {
    Completion {
        replace: caret..caret,
        ..Completion::default()
    }
}

/// The place at which the last word or value of `text` begins.
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

/// The part of the grammar at the end of `word`, and how many bytes come before that part.
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
    let mut wants_values_of = None;
    let entries: Vec<Entry> = match context {
        Context::Name => {
            let is = ("is:", "a flag");
            let has = ("has:", "whether something is there");
            let first = [is, has].map(|(text, help)| Entry { text, help });
            first.into_iter().chain(paths()).collect()
        }
        Context::Flag => help::flags().collect(),
        Context::Subject => paths().collect(),
        Context::Operator(kind) => {
            let fits = |entry: &Entry| kind.ops().any(|op| op.as_str() == entry.text);
            help::ops().filter(fits).collect()
        }
        Context::Value(field, Type::Words(words)) => {
            wants_values_of = field.filter(|it| matches!(it, Field::Status | Field::Severity));
            let entry = |text: &&'static str| Entry {
                text,
                help: meaning(field, text),
            };
            words.iter().map(entry).collect()
        }
        Context::Value(field, kind) => {
            let is_free = matches!(kind, Type::Text | Type::Id | Type::Json);
            wants_values_of = field.filter(|field| is_free && *field != Field::Text);
            Vec::new()
        }
    };
    let typed = if matches!(context, Context::Operator(_)) {
        ""
    } else {
        typed
    };
    let fitting = entries.iter().filter(|entry| entry.text.starts_with(typed));
    Completion {
        candidates: fitting.map(candidate).collect(),
        wants_values_of,
        ..Completion::default()
    }
}

fn paths() -> impl Iterator<Item = Entry> {
    help::fields().chain(help::roots())
}

/// The meaning of a word of a fixed list, where the word does not say it.
fn meaning(field: Option<Field>, word: &str) -> &'static str {
    match field {
        Some(Field::Status) => Status::parse(word).map_or("", Status::help),
        _ => "",
    }
}

fn candidate(entry: &Entry) -> Candidate {
    Candidate {
        text: entry.text.to_owned(),
        help: entry.help.to_owned(),
    }
}

#[cfg(test)]
mod complete_tests;
