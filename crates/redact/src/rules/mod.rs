//! The rules, by who gives such secrets out.

mod platforms;
mod programs;
mod services;

use super::token::Kind;
use std::ops::Range;

/// Rules that are in force only where they are asked for.
pub const OPTIONAL: [&str; 2] = ["email", "home-folder"];

/// Rules that are no shape: what they find.
pub const SPECIAL: [(&str, &str); 5] = [
    (
        "key-name",
        "values of keys, variables, options and headers whose names say that they are secret",
    ),
    (
        "known-value",
        "values that are secret elsewhere in the same session, also as base64, in hex digits, percent-encoded or escaped",
    ),
    (
        "private-key",
        "private keys in PEM, also in lines of their own",
    ),
    (
        "url-password",
        "passwords and tokens in front of the host of a URL",
    ),
    (
        "json-path",
        "values that a path of the configuration leads to",
    ),
];

pub fn all() -> impl Iterator<Item = &'static Rule> {
    let families = [
        platforms::CLOUDS,
        platforms::HOSTS,
        platforms::VAULTS,
        platforms::CODE,
        services::SERVICES,
        programs::COMMANDS,
        programs::TOOLS,
        services::MODELS,
        programs::HEADERS,
        programs::OPTIONS,
    ];
    families.into_iter().flatten()
}

// A rule: the shape of a secret, with samples of what it finds and of what it passes over.

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
