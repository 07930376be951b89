//! Whether a text can be a secret at all, or stands for one in an example, or is prose.

use super::code::is_camel;
use super::entropy;
use super::lists::is_value;
use super::names::Class;
use super::prose::is_prose;
use super::token::{Piece, Pieces};
use super::url::{is_absolute, is_link, is_path};

/// How a value stands beside its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stands {
    /// Alone: the whole of a string, in quotes, after an equals sign.
    Alone,
    /// All of a string or word that has the name: nothing around it is prose or code.
    Whole,
    /// In a text, where prose looks alike.
    InText,
}

/// A shorter one of several may be a name: there are many words for tokens of other kinds.
const MANY: usize = 12;

/// What a value is called, in place of one.
const CALLED: [&str; 9] = [
    "password", "passwd", "pass", "secret", "token", "key", "apikey", "bearer", "basic",
];

/// Other words that stand in place of a value, or for where it comes from.
const WORDS: [&str; 52] = [
    "input",
    "value",
    "none",
    "null",
    "nil",
    "undefined",
    "true",
    "false",
    "yes",
    "no",
    "string",
    "str",
    "text",
    "number",
    "boolean",
    "object",
    "bool",
    "required",
    "optional",
    "missing",
    "invalid",
    "incorrect",
    "expired",
    "wrong",
    "empty",
    "unset",
    "hidden",
    "masked",
    "redacted",
    "filtered",
    "removed",
    "changeme",
    "change-me",
    "change_me",
    "replaceme",
    "replace-me",
    "replace_me",
    "example",
    "dummy",
    "placeholder",
    "sample",
    "default",
    "todo",
    "tbd",
    "n/a",
    "user",
    "username",
    "test",
    "xxx",
    // What `credentials` of a request in a browser are.
    "include",
    "same-origin",
    "omit",
];

/// What the keys that somebody gives out begin with.
const BEGINNINGS: [&str; 15] = [
    "sk", "pk", "rk", "ghp", "gho", "ghs", "ghu", "ghr", "github", "glpat", "xoxb", "xoxp", "npm",
    "hf", "gsk",
];

/// What may follow that before what is given to one.
const KINDS: [&str; 7] = ["proj", "ant", "api03", "live", "test", "or", "pat"];

/// Whether `value` is one, and neither stands for one nor says where it comes from.
pub(super) fn is_one(value: &str) -> bool {
    !is_placeholder(value) && !is_reference(value)
}

/// Whether `value` can be what a name of this class holds.
pub(super) fn fits(class: Class, value: &str, stands: Stands) -> bool {
    if is_certain(class, value, stands) {
        return true;
    }
    if !is_one(value) {
        return false;
    }
    match class {
        Class::Password => password(value, stands),
        Class::Folder => !is_absolute(value) && password(value, stands),
        Class::Token => token(value, stands),
        Class::Header => value.len() >= 4 && !is_prose(value),
        Class::Digits => {
            (3..=10).contains(&value.len()) && value.bytes().all(|b| b.is_ascii_digit())
        }
        Class::Pair => super::encodings::is_pair(value.as_bytes()) || entropy::is_unread(value),
        Class::Many => value.len() >= MANY && entropy::is_unread(value) && !is_prose(value),
        Class::Key => key(value, stands),
    }
}

/// Whether a row in it is nothing that is read.
fn is_dense(value: &str) -> bool {
    entropy::rows(value).next().is_some()
}

/// Whether something in it is nothing but a value, whatever it looks like as a whole.
fn is_certain(class: Class, value: &str, stands: Stands) -> bool {
    let is_whole = stands == Stands::Whole;
    match class {
        Class::Password | Class::Token | Class::Pair => is_whole && is_dense(value),
        // Of a line of several values the last one may be cut where a quote or a bracket begins.
        Class::Header => {
            let mut words = value.split(|char: char| !char.is_ascii_alphanumeric());
            words.any(|word| is_value(word.as_bytes())) && !is_prose(value)
        }
        Class::Folder | Class::Digits | Class::Many | Class::Key => false,
    }
}

fn password(value: &str, stands: Stands) -> bool {
    let is_count = value.len() < 4 && value.bytes().all(|byte| byte.is_ascii_digit());
    if value.starts_with("~/") && is_path(value) || stands != Stands::Whole && is_count {
        return false;
    }
    match stands {
        Stands::Alone | Stands::Whole => !is_prose(value),
        Stands::InText => {
            value.len() >= 4
                && !is_link(value)
                && (looks_random(value) || value.len() >= 16 && !value.contains('-'))
        }
    }
}

/// A shorter key of which people write may be a word for it: `32-character`.
const KEY: usize = 16;

fn key(value: &str, stands: Stands) -> bool {
    if stands != Stands::InText {
        return token(value, stands);
    }
    let is_telling = value.len() >= KEY || entropy::has_odd(value.as_bytes());
    let is_joined = value.trim_end_matches('=').contains(['/', '=', ':', '.']);
    is_value(value.as_bytes()) || is_telling && !is_joined && token(value, stands)
}

fn token(value: &str, stands: Stands) -> bool {
    let is_word = value.bytes().all(|byte| byte.is_ascii_lowercase()) && value.len() < 16;
    let is_one = value.len() >= 6 && !value.contains(char::is_whitespace) && !is_word;
    let is_telling =
        || value.len() >= 8 && looks_random(value) && !is_camel(value) && !is_link(value);
    is_one && (stands != Stands::InText || is_telling())
}

