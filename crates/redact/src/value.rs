//! What a value may be: whether a text beside a name is its secret.
//!
//! A value is judged by what holds it ([`Class`]), by how it stands beside the name ([`Bond`]), and by what
//! it looks like. What stands for a value and is none is data, in `data/values.toml`.

use super::encodings;
use super::entropy::{is_camel, is_dense, is_random, is_short_key, is_unread, is_value};
use super::names::{self, Class};
use super::token::{Piece, Pieces};
use regex::Regex;
use serde::{Deserialize, Deserializer};
use std::ops::Range;
use std::sync::LazyLock;

/// How a value stands beside its name, and so how much it has to look like a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bond {
    /// All of a string of JSON or of a word of a command: nothing around it is prose or code.
    Whole,
    /// In quotes, or right behind an equals sign.
    Alone,
    /// All that a line sets.
    Line,
    /// The quoted word behind its quoted name.
    Pair,
    /// A cell in the column or in the row of its name.
    Cell,
    /// Bare in a text, where prose and code look alike.
    Loose,
    /// Stated in a sentence: `the password is this`.
    Said,
    /// Right behind the name in a sentence.
    Near,
    /// One of several in the same line, list or paragraph.
    Rest,
}

/// A candidate for the value of a name.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub span: Range<usize>,
    pub bond: Bond,
    /// The class of the value, where that is another than the class of the name.
    pub class: Option<Class>,
}

impl Value {
    pub fn new(span: Range<usize>, bond: Bond) -> Self {
        let class = None;
        Self { span, bond, class }
    }
}

/// Under a vague name ([`Class::Many`]) a shorter value is not taken for a secret.
const MANY: usize = 12;

/// Whether `value` can be what a name of this class holds.
pub(super) fn fits(class: Class, value: &str, bond: Bond) -> bool {
    use Class::{Digits, Folder, Header, Key, Many, Pair, Password, Token, Variable};
    let is_made = bond == Bond::Whole && is_dense(value);
    if is_made && matches!(class, Password | Key | Token | Pair) {
        return true;
    }
    if is_placeholder(value) || is_reference(value) {
        return false;
    }
    match class {
        Digits => is_code_of_digits(value),
        Header => {
            let is_word = value.contains(|char: char| char.is_ascii_digit());
            let is_word = is_word && !value.contains(char::is_whitespace) && !is_name(value);
            !is_prose(value) && (bond == Bond::Whole || is_word)
        }
        Pair => encodings::is_pair(value.as_bytes()) || is_unread(value),
        Variable if is_short_key(value) || is_value(value.as_bytes()) => true,
        Many | Variable => value.len() >= MANY && is_unread(value),
        _ if bond == Bond::Rest => is_value(value.as_bytes()) && !value.contains('/'),
        Folder if value.starts_with(['/', '~']) => false,
        Key if bond == Bond::Cell => is_token(value, bond),
        Password | Key | Folder => is_password(value, bond),
        Token => is_token(value, bond),
    }
}

fn is_password(value: &str, bond: Bond) -> bool {
    match bond {
        Bond::Line | Bond::Rest => true,
        Bond::Whole => !is_path(value) && !is_sentence(value),
        Bond::Alone => {
            let is_count = value.len() < 4 && value.bytes().all(|byte| byte.is_ascii_digit());
            !is_count && !is_path(value) && !is_sentence(value) && !PATTERNS.source.is_match(value)
        }
        Bond::Pair => looks_stated(value, true),
        Bond::Cell => {
            is_long(value) && !is_prose(value) && !is_path(value) && names::class(value).is_none()
        }
        Bond::Said => looks_stated(value, false),
        Bond::Near => looks_adjacent(value),
        Bond::Loose => value.len() >= 4 && !is_name(value) && is_random(value),
    }
}

