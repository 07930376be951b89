//! What stands bare behind a name in code: where a value comes from, not the value.

use super::entropy;
use super::names;
use std::ops::Range;

/// A longer one is looked at no further.
const NEAR: usize = 256;

/// Words that an expression begins with.
const WORDS: [&str; 14] = [
    "await", "async", "new", "return", "typeof", "void", "yield", "function", "lambda", "not",
    "match", "unsafe", "try", "if",
];

/// States of an element in a style sheet, whose class may be called `.token`.
const STATES: [&str; 10] = [
    "hover", "focus", "active", "visited", "before", "after", "not", "root", "checked", "disabled",
];

const TYPES: [&str; 3] = ["String", "Bytes", "Buffer"];

/// Whether the value of `name`, which stands in no quotes, is code: `args.password`,
/// `jwt.encode(`, `params[:token]`, `$1`, the name of a type.
///
/// A file of variables holds values: there, and where a digit makes it look like one, it is none.
/// Where the only sign is a name, it must be the one that the value has as well: people have
/// passwords like `top.secret`.
pub(super) fn is_code(text: &[u8], name: &Range<usize>, value: &Range<usize>) -> bool {
    if super::command::is_one_of(text, name, value) {
        return false;
    }
    let near = value.start..value.end.min(value.start + NEAR);
    let Ok(said) = std::str::from_utf8(&text[near]) else {
        return false;
    };
    let is_followed = text.get(value.end) == Some(&b' ');
    let is_same = |other: &str| is_same(&text[name.clone()], other);
    matches!(said, "!0" | "!1")
        || is_followed && WORDS.contains(&said)
        || is_parameter(said, &is_same)
        || is_type(said, &is_same)
        || is_state(said)
        || is_expression(said, &is_same)
}

/// Whether a name is none that holds a secret, whatever it says: the key that leads to a button, the
/// middle of the name of a resource, a test that passed, something that is counted, a file.
pub(super) fn is_other(text: &[u8], name: &Range<usize>, value: &Range<usize>) -> bool {
    let (called, said) = (&text[name.clone()], &text[value.clone()]);
    let is_button = value.len() == 1 && called.eq_ignore_ascii_case(b"accesskey");
    let is_public = called.to_ascii_lowercase().ends_with(b"key") && is_public(said);
    let is_test = called == b"PASS" && said.contains(&b'_') && entropy::is_read(said);
    is_button
        || is_test
        || is_public
        || is_file(called, said)
        || is_counted(said, &text[value.end..])
        || text[..name.start].ends_with(b":") && is_within_arn(&text[..name.start])
}

/// Whether it is the kind of a key that everybody may know, behind which it stands.
fn is_public(value: &[u8]) -> bool {
    let kinds = [&b"ssh-"[..], b"ecdsa-sha2-", b"sk-ssh-"];
    kinds.iter().any(|kind| value.starts_with(kind))
}

/// Whether it is where a key is kept: a password may look so.
pub(super) fn is_file(name: &[u8], value: &[u8]) -> bool {
    let name = name.trim_ascii_end().to_ascii_lowercase();
    (name.ends_with(b"key") || name.ends_with(b"keys"))
        && super::url::is_path(&String::from_utf8_lossy(value))
}

/// A longer row of letters and digits is no name that anybody writes.
const NAME: usize = 16;

/// Whether it is written as names in code are, of more than one word: `MinLength12`, `utf8Decoder`.
pub(super) fn is_camel(value: &str) -> bool {
    let bytes = value.as_bytes();
    let turns = bytes.windows(4).any(|four| {
        !four[0].is_ascii_uppercase()
            && four[1].is_ascii_uppercase()
            && four[2..].iter().all(u8::is_ascii_lowercase)
    });
    turns
        && bytes.len() < NAME
        && bytes.iter().all(u8::is_ascii_alphanumeric)
        && entropy::is_read(bytes)
}

/// Whether a few digits say how many there are of what follows: `123 items`.
fn is_counted(value: &[u8], after: &[u8]) -> bool {
    value.len() < 4 && value.iter().all(u8::is_ascii_digit) && counts(after)
}

/// Whether what follows a number is what it counts.
pub(super) fn counts(after: &[u8]) -> bool {
    let word = after.strip_prefix(b" ").unwrap_or_default();
    let length = word.iter().take_while(|byte| byte.is_ascii_lowercase());
    let word = &word[..length.count()];
    word.len() > 2 && word.ends_with(b"s")
}

