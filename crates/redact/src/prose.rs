//! A value behind a name where no sign tells that it is one, and what says whose value it is.
//!
//! ```text
//!  the password is one      | token | one |      password changed from one to two
//!  password for ada: one    password (of ada): one
//! ```

use super::lists::{is_item, is_value, words};
use super::named::LONG;
use super::names::Class;
use super::plausible::{Stands, fits};
use super::{code, command, named};
use std::ops::Range;

/// Bytes between a name and a value where no sign stands.
const NEAR: usize = 96;

/// Bytes of what says whose value it is.
const WHOSE: usize = 64;

const MOST: usize = 4;

/// Words between a name and its value.
const LINKS: [&str; 20] = [
    "is", "was", "to", "reset", "set", "by", "with", "as", "now", "be", "been", "has", "changed",
    "updated", "rotated", "new", "value", "of", "the", "equals",
];

/// Those that say that there are two values.
const CHANGES: [&str; 4] = ["changed", "updated", "rotated", "reset"];

/// The values of a name behind which no sign stands: the next word that nobody says, what is quoted
/// right behind it, or both of a change.
pub(super) fn values(text: &[u8], name: &Range<usize>, class: Class) -> Vec<Range<usize>> {
    if !is_open(text, name, class) {
        return Vec::new();
    }
    let from = whose(text, name).unwrap_or(name.end);
    let near = from..text.len().min(from + NEAR);
    let mut is_changed = false;
    let mut those = words(text, near.clone());
    while let Some(word) = those.next() {
        let said = &text[word.clone()];
        if said.starts_with(b"-") {
            break;
        }
        if is_changed && said.eq_ignore_ascii_case(b"from") {
            return both(text, those, class);
        }
        if class == Class::Digits {
            let is_code = fits(class, &String::from_utf8_lossy(said), Stands::InText);
            if is_code && said.len() > 3 && !code::counts(&text[word.end..]) {
                return vec![word];
            }
        } else if is_value(said) || class == Class::Password && is_given(text, name, &word) {
            return vec![whole(text, word, near.end)];
        }
        if is_quoted(text, (name, from, &word), class) {
            return vec![word];
        }
        if !is_one_of(said, &LINKS) && said.iter().any(u8::is_ascii_alphanumeric) {
            break;
        }
        is_changed |= is_one_of(said, &CHANGES);
    }
    Vec::new()
}

/// Words in front of `password` behind which people say one.
const WITH: [&[u8]; 3] = [b"with ", b"using ", b"and "];

/// What a password is kept or sent by, in words that have digits in them.
const HOW: [&str; 16] = [
    "sha", "md5", "bcrypt", "scrypt", "argon", "pbkdf", "scram", "hmac", "aes", "rsa", "base64",
    "utf", "oauth", "http", "ntlm", "ldap",
];

/// Whether a word is right behind `with password`, and one that somebody may have for his own: it
/// has letters and digits, and is no name of a thing.
fn is_given(text: &[u8], name: &Range<usize>, word: &Range<usize>) -> bool {
    let (before, said) = (&text[..name.start], &text[word.clone()]);
    let is_with = |with: &&[u8]| {
        let at = before.len().checked_sub(with.len());
        at.is_some_and(|at| before[at..].eq_ignore_ascii_case(with))
    };
    let is_own = text[name.clone()].eq_ignore_ascii_case(b"password");
    let small = String::from_utf8_lossy(said).to_ascii_lowercase();
    is_own
        && text[name.end..word.start] == *b" "
        && WITH.iter().any(is_with)
        && said.len() > 5
        && said
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"!@#$%&*+".contains(byte))
        && said.iter().any(u8::is_ascii_digit)
        && said.iter().any(u8::is_ascii_alphabetic)
        && !code::is_camel(&String::from_utf8_lossy(said))
        && !HOW.iter().any(|how| small.starts_with(how))
}

fn is_one_of(word: &[u8], those: &[&str]) -> bool {
    those
        .iter()
        .any(|one| word.eq_ignore_ascii_case(one.as_bytes()))
}

/// All of a value of which `word` is the beginning, or what is near of it.
fn whole(text: &[u8], word: Range<usize>, near: usize) -> Range<usize> {
    if word.end == near && near < text.len() {
        return named::bare(text, word.start);
    }
    let is_cut = matches!(text.get(word.end), Some(b'&' | b';'))
        && text
            .get(word.end + 1)
            .is_some_and(u8::is_ascii_alphanumeric);
    let tail = if is_cut {
        command::tail(text, word.start, word.end)
    } else {
        0
    };
    word.start..word.end + tail
}

