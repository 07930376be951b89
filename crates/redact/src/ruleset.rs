//! The rules: shapes of secrets, read from `data/rules.toml`.

use super::entropy::{is_dense, is_random, is_unread};
use super::token::Kind;
use super::value::is_reference;
use serde::Deserialize;
use std::ops::Range;
use std::sync::LazyLock;

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

/// The shape of a kind of secrets.
#[derive(Debug, Deserialize)]
pub struct Rule {
    pub id: String,
    pub about: String,
    #[serde(default)]
    pub(super) kind: Kind,
    /// Texts by which a secret is noticed: each secret begins with one of them, or has one behind its
    /// lead.
    pub(super) anchors: Vec<String>,
    /// Bytes before an anchor that belong to it.
    #[serde(default)]
    pub(super) lead: Bytes,
    /// Bytes that may not stand in front of a secret: it would be a part of something else.
    #[serde(default = "Bytes::of_word")]
    pub(super) edge: Bytes,
    pub(super) shape: String,
    #[serde(default)]
    pub(super) needs: Vec<Needs>,
    /// Texts with a secret between `⟦` and `⟧`.
    pub found: Vec<String>,
    /// Texts that look alike and have none.
    pub passed: Vec<String>,
}

/// Conditions on a secret besides its shape.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Needs {
    TwoDigits,
    /// Letters and digits change so often that nobody reads it.
    Unread,
    Dense,
    /// A digit, a sign, or capitals within.
    Random,
    /// It is no variable, function or reference.
    Value,
    /// It is given on a command line: neither a path nor a number nor a reference.
    Given,
    /// A small letter: servers answer `AUTH` in capitals.
    Small,
    /// It is the address of a person, not of a repository.
    Address,
    /// It is not the sign with which a diagram escapes a token.
    Folder,
    /// Base64 of a name and a secret.
    Pair,
    /// Base64 with two zero bytes.
    TwoNuls,
    /// A person may have chosen it: it has another sign than letters.
    Chosen,
}

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    #[derive(Deserialize)]
    struct File {
        rule: Vec<Rule>,
    }
    let file: File = toml::from_str(include_str!("../data/rules.toml"))
        .expect("the shipped rules are read in a test");
    file.rule
});

/// All rules that are shapes, in the order of the file.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    RULES.iter()
}

/// A sample without its marks, and where the secret stands.
pub fn sample(text: &str) -> (String, Range<usize>) {
    let start = text.find('⟦').unwrap_or(0);
    let end = text.find('⟧').map_or(start, |end| end - '⟦'.len_utf8());
    (text.replace(['⟦', '⟧'], ""), start..end)
}

impl Needs {
    pub fn is_met(self, secret: &str) -> bool {
        let digits = secret.bytes().filter(u8::is_ascii_digit).count();
        match self {
            Self::TwoDigits => digits > 1,
            Self::Unread => is_unread(secret),
            Self::Dense => is_dense(secret),
            Self::Random => is_random(secret),
            Self::Value => !is_reference(secret),
            Self::Given => is_given(secret),
            Self::Small => secret.contains(|c: char| c.is_ascii_lowercase()),
            Self::Address => !secret.starts_with("git@"),
            Self::Folder => secret != "#8249",
            Self::Pair => super::encodings::is_pair(secret.as_bytes()),
            Self::TwoNuls => {
                let plain = super::encodings::decode(secret.as_bytes());
                memchr::memchr_iter(0, &plain).count() == 2
            }
            Self::Chosen => {
                secret.len() > 5 && !secret.bytes().all(|byte| byte.is_ascii_alphabetic())
            }
        }
    }
}

fn is_given(text: &str) -> bool {
    let first = text.split('/').next().unwrap_or_default();
    first.bytes().any(|byte| !byte.is_ascii_digit())
        && text.bytes().any(|byte| byte.is_ascii_alphabetic())
        && !text.starts_with(['/', '\\'])
        && !is_reference(text)
}

/// A set of bytes, written as in the brackets of a regular expression: `0-9a-f`.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Bytes(String);

impl Bytes {
    fn of_word() -> Self {
        Self("0-9A-Z_a-z".to_owned())
    }

    pub fn has(&self, byte: u8) -> bool {
        let set = self.0.as_bytes();
        let is_within = |range: &[u8]| range[1] == b'-' && (range[0]..=range[2]).contains(&byte);
        match byte {
            b'-' => set.ends_with(b"-"),
            _ => set.contains(&byte) || set.windows(3).any(is_within),
        }
    }
}