fn is_token(value: &str, bond: Bond) -> bool {
    value.len() >= 6
        && !value.contains(char::is_whitespace)
        && match bond {
            Bond::Whole | Bond::Line => !is_words(value),
            Bond::Alone => !is_words(value) && !PATTERNS.source.is_match(value),
            Bond::Cell => is_random(value) && !value.contains('+') || is_value(value.as_bytes()),
            Bond::Loose => value.len() >= 8 && is_random(value) && !is_camel(value),
            Bond::Pair | Bond::Said | Bond::Near | Bond::Rest => is_value(value.as_bytes()),
        }
}

/// Whether the value of a cookie or of a parameter tells who asks: it is no setting of the page.
pub(super) fn is_cookie(name: &str, value: &str) -> bool {
    const SESSIONS: [&str; 8] = [
        "sess", "token", "auth", "jwt", "csrf", "xsrf", "login", "secret",
    ];
    let small = name.trim_start().to_ascii_lowercase();
    let mut words = small.split(|char: char| !char.is_ascii_alphanumeric());
    let is_session = SESSIONS.iter().any(|word| small.contains(word))
        || words.any(|word| word.ends_with("sid") || word == "id" || word == "remember");
    let is_setting = [
        "expires", "path", "domain", "max-age", "nonce", "uri", "username", "realm",
    ];
    !is_setting.contains(&&*small)
        && !small.contains(char::is_whitespace)
        && !is_placeholder(value)
        && (is_value(value.as_bytes()) || is_session && value.len() >= 3)
}

/// Whether a word is a code of digits, perhaps with signs between them.
fn is_code_of_digits(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let is_sign = |byte: u8| byte.is_ascii_digit() || b" -#*".contains(&byte);
    (3..=10).contains(&digits) && value.bytes().all(is_sign)
}

/// What `data/values.toml` says.
#[derive(Deserialize)]
struct Patterns {
    #[serde(deserialize_with = "whole")]
    placeholder: Regex,
    #[serde(deserialize_with = "whole")]
    reference: Regex,
    #[serde(deserialize_with = "whole")]
    code: Regex,
    #[serde(deserialize_with = "whole")]
    source: Regex,
    #[serde(deserialize_with = "whole")]
    words: Regex,
    #[serde(deserialize_with = "whole")]
    name: Regex,
    #[serde(deserialize_with = "whole")]
    measure: Regex,
}

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    let file = include_str!("../data/values.toml");
    toml::from_str(file).expect("the shipped patterns are read in a test")
});

fn whole<'de, D: Deserializer<'de>>(data: D) -> Result<Regex, D::Error> {
    let all = Vec::<String>::deserialize(data)?.join("|");
    Regex::new(&format!("(?s)^(?:{all})$")).map_err(serde::de::Error::custom)
}

/// Words of letters alone that are joined as code and styles join them: `string.quoted.raw`.
pub(super) fn is_words(value: &str) -> bool {
    PATTERNS.words.is_match(value)
}

/// Whether a bare word is a name or a constant of code: `__u32`, `client_token`, `MAX_KEY_2`, `0x10101`.
pub(super) fn is_name(value: &str) -> bool {
    value.contains(['_', '0']) && PATTERNS.name.is_match(value) || is_words(value)
}

/// Whether a text is a path as people name files, without anything random in it.
pub(super) fn is_path(value: &str) -> bool {
    let of_path = |char: char| char.is_ascii_alphanumeric() || "._-/\\~: ".contains(char);
    value.starts_with(['/', '~', '.'])
        && value.contains('/')
        && value.chars().all(of_path)
        && !is_dense(value)
}

/// Words that make a sentence of several.
const SENTENCE: &str = " the a an is are was must be should to of for with at least your you please enter \
and or not in this that it has have required invalid cannot characters can will been on used if from ";

/// Words of which one alone makes a sentence.
const TELLING: &str = " is are was must be should your you please enter or not has have required invalid cannot \
characters can will been used if password passwords secret token key string value least ";