/// What something was changed from, and to.
fn both(
    text: &[u8],
    mut those: impl Iterator<Item = Range<usize>>,
    class: Class,
) -> Vec<Range<usize>> {
    let old = those.next();
    let is_to = |word: &Range<usize>| text[word.clone()].eq_ignore_ascii_case(b"to");
    let new = those.next().filter(is_to).and_then(|_| those.next());
    let is_one = |word: &Range<usize>| {
        let said = &text[word.clone()];
        let is_plain = memchr::memchr(b'-', said).is_none();
        said.iter().any(u8::is_ascii_alphabetic)
            && (is_value(said) || is_plain && is_item(said))
            && fits(class, &String::from_utf8_lossy(said), Stands::InText)
    };
    old.into_iter().chain(new).filter(is_one).collect()
}

/// Whether something may follow a name without a sign.
fn is_open(text: &[u8], name: &Range<usize>, class: Class) -> bool {
    let next = text.get(name.end);
    if class == Class::Digits {
        // A number right behind it may count or name it.
        let rest = &text[name.end..];
        return rest.starts_with(b" is ") || rest.starts_with(b" was ");
    }
    matches!(class, Class::Password | Class::Token | Class::Key)
        && matches!(next, Some(b' ' | b'\t' | b'"' | b'\'' | b'`' | b'*' | b'|'))
}

/// Whether a word that can be a value stands in quotes right behind a name, as in SQL. In others
/// than there a name may stand as well, and tokens and secrets have names of their own.
fn is_quoted(
    text: &[u8],
    (name, from, word): (&Range<usize>, usize, &Range<usize>),
    class: Class,
) -> bool {
    let (before, after) = (&text[from..word.start], &text[word.end..]);
    let called = text[name.clone()].to_ascii_lowercase();
    let is_own = [&b"pass"[..], b"pwd"]
        .iter()
        .any(|it| memchr::memmem::find(&called, it).is_some());
    let is_in = |open: &[u8], close: &[u8]| {
        let inner = before
            .strip_suffix(open)
            .filter(|_| after.starts_with(close));
        inner.is_some_and(|inner| inner.iter().all(|byte| matches!(byte, b' ' | b'\'')))
    };
    let said = &text[word.clone()];
    let is_one = is_in(b"'", b"'")
        || is_own
            && is_item(said)
            && (is_in(b"\"", b"\"")
                || MARKS
                    .iter()
                    .any(|(open, close)| is_in(open.as_bytes(), close.as_bytes())));
    is_one && fits(class, &String::from_utf8_lossy(said), Stands::InText)
}

/// Whether there may be one in bytes in which anything may be escaped.
pub(super) fn may_be(raw: &[u8], name: &Range<usize>, class: Class) -> bool {
    let near = &raw[name.end..raw.len().min(name.end + NEAR)];
    let is_escaped = || memchr::memchr(b'\\', near).is_some();
    is_open(raw, name, class) && (is_escaped() || !values(raw, name, class).is_empty())
}

/// Where what says whose value it is ends, if a sign or `is` follows: `for ada`, `(of ada)`.
pub(super) fn whose(text: &[u8], name: &Range<usize>) -> Option<usize> {
    let near = &text[name.end..text.len().min(name.end + WHOSE)];
    let line = near.split(|byte| matches!(byte, b'\n' | b'\r')).next()?;
    let said = line.strip_prefix(b" ")?;
    let length = match said.first()? {
        b'(' => in_brackets(said)?,
        b'f' | b'F' | b'o' | b'O' => of_somebody(said)?,
        _ => return None,
    };
    Some(name.end + 1 + length)
}

fn in_brackets(said: &[u8]) -> Option<usize> {
    let end = memchr::memchr2(b')', b'\\', said)?;
    let is_plain = said[end] == b')' && memchr::memchr(b'(', &said[1..end]).is_none();
    let after = said[end + 1..].trim_ascii_start();
    let is_signed = matches!(after.first(), Some(b':' | b'=')) || after.starts_with(b"is ");
    (is_plain && is_signed).then_some(end + 1)
}

fn of_somebody(said: &[u8]) -> Option<usize> {
    let mut at = 0;
    for (count, word) in said.split(|byte| *byte == b' ').take(MOST + 1).enumerate() {
        let is_begun = count > 0
            || [&b"for"[..], b"of"]
                .iter()
                .any(|of| word.eq_ignore_ascii_case(of));
        let is_sign = word
            .first()
            .is_some_and(|first| matches!(first, b':' | b'='));
        if !is_begun || count < 2 && is_sign {
            return None;
        }
        if is_sign || count > 1 && word == b"is" {
            return Some(at - 1);
        }
        let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.@-:/'\"`\\".contains(byte);
        let sign = sign_in(word).filter(|_| count > 0);
        let own = &word[..sign.unwrap_or(word.len())];
        if own.is_empty() || !own.iter().all(is_of_name) {
            return None;
        }
        if let Some(sign) = sign {
            return Some(at + sign);
        }
        at += word.len() + 1;
    }
    None
}

