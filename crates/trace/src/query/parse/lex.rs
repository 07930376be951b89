//! Where words, strings, paths and operators end.

use crate::query::ast::Op;

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

/// What a word turned out to begin with.
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
