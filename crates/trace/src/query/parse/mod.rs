//! From text to [`Query`]: one pass, one character of looking ahead but for the head of a word.
//!
//! What the grammar leaves open is decided here:
//!
//! * A word that begins with a path and an operator is a comparison, so its name must be real:
//!   `metod:x` is an error, not a text. Two exceptions are text, because no value begins so:
//!   `http://x` and the like (`://`), and `std::fmt` (`::`). A string in quotes is always text.
//! * Nothing stands between a field, its operator and its value; a word that is nothing but an
//!   operator, or an operator and a number, is an error and not a text.
//! * A word ends at white space, a parenthesis or a quote; in a value balanced parentheses belong
//!   to it. A quote in the middle of a word is an error.
//! * A dash negates what follows it directly. Words with a dash in front are to be quoted.
//! * `:` takes numbers with a unit, and times, to the precision in which they are written:
//!   `latency:842ms` is from 842 ms up to, not including, 843 ms. `=` is exact.

mod condition;
pub(super) mod lex;
mod units;
mod value;
mod word;

pub(super) use units::{DURATIONS, SIZES};

use super::ast::{Expr, Query};
use super::error::{ErrorKind, QueryError};
use std::ops::Range;

/// Bytes of a filter. Nobody types more; without a limit a pasted file would be compiled.
pub const MAX_BYTES: usize = 4096;

/// Parentheses within parentheses. The parser and all who walk the tree recurse as deep.
pub const MAX_DEPTH: usize = 64;

const KEYWORDS: [&str; 3] = ["AND", "OR", "NOT"];

impl Query {
    /// Reads a filter. The empty text, or white space, is the filter that fits everything.
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        if text.len() > MAX_BYTES {
            return Err(QueryError::invalid(
                text.floor_char_boundary(MAX_BYTES)..text.len(),
                format!("a filter has {MAX_BYTES} bytes at most"),
            ));
        }
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        let mut parser = Parser {
            text,
            at: 0,
            depth: 0,
        };
        let expr = parser.any()?;
        match parser.peek() {
            None => Ok(Self { expr: Some(expr) }),
            Some(_) => Err(QueryError::invalid(
                parser.at..parser.at + 1,
                "this parenthesis closes nothing",
            )),
        }
    }
}

/// Whether `word`, standing alone, is read as the text that it is.
pub(super) fn is_bare_text(word: &str) -> bool {
    let mut parser = Parser {
        text: word,
        at: 0,
        depth: 0,
    };
    let whole = matches!(parser.not(), Ok(Expr::Text(text)) if &*text == word);
    whole && parser.at == word.len()
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

type Parsed<T> = Result<T, QueryError>;

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// The next character that is no white space.
    fn peek(&mut self) -> Option<char> {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
        self.rest().chars().next()
    }

    fn end(&self) -> Range<usize> {
        self.text.len()..self.text.len()
    }

    fn keyword(&mut self) -> Option<&'static str> {
        self.peek()?;
        let rest = self.rest();
        let word = &rest[..lex::word(rest)];
        KEYWORDS.into_iter().find(|keyword| *keyword == word)
    }

    fn take(&mut self, keyword: &str) -> bool {
        let found = self.keyword() == Some(keyword);
        if found {
            self.at += keyword.len();
        }
        found
    }

    fn any(&mut self) -> Parsed<Expr> {
        let mut any = vec![self.all()?];
        while self.take("OR") {
            any.push(self.all()?);
        }
        Ok(one_or(any, Expr::Or))
    }

    fn all(&mut self) -> Parsed<Expr> {
        let mut all = vec![self.not()?];
        loop {
            let joined = self.take("AND");
            let ends = matches!(self.peek(), None | Some(')')) || self.keyword() == Some("OR");
            if ends && !joined {
                return Ok(one_or(all, Expr::And));
            }
            all.push(self.not()?);
        }
    }

    fn not(&mut self) -> Parsed<Expr> {
        if self.take("NOT") {
            return Ok(Expr::Not(Box::new(self.atom()?)));
        }
        if self.peek() != Some('-') {
            return self.atom();
        }
        let dash = self.at;
        self.at += 1;
        match self.rest().chars().next() {
            None => Err(QueryError::incomplete(
                self.end(),
                "a condition must follow the dash",
            )),
            Some(char) if char.is_whitespace() || matches!(char, '-' | ')') => {
                Err(QueryError::invalid(
                    dash..self.at,
                    "a dash negates the condition directly after it; for a word with a dash in front use quotes",
                ))
            }
            Some(_) => Ok(Expr::Not(Box::new(self.atom()?))),
        }
    }

    fn atom(&mut self) -> Parsed<Expr> {
        let Some(char) = self.peek() else {
            return Err(QueryError::incomplete(self.end(), "a condition is missing"));
        };
        if let Some(keyword) = self.keyword() {
            let kind = unfinished(self.rest() == keyword);
            let error = QueryError::invalid(
                self.at..self.at + keyword.len(),
                format!("a condition must stand in front of `{keyword}`; for the word use quotes"),
            );
            return Err(QueryError { kind, ..error });
        }
        match char {
            '(' => self.group(),
            ')' => Err(QueryError::invalid(
                self.at..self.at + 1,
                "a condition is missing in front of this parenthesis",
            )),
            '-' => Err(QueryError::invalid(
                self.at..self.at + 1,
                "one negation is enough; for a word with a dash in front use quotes",
            )),
            '"' => Ok(Expr::Text(self.string()?.into())),
            _ => self.word(),
        }
    }

    fn group(&mut self) -> Parsed<Expr> {
        let open = self.at..self.at + 1;
        if self.depth == MAX_DEPTH {
            let message = format!("parentheses are nested more than {MAX_DEPTH} deep");
            return Err(QueryError::invalid(open, message));
        }
        self.at += 1;
        self.depth += 1;
        let inner = self.any()?;
        self.depth -= 1;
        if self.peek() != Some(')') {
            let message = "this parenthesis is not closed";
            return Err(QueryError::incomplete(open, message));
        }
        self.at += 1;
        Ok(inner)
    }
}

fn unfinished(open: bool) -> ErrorKind {
    if open {
        ErrorKind::Incomplete
    } else {
        ErrorKind::Invalid
    }
}

fn one_or(mut list: Vec<Expr>, join: fn(Vec<Expr>) -> Expr) -> Expr {
    match list.len() {
        1 => list.remove(0),
        _ => join(list),
    }
}

#[cfg(test)]
mod tests;
