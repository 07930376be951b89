//! A path, an operator and a value: `is:`, `has:`, and comparisons.

use super::Head;
use super::parse_value::{Raw, Wrong};
use super::{Parsed, Parser, parse_value, unfinished};
use crate::query::ast::{Expr, Field, Flag, Op, Root, Subject, Type};
use crate::query::parse::{ErrorKind, QueryError};
use mcpreel_wire::json::{Path, Step};
use std::ops::Range;

impl Parser<'_> {
    /// The condition whose path has `length` bytes and is followed by `op`.
    pub(super) fn condition(&mut self, length: usize, op: Op) -> Parsed<Expr> {
        let span = self.at..self.at + length;
        let path = &self.text[span.clone()];
        self.at = span.end + op.as_str().len();
        match path {
            "is" | "has" if op != Op::Contains => {
                let message = format!("`{path}` is followed by a colon");
                Err(QueryError::invalid(span.end..self.at, message))
            }
            "is" => self.flag(),
            "has" => self.presence(),
            _ => {
                let value = self.rest();
                let subject = subject(self.text, span).map_err(|error| {
                    // `std:` may become `std::fmt`, and `http:/` an address.
                    let open = op == Op::Contains && matches!(value, "" | "/");
                    let kind = unfinished(open);
                    QueryError { kind, ..error }
                })?;
                self.comparison(&subject, op)
            }
        }
    }

    fn flag(&mut self) -> Parsed<Expr> {
        let rest = self.rest();
        let word = &rest[..crate::query::parse::word(rest)];
        let span = self.at..self.at + word.len();
        self.at = span.end;
        if let Some(flag) = Flag::parse(word) {
            self.no_quote()?;
            return Ok(Expr::Is(flag));
        }
        let flags = Flag::ALL.iter().map(|flag| flag.as_str());
        self.unfinished_name(&span, |word| {
            flags.clone().any(|flag| flag.starts_with(word))
        })?;
        if word.is_empty() {
            let message = "a flag must follow, for example is:failed";
            return Err(QueryError::invalid(span, message));
        }
        Err(QueryError::unknown(span, "flag", word, flags))
    }

    fn presence(&mut self) -> Parsed<Expr> {
        let rest = self.rest();
        let start = self.at;
        // Up to a quote in a bracket is not a word's end.
        let length = crate::query::parse::path_length(rest)
            .unwrap_or(0)
            .max(crate::query::parse::word(rest));
        let span = start..start + length;
        self.at = span.end;
        if rest.is_empty() || matches!(crate::query::parse::head(rest), Head::Open(_)) {
            let message = "a field must follow, for example has:latency";
            return Err(QueryError::incomplete(span, message));
        }
        if span.is_empty() {
            let message = "a field must follow, for example has:latency";
            return Err(QueryError::invalid(span, message));
        }
        if self.text[span.clone()].ends_with('.') && span.end == self.text.len() {
            let message = "a name must follow the dot";
            return Err(QueryError::incomplete(self.end(), message));
        }
        match subject(self.text, span.clone()) {
            Ok(subject) => {
                self.no_quote()?;
                Ok(Expr::Has(subject))
            }
            Err(error) => {
                self.unfinished_name(&span, |word| names().any(|name| name.starts_with(word)))?;
                Err(error)
            }
        }
    }

    /// Fails as unfinished if the word stands at the end of the text and begins a real name.
    fn unfinished_name(
        &self,
        span: &Range<usize>,
        begins: impl FnOnce(&str) -> bool,
    ) -> Parsed<()> {
        if span.end == self.text.len() && begins(&self.text[span.clone()]) {
            return Err(QueryError::incomplete(span.clone(), "the name goes on"));
        }
        Ok(())
    }

    fn comparison(&mut self, subject: &Subject, op: Op) -> Parsed<Expr> {
        let kind = subject.kind_of_values();
        let name = match subject {
            Subject::Field(field) => field.as_str(),
            Subject::Body(root, _) => root.as_str(),
        };
        if !op.suits(kind) {
            let ops: Vec<_> = kind.ops().map(Op::as_str).collect();
            let message = format!(
                "`{name}` is not compared with `{}` but with {}; it {}",
                op.as_str(),
                ops.join(" "),
                kind.takes()
            );
            return Err(QueryError::invalid(
                self.at - op.as_str().len()..self.at,
                message,
            ));
        }
        let (raw, span) = self.raw_value(op)?;
        let value = parse_value::read(kind, op, &raw).map_err(|wrong| {
            let open = span.end == self.text.len() && !self.text.ends_with('"');
            let missing = open && span.is_empty();
            let (kind, message) = explained(wrong, open, name, kind);
            let missing = missing.then(|| format!("a value must follow: {message}"));
            let message = missing.unwrap_or(message);
            QueryError {
                kind,
                ..QueryError::invalid(span, message)
            }
        })?;
        Ok(Expr::Compare {
            subject: subject.clone(),
            op,
            value,
        })
    }

    /// A word, a string, or two of them with `..` in between.
    fn raw_value(&mut self, op: Op) -> Parsed<(Raw, Range<usize>)> {
        let start = self.at;
        let mut text = String::new();
        let quoted = self.rest().starts_with('"');
        if quoted {
            text.push_str(&self.string()?);
        }
        if !quoted || self.rest().starts_with("..") {
            let rest = self.rest();
            let (length, open) = crate::query::parse::value(rest);
            if rest.starts_with('=') {
                let message = format!(
                    "the value begins with `=` after `{}`; use quotes if that is meant",
                    op.as_str()
                );
                return Err(QueryError::invalid(self.at..self.at + 1, message));
            }
            text.push_str(&rest[..length]);
            self.at += length;
            if open {
                let message =
                    "a parenthesis in the value is not closed; a value with spaces needs quotes";
                let kind = unfinished(self.at == self.text.len());
                let error = QueryError::invalid(start..self.at, message);
                return Err(QueryError { kind, ..error });
            }
            if text.ends_with("..") && self.rest().starts_with('"') {
                text.push_str(&self.string()?);
            }
            self.no_quote()?;
        }
        Ok((Raw { text, quoted }, start..self.at))
    }
}

