//! From text to [`Query`]: one pass, one character of looking ahead but for the path of a word.
//!
//! What the grammar leaves open is decided here:
//!
//! * A word that begins with a path and an operator is a comparison, so its name must be real:
//!   `metod:x` is an error, not a text. Two exceptions are text, because no value begins so:
//!   `http://x` and the like (`://`), and `std::fmt` (`::`). A string in quotes is always text.
//! * Nothing stands between a field, its operator and its value; a word that is nothing but an
//!   operator, or an operator and a number, is an error and not a text.
//! * `or` and `'x y'` are errors and not texts: whoever writes so means `OR` and `"x y"`.
//! * A word that names a status and could hardly be another text, as `tool-error`, is that status.
//! * A word ends at white space, a parenthesis or a quote; in a value balanced parentheses belong
//!   to it. A quote in the middle of a word is an error.
//! * A dash negates what follows it directly. Words with a dash in front are to be quoted.
//! * `:` takes numbers with a unit, and times, to the precision in which they are written:
//!   `latency:842ms` is from 842 ms up to, not including, 843 ms. `=` is exact.

mod parse_value;

use super::ast::{Expr, Field, Flag, Op, Query, Root, Subject, Type, Value};
use crate::exchange::Status;
use mcpreel_wire::json::{Path, Step};
pub(super) use parse_value::{DURATIONS, SIZES};
use std::ops::Range;

/// Bytes of a filter. Nobody types more; without a limit a pasted file would be compiled.
pub const MAX_BYTES: usize = 4096;

/// Parentheses within parentheses. The parser and all who walk the tree recurse as deep.
pub const MAX_DEPTH: usize = 64;

const KEYWORDS: [&str; 3] = ["AND", "OR", "NOT"];

const QUOTES: &str = "to search for it use double quotes";

const MISSING: &str = "a condition must stand here; to search for a word with a dash, or for AND, \
OR or NOT, put it in quotes";

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

/// The part of the grammar at the end of `text`, and the byte at which that part begins. Reading
/// goes on behind what cannot be read.
pub(super) fn last_part(text: &str) -> (usize, Part) {
    let mut parser = Parser::of(text);
    while parser.at < text.len() {
        let began = parser.at;
        parser.depth = 0;
        parser.at = match parser.any() {
            Ok(_) if parser.rest().starts_with(')') => parser.at + 1,
            Err(error) if error.at.end > began => error.at.end,
            Ok(_) | Err(_) => break,
        };
    }
    parser.peek();
    parser.part
}

/// A part of the grammar that completion tells apart.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// A word, or the name that a condition begins with.
    Name,
    Flag,
    Subject,
    Value(Option<Field>, Type),
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    /// The part that was begun last, and where.
    part: (usize, Part),
}

type Parsed<T> = Result<T, QueryError>;

