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
mod parse_value;

use super::ast::{Expr, Op, Query};
pub(super) use parse_value::{DURATIONS, SIZES};
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
            let at = text.floor_char_boundary(MAX_BYTES)..text.len();
            let message = format!("a filter has {MAX_BYTES} bytes at most");
            return Err(QueryError::new(at, message));
        }
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        let mut parser = Parser::of(text);
        let expr = parser.any()?;
        match parser.peek() {
            None => Ok(Self { expr: Some(expr) }),
            Some(_) => parser.refuse(1, "this parenthesis closes nothing"),
        }
    }
}

/// Whether `word`, standing alone, is read as the text that it is.
pub(super) fn is_bare_text(word: &str) -> bool {
    let mut parser = Parser::of(word);
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
    fn of(text: &'t str) -> Self {
        let (at, depth) = (0, 0);
        Self { text, at, depth }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Refuses the next `length` bytes.
    fn refuse<T>(&self, length: usize, message: impl Into<String>) -> Parsed<T> {
        let end = self.text.len().min(self.at + length);
        Err(QueryError::new(self.at..end, message))
    }

    /// Refuses everything from here to the end of the text, which may go on.
    fn unfinished<T>(&self, message: impl Into<String>) -> Parsed<T> {
        self.refuse(self.rest().len(), message)
    }

    /// The next character that is no white space.
    fn peek(&mut self) -> Option<char> {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
        self.rest().chars().next()
    }

    fn keyword(&mut self) -> Option<&'static str> {
        self.peek()?;
        let rest = self.rest();
        let word = &rest[..word(rest)];
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
        let after = &self.rest()[1..];
        if after.starts_with(|char: char| char.is_whitespace() || matches!(char, '-' | ')')) {
            let message = "a dash negates the condition directly after it; for a word with a dash \
                           in front use quotes";
            return self.refuse(1, message);
        }
        self.at += 1;
        Ok(Expr::Not(Box::new(self.atom()?)))
    }

    fn atom(&mut self) -> Parsed<Expr> {
        let Some(char) = self.peek() else {
            return self.unfinished("a condition is missing");
        };
        if let Some(keyword) = self.keyword() {
            let message =
                format!("a condition must stand in front of `{keyword}`; for the word use quotes");
            return self.refuse(keyword.len(), message);
        }
        match char {
            '(' => self.group(),
            ')' => self.refuse(1, "a condition is missing in front of this parenthesis"),
            '-' => self.refuse(
                1,
                "one negation is enough; for a word with a dash in front use quotes",
            ),
            '"' => Ok(Expr::Text(self.string()?.into())),
            _ => self.word(),
        }
    }

    fn group(&mut self) -> Parsed<Expr> {
        if self.depth == MAX_DEPTH {
            let message = format!("parentheses are nested more than {MAX_DEPTH} deep");
            return self.refuse(1, message);
        }
        let open = self.at;
        self.at += 1;
        self.depth += 1;
        let inner = self.any()?;
        self.depth -= 1;
        if self.peek() != Some(')') {
            let message = "this parenthesis is not closed";
            return Err(QueryError::new(open..self.text.len(), message));
        }
        self.at += 1;
        Ok(inner)
    }
}

fn one_or(mut list: Vec<Expr>, join: fn(Vec<Expr>) -> Expr) -> Expr {
    match list.len() {
        1 => list.remove(0),
        _ => join(list),
    }
}

// Where words, strings, paths and operators end.

pub(crate) fn ends_word(char: char) -> bool {
    char.is_whitespace() || matches!(char, '(' | ')' | '"')
}

/// The length of the word that `text` begins with.
pub(crate) fn word(text: &str) -> usize {
    text.find(ends_word).unwrap_or(text.len())
}

/// The length of the value that `text` begins with, and whether a parenthesis in it is open. In a
/// value balanced parentheses need no quotes: `name~^(a|b)$`.
pub(crate) fn value(text: &str) -> (usize, bool) {
    let mut open = 0_usize;
    for (at, char) in text.char_indices() {
        match char {
            '(' => open += 1,
            ')' if open > 0 => open -= 1,
            _ if ends_word(char) => return (at, open > 0),
            _ => {}
        }
    }
    (text.len(), open > 0)
}

/// A string without its quotes and the length that it has with them; `None` if it does not end.
/// `\"`, `\\`, `\n`, `\r` and `\t` are escapes; any other backslash stands for itself, so that
/// patterns such as `\d` can be written as they are.
pub(crate) fn string(text: &str) -> Option<(String, usize)> {
    let mut value = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return Some((value, at + 1)),
            '\\' => {
                let (_, next) = chars.next()?;
                match next {
                    '"' | '\\' => value.push(next),
                    'n' => value.push('\n'),
                    'r' => value.push('\r'),
                    't' => value.push('\t'),
                    other => value.extend(['\\', other]),
                }
            }
            other => value.push(other),
        }
    }
    None
}