fn count_of(value: &str, those: &str) -> usize {
    let words = value.split_whitespace();
    let words = words.map(|word| word.trim_matches(|char: char| !char.is_alphanumeric()));
    let is_one = |word: &&str| {
        !word.is_empty() && those.contains(&format!(" {} ", word.to_ascii_lowercase()))
    };
    words.filter(is_one).count()
}

/// Whether a text reads like a sentence, or a part of one.
pub(super) fn is_prose(value: &str) -> bool {
    value.trim().contains(char::is_whitespace) && count_of(value, SENTENCE) > 0
}

/// The same where a phrase of several words may be a password: `nine tall ships sail at dawn`.
fn is_sentence(value: &str) -> bool {
    let is_phrase = count_of(value, TELLING) == 0 && count_of(value, SENTENCE) < 2;
    is_prose(value) && !is_phrase
}

/// Whether a bare value is an expression or a type of code, and not a value. A path of names with
/// a digit within may be a password: people have some like `top.secret2`.
pub(super) fn is_code(value: &str) -> bool {
    // No call and no index goes on with a letter.
    let mut pairs = value.as_bytes().windows(2);
    let goes_on = pairs.any(|pair| b")]}".contains(&pair[0]) && pair[1].is_ascii_alphanumeric());
    let Some(found) = PATTERNS
        .code
        .captures(value)
        .filter(|_| !goes_on && value.is_ascii())
    else {
        return false;
    };
    let Some(path) = found.name("path").or_else(|| found.name("name")) else {
        return true;
    };
    let said = path.as_str();
    let has_digit = |text: &str| text.contains(|char: char| char.is_ascii_digit());
    let has_inner = has_digit(said.trim_end_matches(|char: char| char.is_ascii_digit()));
    !has_inner && (!has_digit(said) || path.end() < value.len())
}

/// Whether a word alone in a list is a value, and neither a path nor a name.
pub(super) fn looks_generated(word: &str) -> bool {
    let is_joined = word.contains(['/', '_', '.', ':', '\\', '(', '[', '{', '<']);
    is_value(word.as_bytes()) || !is_joined && is_random(word) && !is_camel(word)
}

/// Whether a word is the name of a secret, or code, and not a secret.
pub(super) fn is_other_name(word: &str) -> bool {
    is_code(word) || names::class(word).is_some()
}

/// Whether a word looks like a password that a person chose: it has a letter and a digit.
pub(super) fn looks_chosen(word: &str) -> bool {
    let has = |test: fn(&char) -> bool| word.chars().any(|char| test(&char));
    word.len() > 5 && has(char::is_ascii_digit) && has(|char| char.is_alphabetic())
}

/// Signs within a word that no word of a sentence has.
const ODD_SIGNS: &str = "!#$%^&*+~?@";

/// Signs of code and of pairs, which only a quoted value has.
const BRACKETS: [char; 10] = ['=', '(', ')', '[', ']', '{', '}', '<', '>', '\\'];

fn is_measure(word: &str) -> bool {
    PATTERNS.measure.is_match(word)
}

/// Whether a word behind a link (`the password is …`) is a password: it has a digit among letters, a
/// sign within, or nobody reads it. What is quoted may also be of several words.
pub(super) fn looks_stated(word: &str, is_quoted: bool) -> bool {
    if looks_adjacent(word) {
        return true;
    }
    let has_capital = word.chars().skip(1).any(char::is_uppercase);
    let is_joined =
        word.contains(['-', '.', '_', '/', '\\', ';', '&']) && has_capital && word.len() > 7;
    let is_phrase = || word.split(' ').nth(2).is_some() && !word.contains(['/', ':']);
    is_long(word)
        && (is_quoted || !word.contains(BRACKETS))
        && !is_measure(word)
        && !is_placeholder(word)
        && (is_joined || is_quoted && is_phrase() || looks_chosen(word))
}