impl<'t> Parser<'t> {
    fn of(text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            depth: 0,
            part: (0, Part::Name),
        }
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
        let before = self.text[..self.at].chars().next_back();
        if before.is_some_and(|char| char != '"' && ends_word(char)) {
            self.part = (self.at, Part::Name);
        }
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
        let dash = self.peek() == Some('-') && !self.rest()[1..].starts_with(char::is_whitespace);
        if dash {
            self.at += 1;
            self.part = (self.at, Part::Name);
        }
        if dash || self.take("NOT") {
            return Ok(Expr::Not(Box::new(self.atom()?)));
        }
        self.atom()
    }

    fn atom(&mut self) -> Parsed<Expr> {
        let keyword = self.keyword();
        match self.peek() {
            Some('(') => self.group(),
            Some('"') => Ok(Expr::Text(self.string()?.into())),
            None | Some(')' | '-') => self.refuse(1, MISSING),
            Some(_) => match keyword {
                Some(keyword) => self.refuse(keyword.len(), MISSING),
                None => self.word(),
            },
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
            self.at = open;
            return self.unfinished("this parenthesis is not closed");
        }
        self.at += 1;
        Ok(inner)
    }

    /// A word: a condition, or a text.
    fn word(&mut self) -> Parsed<Expr> {
        let rest = self.rest();
        let first = &rest[..word(rest)];
        let upper = first.to_ascii_uppercase();
        if KEYWORDS.contains(&upper.as_str()) {
            let why = format!("conditions are joined by {upper}, in capitals; {QUOTES}");
            return self.refuse(first.len(), why);
        }
        if first.starts_with('\'') {
            return self.refuse(1, format!("a string stands in \" and \"; {QUOTES}"));
        }
        let name = name(rest);
        match Path::read(rest) {
            Ok((path, length)) if name > 0 => {
                let behind = &rest[length..];
                // No value begins with these, but addresses and names of code do.
                let is_text = behind.starts_with("://") || behind.starts_with("::");
                if let Some(op) = operator(behind).filter(|_| !is_text) {
                    return self.condition(&path, length, op);
                }
            }
            Err(_) if Root::parse(&rest[..name]).is_some() => {
                return self.unfinished("the bracket is not closed");
            }
            _ => {}
        }
        let word = &rest[..word(rest)];
        let value = operator(word).map(|op| &word[op.as_str().len()..]);
        let is_digit = |char: char| char.is_ascii_digit();
        if value.is_some_and(|value| value.is_empty() || value.starts_with(is_digit)) {
            let why = format!("an operator must follow its field directly; {QUOTES}");
            return self.refuse(word.len(), why);
        }
        self.at += word.len();
        self.no_quote()?;
        if word.contains('-') && Status::parse(word).is_some() {
            return Ok(Expr::Compare {
                subject: Subject::Field(Field::Status),
                op: Op::Contains,
                value: Value::Text {
                    text: word.into(),
                    quoted: false,
                },
            });
        }
        Ok(Expr::Text(word.into()))
    }

    /// The condition whose path has `length` bytes and is followed by `op`.
    fn condition(&mut self, path: &Path, length: usize, op: Op) -> Parsed<Expr> {
        let span = self.at..self.at + length;
        self.at = span.end + op.as_str().len();
        match &self.text[span.clone()] {
            word @ ("is" | "has") if op != Op::Contains => {
                self.at = span.end;
                let why = format!("`{word}` is followed by a colon");
                self.refuse(op.as_str().len(), why)
            }
            "is" => self.flag(),
            "has" => self.presence(),
            _ => self.comparison(subject(path, span)?, op),
        }
    }

    fn flag(&mut self) -> Parsed<Expr> {
        self.part = (self.at, Part::Flag);
        let rest = self.rest();
        let word = &rest[..word(rest)];
        if word.is_empty() {
            return self.refuse(0, "a flag must follow, for example is:failed");
        }
        let span = self.at..self.at + word.len();
        self.at = span.end;
        let unknown = || QueryError::unknown(span, "flag", word, Flag::WORDS);
        let flag = Flag::parse(word).ok_or_else(unknown)?;
        self.no_quote()?;
        Ok(Expr::Is(flag))
    }

    fn presence(&mut self) -> Parsed<Expr> {
        self.part = (self.at, Part::Subject);
        let rest = self.rest();
        let Ok((path, length)) = Path::read(rest) else {
            return self.unfinished("the bracket is not closed");
        };
        // Up to a quote in a bracket is not a word's end.
        if length == 0 || length < word(rest) {
            return self.refuse(word(rest), "a field must follow, for example has:latency");
        }
        let subject = subject(&path, self.at..self.at + length)?;
        self.at += length;
        self.no_quote()?;
        Ok(Expr::Has(subject))
    }

    fn comparison(&mut self, subject: Subject, op: Op) -> Parsed<Expr> {
        let kind = subject.kind_of_values();
        let (name, field) = match &subject {
            Subject::Field(field) => (field.as_str(), Some(*field)),
            Subject::Header(_) => ("header", None),
            Subject::Body(root, _) => (root.as_str(), None),
        };
        if !op.suits(kind) {
            let ops: Vec<_> = kind.ops().map(Op::as_str).collect();
            let (op, ops, takes) = (op.as_str(), ops.join(" "), kind.takes());
            let message =
                format!("`{name}` is not compared with `{op}` but with {ops}; it {takes}");
            return Err(QueryError::new(self.at - op.len()..self.at, message));
        }
        let start = self.at;
        self.part = (start, Part::Value(field, kind));
        let (text, quoted) = self.raw_value()?;
        let value = parse_value::read(kind, op, &text, quoted).map_err(|because| {
            let message = because.unwrap_or_else(|| format!("`{name}` {}", kind.takes()));
            QueryError::new(start..self.at, message)
        })?;
        Ok(Expr::Compare { subject, op, value })
    }

    /// A word or a string, and whether it stands in quotes.
    fn raw_value(&mut self) -> Parsed<(String, bool)> {
        let rest = self.rest();
        if rest.starts_with('"') {
            return Ok((self.string()?, true));
        }
        let (length, is_open) = value(rest);
        if rest.starts_with(['=', '\'']) {
            let why = "no value begins so; put it in \" and \" if that is meant";
            return self.refuse(1, why);
        }
        if is_open {
            let message = "a parenthesis in the value is not closed; use quotes if that is meant";
            return self.refuse(length, message);
        }
        self.at += length;
        self.no_quote()?;
        Ok((rest[..length].to_owned(), false))
    }

    /// The string whose quote comes next.
    fn string(&mut self) -> Parsed<String> {
        let Some((value, length)) = string(self.rest()) else {
            return self.unfinished("the quote is not closed");
        };
        self.at += length;
        Ok(value)
    }

    /// Refuses a quote directly behind a word.
    fn no_quote(&self) -> Parsed<()> {
        if self.rest().starts_with('"') {
            let why = "a quote in the middle of a word; put the whole in quotes";
            return self.refuse(1, why);
        }
        Ok(())
    }
}

