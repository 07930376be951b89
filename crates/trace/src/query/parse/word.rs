//! Words and strings: a comparison, or a text.

use super::lex::{self, Head};
use super::{Parsed, Parser, unfinished};
use crate::query::ast::{Expr, Op, Root};
use crate::query::error::QueryError;

impl Parser<'_> {
    /// The string whose quote comes next.
    pub(super) fn string(&mut self) -> Parsed<String> {
        let start = self.at;
        let Some((value, length)) = lex::string(self.rest()) else {
            let message = "the quote is not closed";
            return Err(QueryError::incomplete(start..self.text.len(), message));
        };
        self.at += length;
        Ok(value)
    }

    pub(super) fn word(&mut self) -> Parsed<Expr> {
        let rest = self.rest();
        match lex::head(rest) {
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
        let length = lex::path_length(rest).unwrap_or(0);
        let path = &rest[..length];
        if Root::parse(&path[..lex::name(path)]).is_none() || !path.contains('"') {
            return Ok(());
        }
        let kind = unfinished(matches!(&rest[length..], "" | "." | "!"));
        let message = "an operator and a value must follow the path";
        let error = QueryError::invalid(self.at..self.at + length, message);
        Err(QueryError { kind, ..error })
    }

    fn text_word(&mut self) -> Parsed<Expr> {
        let rest = self.rest();
        let word = &rest[..lex::word(rest)];
        let span = self.at..self.at + word.len();
        if let Some(op) = lex::operator(word) {
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