/// What is wrong with the value of `name`, in a sentence. `open`: more can be typed.
fn explained(wrong: Wrong, open: bool, name: &str, kind: Type) -> (ErrorKind, String) {
    let takes = || format!("`{name}` {}", kind.takes());
    match wrong {
        Wrong::Unfinished => (unfinished(open), takes()),
        Wrong::Type => (ErrorKind::Invalid, takes()),
        // A smaller unit may follow.
        Wrong::TooLarge => (unfinished(open), "the number is too large".to_owned()),
        Wrong::Backwards => (
            unfinished(open),
            "the range ends before it begins".to_owned(),
        ),
        Wrong::Because(message) => (ErrorKind::Invalid, message),
        Wrong::Unclosed(message) => (unfinished(open), message),
    }
}

/// The names of all fields and roots.
fn names() -> impl Iterator<Item = &'static str> + Clone {
    let fields = Field::ALL.iter().map(|field| field.as_str());
    fields.chain(Root::ALL.iter().map(|root| root.as_str()))
}

fn subject(text: &str, span: Range<usize>) -> Parsed<Subject> {
    let path = &text[span.clone()];
    let steps = path.parse::<Path>().map_err(|error| {
        let at = span.start + error.offset;
        let at = at.min(span.end)..span.end;
        QueryError::invalid(at, format!("this is no path: {}", error.reason))
    })?;
    let first = span.start..span.start + crate::query::parse::name(path).max(1).min(path.len());
    let Some((Step::Member(name), rest)) = steps.steps().split_first() else {
        return Err(QueryError::invalid(first, "a path begins with a name"));
    };
    if let Some(root) = Root::parse(name) {
        return Ok(Subject::Body(root, Path::new(rest.to_vec())));
    }
    match Field::parse(name) {
        Some(field) if rest.is_empty() => Ok(Subject::Field(field)),
        Some(field) => Err(QueryError::invalid(
            first.end..span.end,
            format!("`{}` has no parts", field.as_str()),
        )),
        None => {
            let known = names().chain(["is", "has"]);
            let mut error = QueryError::unknown(first, "field", name, known);
            error
                .message
                .push_str("; to search for the text use quotes");
            Err(error)
        }
    }
}

// Words and strings: a comparison, or a text.

impl Parser<'_> {
    /// The string whose quote comes next.
    pub(super) fn string(&mut self) -> Parsed<String> {
        let start = self.at;
        let Some((value, length)) = crate::query::parse::string(self.rest()) else {
            let message = "the quote is not closed";
            return Err(QueryError::incomplete(start..self.text.len(), message));
        };
        self.at += length;
        Ok(value)
    }

    pub(super) fn word(&mut self) -> Parsed<Expr> {
        let rest = self.rest();
        match crate::query::parse::head(rest) {
            Head::Path(length, op) => {
                let value = &rest[length + op.as_str().len()..];
                // No value begins so, but addresses and names of code do.
                let is_text =
                    op == Op::Contains && (value.starts_with("//") || value.starts_with(':'));
                if !is_text {
                    return self.condition(length, op);
                }
            }
            Head::Open(name) if Root::parse(&rest[..name]).is_some() => {
                let message = "the bracket is not closed";
                return Err(QueryError::incomplete(self.at..self.text.len(), message));
            }
            Head::Open(_) | Head::None => {}
        }
        self.path_alone()?;
        self.text_word()
    }

    /// Refuses a path with a quoted name in it that no operator follows: as a text it would have a
    /// quote in its middle.
    fn path_alone(&self) -> Parsed<()> {
        let rest = self.rest();
        let length = crate::query::parse::path_length(rest).unwrap_or(0);
        let path = &rest[..length];
        if Root::parse(&path[..crate::query::parse::name(path)]).is_none() || !path.contains('"') {
            return Ok(());
        }
        let kind = unfinished(matches!(&rest[length..], "" | "." | "!"));
        let message = "an operator and a value must follow the path";
        let error = QueryError::invalid(self.at..self.at + length, message);
        Err(QueryError { kind, ..error })
    }

    fn text_word(&mut self) -> Parsed<Expr> {
        let rest = self.rest();
        let word = &rest[..crate::query::parse::word(rest)];
        let span = self.at..self.at + word.len();
        if let Some(op) = crate::query::parse::operator(word) {
            let value = &word[op.as_str().len()..];
            if value.is_empty() || value.starts_with(|char: char| char.is_ascii_digit()) {
                let message = format!(
                    "`{}` must follow its field directly; to search for it use quotes",
                    op.as_str()
                );
                let kind = unfinished(value.is_empty() && span.end == self.text.len());
                let error = QueryError::invalid(span, message);
                return Err(QueryError { kind, ..error });
            }
        }
        self.at = span.end;
        self.no_quote()?;
        Ok(Expr::Text(word.into()))
    }

    /// Refuses a quote directly behind a word.
    pub(super) fn no_quote(&self) -> Parsed<()> {
        if self.rest().starts_with('"') {
            return Err(QueryError::invalid(
                self.at..self.at + 1,
                "a quote in the middle of a word; put the whole in quotes, and \\\" inside of them",
            ));
        }
        Ok(())
    }
}