/// Where a word says that a value follows: not where a scheme or a port does.
fn sign_in(word: &[u8]) -> Option<usize> {
    let mut signs = memchr::memchr2_iter(b':', b'=', word);
    signs.find(|sign| *sign > 0 && !word[sign + 1..].starts_with(b"//"))
}

// Quotes as printers have them.

/// Quotes of printers. Those of placeholders are none of them.
pub(super) const MARKS: [(&str, &str); 6] = [
    ("“", "”"),
    ("„", "“"),
    ("„", "”"),
    ("‘", "’"),
    ("‚", "‘"),
    ("«", "»"),
];

/// A value in quotes of printers, on one line.
pub(super) fn in_marks(text: &[u8], start: usize) -> Option<Range<usize>> {
    let near = &text[start..text.len().min(start + LONG)];
    let near = near.split(|byte| *byte == b'\n').next()?;
    MARKS.iter().find_map(|(open, close)| {
        let said = near.strip_prefix(open.as_bytes())?;
        let length = memchr::memmem::find(said, close.as_bytes())?;
        let begin = start + open.len();
        Some(begin..begin + length)
    })
}

/// A word without quotes of printers around it.
pub(super) fn inside(text: &[u8], word: Range<usize>) -> Range<usize> {
    if text[word.clone()].is_ascii() {
        return word;
    }
    let (mut start, mut end) = (word.start, word.end);
    for (open, close) in MARKS {
        if text[start..end].starts_with(open.as_bytes()) {
            start += open.len();
        }
        if text[start..end].ends_with(close.as_bytes()) {
            end -= close.len();
        }
    }
    start..end
}

// What reads like a sentence.

/// Words that make a sentence of several.
const PROSE: [&str; 40] = [
    "the",
    "a",
    "an",
    "is",
    "are",
    "was",
    "must",
    "be",
    "should",
    "to",
    "of",
    "for",
    "with",
    "at",
    "least",
    "your",
    "you",
    "please",
    "enter",
    "and",
    "or",
    "not",
    "in",
    "this",
    "that",
    "it",
    "has",
    "have",
    "required",
    "invalid",
    "cannot",
    "characters",
    "can",
    "will",
    "been",
    "on",
    "field",
    "used",
    "if",
    "from",
];

/// Whether it reads like a sentence, or a part of one.
pub(super) fn is_prose(value: &str) -> bool {
    let mut words = value.split_whitespace();
    let count = words.clone().take(3).count();
    let is_of_prose = |word: &str| {
        let word = word.trim_matches(|char: char| !char.is_alphanumeric());
        PROSE.contains(&&*word.to_ascii_lowercase())
    };
    count >= 2 && words.any(is_of_prose)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Vec<&str> {
        let start = text.find("password").unwrap();
        let name = start..start + 8;
        let those = values(text.as_bytes(), &name, Class::Password);
        those.into_iter().map(|word| &text[word]).collect()
    }

    #[test]
    fn both_values_of_a_change_are_found() {
        let both = "password was changed from hunter2 to Zx7cVb2nMq9";
        assert_eq!(value(both), ["hunter2", "Zx7cVb2nMq9"]);
        assert_eq!(value("password changed from none to hunter2"), ["hunter2"]);
        for text in [
            "password changed from 2026-01-01 to 2026-02-02",
            "password reset from the console to nothing",
            "password rotated from us-east-1 to eu-west-2",
            "password taken from hunter2 to hunter3",
        ] {
            assert_eq!(value(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn whose_value_it_is_stands_in_front_of_the_sign() {
        let rest = |text: &str| {
            let end = whose(text.as_bytes(), &(0..8))?;
            Some(text[end..].to_owned())
        };
        for (text, expected) in [
            ("password for ada: x", ": x"),
            ("password for ada = x", " = x"),
            ("password of the user ada: x", ": x"),
            ("password for 'https://ada@host': x", ": x"),
            ("password for ada is x", " is x"),
            ("password for ada:x", ":x"),
            ("password (ada): x", ": x"),
        ] {
            assert_eq!(rest(text).as_deref(), Some(expected), "{text}");
        }
        for text in [
            "password for ada",
            "password for: x",
            "password for ada, or so: x",
            "password for one two three four five: x",
            "password (ada)",
            "password(ada): x",
            "password form: x",
            "password of ‹secret:1›”",
            "password of a,b: x",
            "password\nfor ada: x",
        ] {
            assert_eq!(rest(text), None, "{text}");
        }
    }
}