/// Whether a word right behind a name (`password …`) is a password.
pub(super) fn looks_adjacent(word: &str) -> bool {
    let has = |test: fn(char) -> bool| word.contains(test);
    let is_mixed =
        has(char::is_lowercase) && has(char::is_uppercase) || word.contains(['-', '_', '.', '/']);
    is_long(word)
        && !word.contains(BRACKETS)
        && !word.contains([' ', ','])
        && has(char::is_alphabetic)
        && (word.contains(|char| ODD_SIGNS.contains(char)) || is_mixed && looks_chosen(word))
        && !is_measure(word)
}

/// Whether all that a line sets a password to is one: a word, or some that make no sentence.
pub(super) fn looks_set(value: &str) -> bool {
    let has_letter = value.contains(char::is_alphabetic);
    if !value.contains(' ') {
        let is_joined = value.contains('-') && has_letter && !value.contains(BRACKETS);
        return looks_stated(value, false) || is_joined;
    }
    let mut words = value.split(' ');
    let capitals = words
        .clone()
        .filter(|word| word.starts_with(char::is_uppercase));
    let is_set = value.contains(|char: char| char.is_ascii_digit() || "&!%^~+*?;".contains(char));
    (is_set || capitals.count() > 1)
        && !words
            .next()
            .is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit()))
        && !value.contains(['=', '<', '>', '(', '{', '$', '"', '/', ':', '|'])
        && value.split(' ').count() < 6
        && !value.ends_with(['.', ','])
        && !is_prose(value)
}

fn is_long(word: &str) -> bool {
    word.chars().nth(4).is_some()
}

/// Whether a text stands for a value in an example, or in place of one that is hidden already.
pub(super) fn is_placeholder(value: &str) -> bool {
    let text = value.trim();
    let is_word = |char: char| char.is_alphabetic() || " -_'".contains(char);
    // `Passwort` below `password`: a word of another language, or a label; a path to such a name.
    let (path, last) = text.rsplit_once(['/', ':']).unwrap_or(("", text));
    let is_of_path = |char: char| char.is_alphanumeric() || "./-_:".contains(char);
    PATTERNS.placeholder.is_match(text)
        || is_hidden(text)
        || last.chars().all(is_word)
            && path.chars().all(is_of_path)
            && !text.contains("://")
            && names::class(last).is_some()
        || text.is_empty()
}

/// `$TOKEN`, `process.env.TOKEN`, `get_password()`: where a value comes from, not the value.
pub(super) fn is_reference(value: &str) -> bool {
    PATTERNS.reference.is_match(value)
}

/// Whether a text consists of tokens of this crate or of another redaction, signs aside.
fn is_hidden(text: &str) -> bool {
    let is_sign = |text: &str| {
        matches!(text.trim(), "Bearer" | "Basic") || !text.contains(char::is_alphanumeric)
    };
    text.contains(super::token::OPEN)
        && Pieces(text).all(|piece| match piece {
            Piece::Placeholder { .. } => true,
            Piece::Text(text) => is_sign(text),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_for_a_value_is_none() {
        for value in [
            "",
            "<token>",
            "{{ token }}",
            "%TOKEN%",
            "****",
            "xxxx",
            "your-api-key",
            "YOUR_TOKEN_HERE",
            "password",
            "changeme",
            "null",
            "[REDACTED]",
            "‹secret:1›",
            "Bearer ‹secret:1›",
            "AKIAIOSFODNN7EXAMPLE",
            "sk-...",
            "sk-",
            "sk-proj-xxxxxxxx",
            "ghp_xxxxxxxxxxxx",
            "***REMOVED***",
            "INSERT_YOUR_KEY_HERE",
            "REPLACE_ME",
            "input2",
        ] {
            assert!(is_placeholder(value), "{value}");
        }
        for value in [
            "${TOKEN}",
            "$TOKEN",
            "process.env.TOKEN",
            "getpass()",
            "op://vault/db/x",
        ] {
            assert!(is_reference(value), "{value}");
        }
        for value in [
            "hunter2",
            "xxx-harbour-9",
            "ghp_lovely77",
            "sk-live-seagull",
            "*puffin*",
        ] {
            assert!(!is_placeholder(value) && !is_reference(value), "{value}");
        }
    }
}
