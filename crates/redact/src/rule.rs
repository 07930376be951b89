//! A rule: the shape of a secret, with samples of what it finds and of what it passes over.

use super::token::Kind;
use std::ops::Range;

/// What a kind of secret looks like.
#[derive(Debug)]
pub struct Rule {
    pub id: &'static str,
    pub about: &'static str,
    pub(super) kind: Kind,
    /// Texts of which each one begins with one, or has one after its lead; none where it begins with
    /// base64.
    pub(super) anchors: &'static [&'static str],
    /// Bytes before an anchor that belong to it; without anchors, those that it may begin with.
    pub(super) lead: fn(u8) -> bool,
    /// Bytes that may not stand before it: it would be a part of something else.
    pub(super) edge: fn(u8) -> bool,
    /// All of it, from its beginning; the first group that has something is the secret, where not
    /// all of it is.
    pub(super) shape: &'static str,
    pub(super) holds: fn(&str) -> bool,
    /// Texts with a secret between `⟦` and `⟧`.
    pub found: &'static [&'static str],
    /// Texts that look alike and have none.
    pub passed: &'static [&'static str],
}

/// A rule whose anchors begin what it finds.
pub(super) const RULE: Rule = Rule {
    id: "",
    about: "",
    kind: Kind::Secret,
    anchors: &[],
    lead: |_| false,
    edge: is_of_word,
    shape: "",
    holds: |_| true,
    found: &[],
    passed: &[],
};

/// A letter, a digit or an underscore.
pub(super) fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

pub(super) fn is_of_name(byte: u8) -> bool {
    is_of_word(byte) || byte == b'-'
}

/// A sample without its marks, and where the secret stands.
pub fn sample(text: &str) -> (String, Range<usize>) {
    let start = text.find('⟦').unwrap_or(0);
    let end = text.find('⟧').map_or(start, |end| end - '⟦'.len_utf8());
    (text.replace(['⟦', '⟧'], ""), start..end)
}