/// Whether the word that a text ends with is the beginning of an ARN.
fn is_within_arn(text: &[u8]) -> bool {
    let near = &text[text.len().saturating_sub(NEAR)..];
    let word = near.rsplit(u8::is_ascii_whitespace).next().unwrap_or(near);
    memchr::memmem::find(word, b"arn:aws").is_some()
}

/// `$1`, `:secret`, `@api_key`: what a statement is given later.
fn is_parameter(said: &str, is_same: &dyn Fn(&str) -> bool) -> bool {
    let number = said.strip_prefix('$').unwrap_or_default();
    let name = said.strip_prefix([':', '@']).unwrap_or_default();
    let is_number = matches!(number.len(), 1 | 2) && number.bytes().all(|b| b.is_ascii_digit());
    is_number || is_same(name)
}

fn is_type(said: &str, is_same: &dyn Fn(&str) -> bool) -> bool {
    said.starts_with(|first: char| first.is_ascii_uppercase())
        && said.bytes().all(|byte| byte.is_ascii_alphabetic())
        && said.bytes().any(|byte| byte.is_ascii_lowercase())
        && (said.ends_with("Token") && is_same("token")
            || TYPES.iter().any(|end| said.ends_with(end)))
}

/// `hover{opacity:.7`, `not(.a){…`
fn is_state(said: &str) -> bool {
    let at = said.find(['{', '(', ',', '.', ':']).unwrap_or(said.len());
    STATES.contains(&&said[..at]) && said.contains('{')
}

/// `config.api_key`, `z.string().min(8`, `hash(password`, `params[:token`.
fn is_expression(said: &str, is_same: &dyn Fn(&str) -> bool) -> bool {
    let (path, rest) = path(said);
    let last = path.rsplit(['.', ':', '>']).next().unwrap_or_default();
    let (is_one, is_plain) = (last.len() == path.len(), is_plain(path));
    match rest.bytes().next() {
        None | Some(b',' | b')' | b']' | b'}' | b';' | b'|' | b'&' | b'?' | b':' | b'!') => {
            !is_one && is_same(last)
        }
        Some(b'(') if is_plain => !is_one || is_given(&rest[1..], is_same),
        Some(b'[') if is_plain => is_index(&rest[1..]),
        _ => false,
    }
}

/// Whether what something is called with has that name.
fn is_given(argument: &str, is_same: &dyn Fn(&str) -> bool) -> bool {
    let (path, rest) = path(argument);
    let last = path.rsplit(['.', ':', '>']).next().unwrap_or_default();
    is_same(last) && rest.bytes().all(|byte| !byte.is_ascii_alphanumeric())
}

/// What stands in brackets: nothing where a quote follows, a symbol, a place.
fn is_index(index: &str) -> bool {
    let index = index.strip_prefix(':').unwrap_or(index);
    let (path, rest) = path(index);
    is_plain(path) && rest.is_empty()
}

/// The names at the beginning, joined as code joins them, and what follows.
fn path(said: &str) -> (&str, &str) {
    let is_of_path = |char: char| {
        char.is_ascii_alphanumeric() || matches!(char, '_' | '$' | '.' | ':' | '-' | '>')
    };
    let end = said.find(|char| !is_of_path(char)).unwrap_or(said.len());
    let mut end = said[..end].trim_end_matches(['.', ':', '-', '>']).len();
    // A colon, a dash or an angle alone joins nothing.
    for (join, pair) in [(':', "::"), ('-', "->"), ('>', "->")] {
        let alone = said[..end].replace(pair, "  ").find(join);
        end = alone.unwrap_or(end).min(end);
    }
    said.split_at(end)
}

/// Whether nothing in it is a digit, as in what is random.
fn is_plain(path: &str) -> bool {
    !path.bytes().any(|byte| byte.is_ascii_digit())
}

/// Whether both are names of the same secret: `api_key` and `apiKey`, `accessToken` and `token`.
fn is_same(name: &[u8], other: &str) -> bool {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if !other.bytes().all(is_name) || names::class(other.as_bytes()).is_none() {
        return false;
    }
    let (name, other) = (names::joined(name).0, names::joined(other.as_bytes()).0);
    let other = other.trim_end_matches(|letter: char| letter.is_ascii_digit());
    name.ends_with(other) || other.ends_with(&name)
}
