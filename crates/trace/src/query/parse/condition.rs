//! Words and strings, and what they turn out to be: a flag, a comparison, or a text.

use super::parse_value::{self, Raw, Wrong};
use super::{Head, Parsed, Parser, QueryError};
use crate::query::ast::{Expr, Field, Flag, Op, Root, Subject};
use mcpreel_wire::json::{Path, Step};
use std::ops::Range;

impl Parser<'_> {
    pub(super) fn word(&mut self) -> Parsed<Expr> {
        let rest = self.rest();
        match super::head(rest) {
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
                return self.unfinished("the bracket is not closed");
            }
            Head::Open(_) | Head::None => {}
        }
        self.text_word()
    }

    /// The condition whose path has `length` bytes and is followed by `op`.
    fn condition(&mut self, length: usize, op: Op) -> Parsed<Expr> {
        let span = self.at..self.at + length;
        let path = &self.text[span.clone()];
        self.at = span.end + op.as_str().len();
        match path {
            "is" | "has" if op != Op::Contains => {
                let message = format!("`{path}` is followed by a colon");
                Err(QueryError::new(span.end..self.at, message))
            }
            "is" => self.flag(),
            "has" => self.presence(),
            _ => {
                let subject = subject(self.text, span).map_err(|error| {
                    // `std:` may become `std::fmt`, and `http:/` an address.
                    let may_be_text = op == Op::Contains && matches!(self.rest(), "" | "/");
                    let end = if may_be_text {
                        self.text.len()
                    } else {
                        error.at.end
                    };
                    QueryError {
                        at: error.at.start..end,
                        ..error
                    }
                })?;
                self.comparison(subject, op)
            }
        }
    }

    fn flag(&mut self) -> Parsed<Expr> {
        let rest = self.rest();
        let word = &rest[..super::word(rest)];
        let Some(flag) = Flag::parse(word) else {
            if word.is_empty() {
                return self.refuse(0, "a flag must follow, for example is:failed");
            }
            let flags = Flag::ALL.iter().map(|flag| flag.as_str());
            let span = self.at..self.at + word.len();
            return Err(QueryError::unknown(span, "flag", word, flags));
        };
        self.at += word.len();
        self.no_quote()?;
        Ok(Expr::Is(flag))
    }

    fn presence(&mut self) -> Parsed<Expr> {
        let rest = self.rest();
        // Up to a quote in a bracket is not a word's end.
        let length = super::path_length(rest).unwrap_or(0).max(super::word(rest));
        if matches!(super::head(rest), Head::Open(_)) {
            return self.unfinished("the bracket is not closed");
        }
        if length == 0 {
            return self.refuse(0, "a field must follow, for example has:latency");
        }
        let subject = subject(self.text, self.at..self.at + length)?;
        self.at += length;
        self.no_quote()?;
        Ok(Expr::Has(subject))
    }

    fn comparison(&mut self, subject: Subject, op: Op) -> Parsed<Expr> {
        let kind = subject.kind_of_values();
        let name = match &subject {
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
            let operator = self.at - op.as_str().len()..self.at;
            return Err(QueryError::new(operator, message));
        }
        let start = self.at;
        let raw = self.raw_value(op)?;
        let value = parse_value::read(kind, op, &raw).map_err(|wrong| {
            let message = match wrong {
                Wrong::Type if raw.text.is_empty() => {
                    format!("a value must follow: `{name}` {}", kind.takes())
                }
                Wrong::Type => format!("`{name}` {}", kind.takes()),
                Wrong::Because(message) => message,
            };
            QueryError::new(start..self.at, message)
        })?;
        Ok(Expr::Compare { subject, op, value })
    }

    /// A word, a string, or two of them with `..` in between.
    fn raw_value(&mut self, op: Op) -> Parsed<Raw> {
        let mut text = String::new();
        let quoted = self.rest().starts_with('"');
        if quoted {
            text.push_str(&self.string()?);
        }
        if !quoted || self.rest().starts_with("..") {
            let rest = self.rest();
            let (length, is_open) = super::value(rest);
            if rest.starts_with('=') {
                let op = op.as_str();
                let message =
                    format!("the value begins with `=` after `{op}`; use quotes if that is meant");
                return self.refuse(1, message);
            }
            if is_open {
                let message =
                    "a parenthesis in the value is not closed; a value with spaces needs quotes";
                return self.refuse(length, message);
            }
            text.push_str(&rest[..length]);
            self.at += length;
            if text.ends_with("..") && self.rest().starts_with('"') {
                text.push_str(&self.string()?);
            }
            self.no_quote()?;
        }
        Ok(Raw { text, quoted })
    }

    /// The string whose quote comes next.
    pub(super) fn string(&mut self) -> Parsed<String> {
        let Some((value, length)) = super::string(self.rest()) else {
            return self.unfinished("the quote is not closed");
        };
        self.at += length;
        Ok(value)
    }

    fn text_word(&mut self) -> Parsed<Expr> {
        let rest = self.rest();
        let path = &rest[..super::path_length(rest).unwrap_or(0)];
        // As a text it would have a quote in its middle.
        if path.contains('"') && Root::parse(&path[..super::name(path)]).is_some() {
            let goes_on = matches!(&rest[path.len()..], "." | "!");
            let message = "an operator and a value must follow the path";
            return self.refuse(path.len() + usize::from(goes_on), message);
        }
        let word = &rest[..super::word(rest)];
        if let Some(op) = super::operator(word).map(Op::as_str) {
            let value = &word[op.len()..];
            if value.is_empty() || value.starts_with(|char: char| char.is_ascii_digit()) {
                let message =
                    format!("`{op}` must follow its field directly; to search for it use quotes");
                return self.refuse(word.len(), message);
            }
        }
        self.at += word.len();
        self.no_quote()?;
        Ok(Expr::Text(word.into()))
    }

    /// Refuses a quote directly behind a word.
    fn no_quote(&self) -> Parsed<()> {
        if self.rest().starts_with('"') {
            let message = "a quote in the middle of a word; put the whole in quotes, and \\\" \
                           inside of them";
            return self.refuse(1, message);
        }
        Ok(())
    }
}

fn subject(text: &str, span: Range<usize>) -> Parsed<Subject> {
    let path = &text[span.clone()];
    let steps = path.parse::<Path>().map_err(|error| {
        let at = (span.start + error.offset).min(span.end)..span.end;
        QueryError::new(at, format!("this is no path: {}", error.reason))
    })?;
    let first = span.start..span.start + super::name(path).max(1).min(path.len());
    let Some((Step::Member(name), rest)) = steps.steps().split_first() else {
        return Err(QueryError::new(first, "a path begins with a name"));
    };
    if let Some(root) = Root::parse(name) {
        return Ok(Subject::Body(root, Path::new(rest.to_vec())));
    }
    match Field::parse(name) {
        Some(field) if rest.is_empty() => Ok(Subject::Field(field)),
        Some(_) => {
            let message = format!("`{name}` has no parts");
            Err(QueryError::new(first.end..span.end, message))
        }
        None => {
            let fields = Field::ALL.iter().map(|field| field.as_str());
            let roots = Root::ALL.iter().map(|root| root.as_str());
            let known = fields.chain(roots).chain(["is", "has"]);
            let mut error = QueryError::unknown(first, "field", name, known);
            error
                .message
                .push_str("; to search for the text use quotes");
            Err(error)
        }
    }
}