/// The beginning of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Head {
    /// A path of this length, then an operator.
    Path(usize, Op),
    /// A name of this length, then a bracket that does not close.
    Open(usize),
    None,
}

/// Looks for a path and an operator at the start of `text`.
pub(crate) fn head(text: &str) -> Head {
    let length = match path(text) {
        Ok(length) => length,
        Err(name) => return Head::Open(name),
    };
    let op = operator(&text[length..]);
    match (length, op) {
        (1.., Some(op)) => Head::Path(length, op),
        _ => Head::None,
    }
}

/// The operator that `text` begins with.
pub(crate) fn operator(text: &str) -> Option<Op> {
    Op::ALL
        .iter()
        .copied()
        .find(|op| text.starts_with(op.as_str()))
}

/// The length of the name that `text` begins with; 0 where there is none.
pub(crate) fn name(text: &str) -> usize {
    if !text.starts_with(|char: char| char.is_alphabetic() || char == '_') {
        return 0;
    }
    let is_part = |char: char| char.is_alphanumeric() || matches!(char, '_' | '-' | '$');
    text.find(|char| !is_part(char)).unwrap_or(text.len())
}

/// The length of the path that `text` begins with; where a bracket does not close, an error with
/// the length of the first name.
fn path(text: &str) -> Result<usize, usize> {
    let first = name(text);
    let mut length = first;
    while length > 0 {
        let rest = &text[length..];
        let step = match rest.as_bytes().first() {
            Some(b'.') => match key(&rest[1..]) {
                0 => break,
                key => key + 1,
            },
            Some(b'[') => bracket(rest).ok_or(first)?,
            _ => break,
        };
        length += step;
    }
    Ok(length)
}

/// The length of the path that `text` begins with; `None` where a bracket does not close.
pub(crate) fn path_length(text: &str) -> Option<usize> {
    path(text).ok()
}

/// The length of a member's name after a dot, which may begin with a digit.
fn key(text: &str) -> usize {
    let is_part = |char: char| char.is_alphanumeric() || matches!(char, '_' | '-' | '$');
    text.find(|char| !is_part(char)).unwrap_or(text.len())
}

/// The length of what stands in brackets, with them.
fn bracket(text: &str) -> Option<usize> {
    if text[1..].starts_with('"') {
        let (_, length) = string(&text[1..])?;
        let closed = text[1 + length..].starts_with(']');
        return closed.then_some(length + 2);
    }
    let end = text.find(|char: char| char == ']' || char.is_whitespace())?;
    text[end..].starts_with(']').then_some(end + 1)
}

// Why a text is no filter.

/// Why a text is no filter, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct QueryError {
    /// The bytes that are meant; empty at the end of the text where something is missing.
    pub at: Range<usize>,
    /// One sentence, without a full stop. Holds parts of the text, not escaped.
    pub message: String,
    /// The real name that comes nearest to an unknown one.
    pub nearest: Option<String>,
}

impl QueryError {
    fn new(at: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            at,
            message: message.into(),
            nearest: None,
        }
    }

    /// Whether `text`, which was refused for this, may become a filter by typing on at its end.
    pub fn may_be_unfinished(&self, text: &str) -> bool {
        self.at.end == text.len()
    }

    /// An unknown name, with the nearest of the known ones if one is near.
    fn unknown(
        at: Range<usize>,
        what: &str,
        name: &str,
        known: impl Iterator<Item = &'static str> + Clone,
    ) -> Self {
        let nearest = nearest(name, known.clone());
        let message = match nearest {
            Some(near) => format!("there is no {what} `{name}`; did you mean `{near}`?"),
            None => format!("there is no {what} `{name}`; {}", way_out(known)),
        };
        Self {
            nearest: nearest.map(str::to_owned),
            ..Self::new(at, message)
        }
    }
}

/// Names that are told in a sentence at most; of more the first ones.
const TOLD: usize = 4;

/// Some of what there is, so that nobody has to guess.
fn way_out(mut known: impl Iterator<Item = &'static str>) -> String {
    let told: Vec<_> = known.by_ref().take(TOLD).collect();
    let others = known.count();
    match others {
        0 => format!("there are {}", told.join(", ")),
        others => format!("there are {} and {others} more", told.join(", ")),
    }
}

/// Below this likeness a suggestion is noise.
const ALIKE: f64 = 0.6;

fn nearest(name: &str, known: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let name = name.to_lowercase();
    known
        .map(|one| (strsim::jaro_winkler(&name, one), one))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, one)| one)
}

#[cfg(test)]
mod parse_tests;

#[cfg(test)]
mod error_tests {
    use super::*;

    #[test]
    fn where_no_name_is_near_some_real_ones_are_told() {
        let known = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"];
        let of = |name| QueryError::unknown(0..1, "field", name, known.into_iter());
        assert!(
            of("qqq")
                .message
                .ends_with("there are alpha, beta, gamma, delta and 2 more")
        );
        assert!(of("alhpa").message.ends_with("did you mean `alpha`?"));
    }
}
