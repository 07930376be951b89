//! Placeholders of redacted values: `‹secret:1›`.

use std::borrow::Cow;
use std::collections::HashMap;

/// What a placeholder begins with.
pub const OPEN: char = '‹';

/// What it ends with.
pub const CLOSE: char = '›';

/// Longer names are no placeholder's.
pub const LONGEST: usize = 64;

/// Whether bytes of JSON may have a placeholder in them, spelled out or escaped.
pub(super) fn may_be_in(bytes: &[u8]) -> bool {
    memchr::memmem::find(bytes, OPEN.to_string().as_bytes()).is_some()
        || memchr::memmem::find(bytes, b"\\u2039").is_some()
}

/// The names of the placeholders in a text: `secret:1` of `Bearer ‹secret:1›`.
pub fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    Pieces(text).filter_map(|piece| match piece {
        Piece::Placeholder { name, .. } => Some(name),
        Piece::Text(_) => None,
    })
}

/// What stands for placeholders.
#[derive(Clone, Debug, Default)]
pub(super) struct Secrets {
    supplied: HashMap<Box<str>, Box<str>>,
    learned: HashMap<Box<str>, Box<str>>,
}

impl Secrets {
    pub(super) fn supply(&mut self, name: Box<str>, value: Box<str>) {
        self.supplied.insert(name, value);
    }

    /// A live text stands where the recording has one with a placeholder in it.
    pub(super) fn learn(&mut self, recorded: &str, live: &str) {
        let mut names = placeholders(recorded);
        let (Some(name), None) = (names.next(), names.next()) else {
            return;
        };
        let placeholder = format!("{OPEN}{name}{CLOSE}");
        let Some((front, back)) = recorded.split_once(&placeholder) else {
            return;
        };
        let value = live
            .strip_prefix(front)
            .and_then(|live| live.strip_suffix(back));
        if let Some(value) = value
            && (self.learned.len() < super::MOST || self.learned.contains_key(name))
        {
            self.learned.insert(name.into(), value.into());
        }
    }

    /// The text with all placeholders replaced, or the names of those that are not known.
    pub(super) fn fill<'t>(&self, text: &'t str) -> Result<Cow<'t, str>, Vec<Box<str>>> {
        if !text.contains(OPEN) {
            return Ok(Cow::Borrowed(text));
        }
        let (mut filled, mut missing) = (String::new(), Vec::new());
        for piece in Pieces(text) {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Placeholder { name, .. } => match self.value(name) {
                    Some(value) => filled.push_str(value),
                    None => missing.push(name.into()),
                },
            }
        }
        if missing.is_empty() {
            Ok(Cow::Owned(filled))
        } else {
            Err(missing)
        }
    }

    /// The text with those placeholders replaced that are known.
    pub(super) fn fill_known(&self, text: &str) -> String {
        Pieces(text)
            .map(|piece| match piece {
                Piece::Text(text) => text,
                Piece::Placeholder { name, whole } => self.value(name).unwrap_or(whole),
            })
            .collect()
    }

    fn value(&self, name: &str) -> Option<&str> {
        let value = self.supplied.get(name).or_else(|| self.learned.get(name));
        value.map(|value| &**value)
    }
}

enum Piece<'t> {
    Text(&'t str),
    Placeholder { name: &'t str, whole: &'t str },
}

struct Pieces<'t>(&'t str);

impl<'t> Iterator for Pieces<'t> {
    type Item = Piece<'t>;

    fn next(&mut self) -> Option<Piece<'t>> {
        if self.0.is_empty() {
            return None;
        }
        if let Some(name) = placeholder(self.0) {
            let length = OPEN.len_utf8() + name.len() + CLOSE.len_utf8();
            let (whole, rest) = self.0.split_at(length);
            self.0 = rest;
            return Some(Piece::Placeholder { name, whole });
        }
        // What begins like one and is none is text.
        let skipped = self.0.chars().next().map_or(0, char::len_utf8);
        let end = self.0[skipped..].find(OPEN).map(|at| at + skipped);
        let (text, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        self.0 = rest;
        Some(Piece::Text(text))
    }
}

/// The name of the placeholder that a text begins with.
fn placeholder(text: &str) -> Option<&str> {
    let (name, _) = text.strip_prefix(OPEN)?.split_once(CLOSE)?;
    is_name(name).then_some(name)
}

/// Whether a placeholder can have this name: a word, a colon and a number.
#[must_use]
pub fn is_name(name: &str) -> bool {
    let Some((kind, number)) = name.split_once(':') else {
        return false;
    };
    let of_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    name.len() <= LONGEST
        && !kind.is_empty()
        && kind.bytes().all(of_word)
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placeholder_is_filled_or_named() {
        let mut secrets = Secrets::default();
        secrets.supply("secret:1".into(), "hunter2".into());
        assert_eq!(
            secrets.fill("Bearer ‹secret:1›!").unwrap(),
            "Bearer hunter2!"
        );
        assert_eq!(
            secrets.fill("‹no placeholder› ‹").unwrap(),
            "‹no placeholder› ‹"
        );
        let missing = secrets.fill("‹secret:1›‹email:2›‹secret:3›").unwrap_err();
        assert_eq!(missing, ["email:2".into(), "secret:3".into()]);
        assert_eq!(
            secrets.fill_known("‹secret:1›‹email:2›"),
            "hunter2‹email:2›"
        );
    }

    #[test]
    fn the_live_text_in_its_place_tells_what_it_stands_for() {
        let mut secrets = Secrets::default();
        secrets.learn("token=‹secret:7›;", "token=abc;");
        assert_eq!(secrets.fill("‹secret:7›").unwrap(), "abc");
        secrets.learn("x‹secret:8›", "token");
        assert!(secrets.fill("‹secret:8›").is_err());
        secrets.supply("secret:7".into(), "mine".into());
        assert_eq!(secrets.fill("‹secret:7›").unwrap(), "mine");
    }

    #[test]
    fn escaped_or_not_it_is_noticed() {
        assert!(may_be_in("{\"a\":\"‹secret:1›\"}".as_bytes()));
        assert!(may_be_in(br#"{"a":"\u2039secret:1\u203a"}"#));
        assert!(!may_be_in(br#"{"a":"secret:1"}"#));
    }
}