/// Whether it has what words do not have: digits, or capitals after small letters, or signs.
pub(super) fn looks_random(value: &str) -> bool {
    let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
    let turns = value
        .as_bytes()
        .windows(2)
        .any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    let has_sign = has(|byte| {
        matches!(
            byte,
            b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*' | b'+' | b'~'
        )
    });
    has(u8::is_ascii_digit) || turns || has_sign
}

/// Whether it stands for a value in an example, or in place of one that is hidden already.
pub(super) fn is_placeholder(value: &str) -> bool {
    let text = value.trim();
    let bytes = text.as_bytes();
    let wrapped = |open: &str, close: &str| text.starts_with(open) && text.ends_with(close);
    if text.is_empty()
        || wrapped("<", ">")
        || wrapped("[", "]")
        || wrapped("{", "}")
        || wrapped("%", "%")
    {
        return true;
    }
    let dull = |byte: &u8| matches!(byte, b'*' | b'x' | b'X' | b'.' | b'-' | b'_' | b'?' | b'#');
    if bytes.len() > 1 && bytes.iter().all(dull)
        || text.chars().all(|char| matches!(char, '•' | '…' | '●'))
    {
        return true;
    }
    let small = text.to_ascii_lowercase();
    let small = small.trim_end_matches(['.', ',', ';', '!', ')']);
    let bare = small.trim_matches('*');
    // A variable of code may be counted; a password that is weak ends with a digit as well.
    let counted = bare.strip_suffix(|char: char| char.is_ascii_digit());
    // What a form asks of a value.
    let is_asked = bare.starts_with("required|") || bare.starts_with("nullable|");
    CALLED.contains(&bare)
        || WORDS.contains(&counted.unwrap_or(bare))
        || is_asked
        || is_supplied(bare)
        || is_example(small)
        || is_mask(text)
        || is_hidden(text)
}

/// `1=env:token` behind `secret:`: how a value is supplied, in an option of ours.
fn is_supplied(text: &str) -> bool {
    let number = text.split_once("=env:").map(|(number, _)| number);
    number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// `sk-...`, `ghp_xxxx`: how keys of somebody begin, and nothing that was given to anybody.
fn is_mask(text: &str) -> bool {
    let mut parts = text.split(['-', '_']);
    let begins = parts
        .next()
        .is_some_and(|first| BEGINNINGS.contains(&first));
    let is_dull = |part: &str| {
        let mut bytes = part.bytes();
        let first = bytes.next();
        first.is_none_or(|first| {
            matches!(first, b'x' | b'X' | b'*' | b'.') && bytes.all(|byte| byte == first)
        })
    };
    let mut rest = parts.skip_while(|part| KINDS.contains(part)).peekable();
    begins && rest.peek().is_some() && rest.all(is_dull)
}

/// `your-api-key`, `my_token_here`, anything with `example` in it.
fn is_example(small: &str) -> bool {
    let begins = [
        "your", "my-", "my_", "enter-", "enter_", "insert-", "insert_", "replace-", "replace_",
        "the-", "some-", "test-api", "dummy",
    ];
    let ends = ["here", "key", "token", "secret", "password"];
    small.contains("example")
        || small.contains("placeholder")
        || small.contains("changeme")
        || begins.iter().any(|begin| small.starts_with(begin))
            && ends.iter().any(|end| small.ends_with(end))
}

/// Nothing but placeholders of somebody, signs aside.
fn is_hidden(text: &str) -> bool {
    let mut pieces = Pieces(text).peekable();
    pieces.peek().is_some()
        && text.contains(super::token::OPEN)
        && pieces.all(|piece| match piece {
            Piece::Placeholder { .. } => true,
            Piece::Text(text) => {
                // In a page what stands there may be escaped once more than its signs say.
                let said = text
                    .replace("\\n", "")
                    .replace("\\r", "")
                    .replace("\\t", "");
                said.chars().all(|char| !char.is_alphanumeric())
                    || matches!(text.trim(), "Bearer" | "Basic")
            }
        })
}

/// `$TOKEN`, `process.env.TOKEN`, `get_password()`: where a value comes from, not the value.
pub(super) fn is_reference(value: &str) -> bool {
    let begins = [
        "${",
        "$(",
        "process.env",
        "os.environ",
        "os.getenv",
        "env.",
        "ENV[",
        "secrets.",
        "env:",
        "file:",
        "vault:",
        "op://",
        "arn:aws:",
    ];
    let is_variable = value.strip_prefix('$').is_some_and(|name| {
        let named = |byte: u8| byte.is_ascii_uppercase() || byte == b'_';
        !name.is_empty() && name.bytes().all(named)
    });
    is_variable
        || begins.iter().any(|begin| value.starts_with(begin))
        || value.ends_with("()")
        || value.ends_with('(')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_and_references_are_no_secrets() {
        for value in [
            "",
            "<token>",
            "${TOKEN}",
            "$TOKEN",
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
            "‹secret:1›\\\\n",
            "process.env.TOKEN",
            "getpass()",
            "AKIAIOSFODNN7EXAMPLE",
            "sk-...",
            "sk-",
            "sk-proj-xxxxxxxx",
            "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "***REMOVED***",
            "INSERT_YOUR_KEY_HERE",
            "REPLACE_ME",
            "op://vault/db/password",
        ] {
            assert!(!fits(Class::Password, value, Stands::Alone), "{value}");
        }
    }
}