fn one_or(mut list: Vec<Expr>, join: fn(Vec<Expr>) -> Expr) -> Expr {
    match list.len() {
        1 => list.remove(0),
        _ => join(list),
    }
}

pub(super) fn subject(path: &Path, span: Range<usize>) -> Parsed<Subject> {
    let Some((Step::Member(name), rest)) = path.steps().split_first() else {
        return Err(QueryError::new(span, "a path begins with a name"));
    };
    if let Some(root) = Root::parse(name) {
        return Ok(Subject::Body(root, Path::new(rest.to_vec())));
    }
    let first = span.start..span.start + name.len();
    if let ("http", [Step::Member(part)]) = (name.as_ref(), rest)
        && let Some(field) = Field::parse(&format!("http.{part}"))
    {
        return Ok(Subject::Field(field));
    }
    if &**name == "header" {
        let [Step::Member(header)] = rest else {
            let message = "`header` is followed by a dot and a name: header.mcp-session-id";
            return Err(QueryError::new(span, message));
        };
        return Ok(Subject::Header(header.to_ascii_lowercase().into()));
    }
    // Two fields have another name in the columns and in the JSON of rows.
    let field = match name.as_ref() {
        "since" => Some(Field::Time),
        "direction" => Some(Field::Dir),
        name => Field::parse(name),
    };
    match field {
        Some(field) if rest.is_empty() => Ok(Subject::Field(field)),
        Some(_) => {
            let message = format!("`{name}` has no parts");
            Err(QueryError::new(first.end..span.end, message))
        }
        None => {
            let known = [Field::WORDS, Root::WORDS, &["header", "is", "has"]].concat();
            Err(QueryError::unknown(first, "field", name, &known))
        }
    }
}

// Where words, strings and operators end.

fn ends_word(char: char) -> bool {
    char.is_whitespace() || matches!(char, '(' | ')' | '"')
}

/// The length of the word that `text` begins with.
fn word(text: &str) -> usize {
    text.find(ends_word).unwrap_or(text.len())
}

/// The length of the value that `text` begins with, and whether a parenthesis in it is open. In a
/// value balanced parentheses need no quotes: `name~^(a|b)$`.
pub(super) fn value(text: &str) -> (usize, bool) {
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
fn string(text: &str) -> Option<(String, usize)> {
    let mut value = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return Some((value, at + 1)),
            '\\' => match chars.next()?.1 {
                'n' => value.push('\n'),
                'r' => value.push('\r'),
                't' => value.push('\t'),
                next @ ('"' | '\\') => value.push(next),
                other => value.extend(['\\', other]),
            },
            other => value.push(other),
        }
    }
    None
}

fn operator(text: &str) -> Option<Op> {
    let mut all = Op::ALL.iter().copied();
    all.find(|op| text.starts_with(op.as_str()))
}

/// The length of the name that `text` begins with; 0 where there is none.
pub(super) fn name(text: &str) -> usize {
    if !text.starts_with(|char: char| char.is_alphabetic() || char == '_') {
        return 0;
    }
    let is_part = |char: char| char.is_alphanumeric() || matches!(char, '_' | '-' | '$');
    text.find(|char| !is_part(char)).unwrap_or(text.len())
}

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
    fn unknown(at: Range<usize>, what: &str, name: &str, known: &[&'static str]) -> Self {
        let name_lower = name.to_lowercase();
        let likeness = |known: &&str| strsim::jaro_winkler(&name_lower, known);
        let near = known.iter().map(|known| (likeness(known), *known));
        let near = near.filter(|(likeness, _)| *likeness >= ALIKE);
        let nearest = near.max_by(|a, b| a.0.total_cmp(&b.0));
        let nearest = nearest.map(|(_, known)| known);
        let hint = nearest.map_or(";".to_owned(), |near| format!("; did you mean `{near}`?"));
        let known = known.join(", ");
        let message = format!("there is no {what} `{name}`{hint} {what}s: {known}");
        Self {
            nearest: nearest.map(str::to_owned),
            ..Self::new(at, message)
        }
    }
}

/// Below this likeness a suggestion is noise.
const ALIKE: f64 = 0.6;

#[cfg(test)]
mod parse_tests;
