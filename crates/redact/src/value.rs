//! What a value may be: whether a text beside a name is its secret.

use super::entropy::{is_camel, is_dense, is_random, is_unread, is_value};
use super::names;
use super::names::Class;
use super::token::{OPEN, Piece, Pieces};
use regex::Regex;
use std::sync::LazyLock;

/// How a value stands beside its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placement {
    /// All of a string of JSON or of a word of a command: nothing around it is prose or code.
    Whole,
    /// In quotes, or right behind an equals sign.
    Alone,
    /// Bare in a text, where prose and code look alike.
    Loose,
}

/// Under a vague name ([`Class::Many`]) a shorter value is not taken for a secret.
const MANY: usize = 12;

/// A shorter word of small letters is an identifier, no token; a bare password of this length needs no digit.
const WORD: usize = 16;

/// Whether `value` can be what a name of this class holds.
pub(super) fn fits(class: Class, value: &str, placement: Placement) -> bool {
    let is_sure = match class {
        Class::Password | Class::Token | Class::Pair => {
            placement == Placement::Whole && is_dense(value)
        }
        // Of a line of several values the last one may be cut where a quote or a bracket begins.
        Class::Header => {
            let mut words = value.split(|char: char| !char.is_ascii_alphanumeric());
            words.any(|word| is_value(word.as_bytes())) && !is_prose(value)
        }
        _ => false,
    };
    is_sure || !is_placeholder(value) && !is_reference(value) && holds(class, value, placement)
}

fn holds(class: Class, value: &str, placement: Placement) -> bool {
    match class {
        Class::Password => is_password(value, placement),
        Class::Folder => {
            !value.starts_with(['/', '~']) && !is_drive(value) && is_password(value, placement)
        }
        Class::Token => is_token(value, placement),
        Class::Header => is_header(value, placement),
        Class::Digits => {
            (3..=10).contains(&value.len()) && value.bytes().all(|byte| byte.is_ascii_digit())
        }
        Class::Pair => super::encodings::is_pair(value.as_bytes()) || is_unread(value),
        Class::Many => value.len() >= MANY && is_unread(value) && !is_prose(value),
    }
}

/// Whether the value of a header proves who asks: `name=value` of a cookie, or what is behind a scheme.
fn is_header(value: &str, placement: Placement) -> bool {
    let is_cookie = value.split_once('=').is_some_and(|(name, rest)| {
        !name.is_empty() && name.bytes().all(names::is_of_name) && rest.len() >= 4
    });
    let is_word = is_random(value) && !value.contains(char::is_whitespace) && !is_name(value);
    value.len() >= 4
        && !is_prose(value)
        && !is_link(value)
        && (placement == Placement::Whole || is_cookie || is_word)
}

fn is_password(value: &str, placement: Placement) -> bool {
    let is_count = value.len() < 4 && value.bytes().all(|byte| byte.is_ascii_digit());
    match placement {
        Placement::Whole => !is_path(value) && !is_prose(value),
        Placement::Alone => !is_count && !is_path(value) && !is_prose(value) && !is_source(value),
        Placement::Loose => {
            let is_long = value.len() >= WORD && !value.contains('-');
            value.len() >= 4
                && !is_count
                && !is_link(value)
                && !is_name(value)
                && (is_random(value) || is_long)
        }
    }
}

fn is_token(value: &str, placement: Placement) -> bool {
    let is_word = value.len() < WORD && value.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_made = || value.len() >= 8 && is_random(value) && !is_camel(value) && !is_link(value);
    value.len() >= 6
        && !is_word
        && !value.contains(char::is_whitespace)
        && match placement {
            Placement::Whole => !is_words(value),
            Placement::Alone => !is_words(value) && !is_source(value),
            Placement::Loose => is_made() && !is_name(value),
        }
}

/// Words of letters alone that are joined as code and styles join them: `string.quoted.raw`,
/// `ContinuationToken`.
static WORDS: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"^(?:[A-Za-z]+(?:[._/:-][A-Za-z]+)+|[A-Za-z]?[a-z]{2,}(?:[A-Z][a-z]{2,})*)$";
    Regex::new(pattern).expect("tests look for words")
});

pub(super) fn is_words(value: &str) -> bool {
    WORDS.is_match(value)
}

/// Names and constants of code: `__u32`, `client_token`, `MAX_KEY_2`, `0x10101`.
static NAME: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"^(?:_*[A-Za-z]+[0-9]{0,3}(?:_+[A-Za-z0-9]{0,3}[A-Za-z]*[0-9]{0,3})*_*|0[xX][0-9a-fA-F]{1,8}[uUlL]{0,3})$";
    Regex::new(pattern).expect("tests look for names")
});

/// Whether a bare word is a name or a constant of code, with underscores or without digits.
pub(super) fn is_name(value: &str) -> bool {
    let is_plain = || !value.contains(|char: char| char.is_ascii_digit()) && is_words(value);
    (value.contains('_') || value.starts_with('0') || is_plain()) && NAME.is_match(value)
}

/// A text in quotes that a program fills in or names something with: `{token}`, `$1`, `${TOKEN}`,
/// `#fff`, `<token>`, `MAX_LEN`, `std::env`, `%(name)s`, `{} left`.
static SOURCE: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?x) ^(?: [A-Z_]*_[A-Z_]*
          | \{ [^{}]* \}+ .* | \$ (?: [A-Za-z_]+ | \d{1,2} | [({\[] .* ) | \# (?: [0-9a-fA-F]{3,8} | [a-z_-]+ | [{\[(] .* )?
          | < [^<>]* > .* | [\w<>&*']+ (?: :: [\w<>{}*]+ )+ .* )$
        | %\( | \{\}";
    Regex::new(pattern).expect("tests look for source")
});

/// Whether a text in quotes is a part of a program: a place for a value, or a path of names.
fn is_source(value: &str) -> bool {
    SOURCE.is_match(value)
        || value.contains(['{', '(']) && value.contains(['}', ')']) && value.contains(' ')
}

/// Whether a text is a path as people name files, without anything random in it.
pub(super) fn is_path(value: &str) -> bool {
    let of_path = |char: char| char.is_ascii_alphanumeric() || "._-/\\~: ".contains(char);
    let is_begun = ["/", "~/", "./", "../"]
        .iter()
        .any(|begin| value.starts_with(begin));
    (is_begun || is_drive(value))
        && value.len() > 3
        && value.chars().all(of_path)
        && !is_dense(value)
}

fn is_drive(value: &str) -> bool {
    matches!(value.as_bytes(), [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic())
}

/// Whether it is the address of a page, and nothing stands in front of its host.
fn is_link(value: &str) -> bool {
    (value.starts_with("http://") || value.starts_with("https://")) && !value.contains('@')
}

/// Words that make a sentence of several.
const SENTENCE: &str = " the a an is are was must be should to of for with at least your you please enter \
and or not in this that it has have required invalid cannot characters can will been on field used if from ";

/// Whether a text reads like a sentence, or a part of one.
pub(super) fn is_prose(value: &str) -> bool {
    let is_of_sentence = |word: &str| {
        let word = word
            .trim_matches(|char: char| !char.is_alphanumeric())
            .to_ascii_lowercase();
        !word.is_empty() && SENTENCE.contains(&format!(" {word} "))
    };
    let mut words = value.split_whitespace();
    words.clone().nth(1).is_some() && words.any(is_of_sentence)
}

/// A bare expression behind a name in code: `args.password`, `jwt.encode(`, `params[:token]`, `$1`,
/// `!0`, `Token![struct]`, `hover{`.
static CODE: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?x)^(?:
        ![01] | \$\d{1,2} | [:@][a-z_]+
      | (?:self|this|args|config|options|params|req|request|ctx|data|env|user|opts|props|state)[.\[].*
      | (?P<path>[A-Za-z_$][\w$]* (?: (?:\.|::|->)[A-Za-z_$][\w$]*)+) (?: [?!;,)\]}|&=+].* )?
      | (?:&|\*)?(?P<name>[A-Za-z_$][\w$.:]*) !? (?:\(|\[|\{|<|\?\.|::).*
      | [*&](?:mut|const) | [iuf](?:8|16|32|64|128) ,? | \$\w+/\S*
      | (?:await|async|new|return|typeof|void|yield|function|lambda|not|match|unsafe|try|if)
      | (?:[A-Z][a-z]{2,})+
    )$";
    Regex::new(pattern).expect("tests look for code")
});

/// Whether a bare value is an expression or a type of code, and not a value. A path of names with
/// a digit within may be a password: people have some like `top.secret2`.
pub(super) fn is_code(value: &str) -> bool {
    let Some(found) = CODE.captures(value) else {
        return false;
    };
    let path = found.name("path").or_else(|| found.name("name"));
    path.is_none_or(|path| {
        let last = path
            .as_str()
            .rsplit(['.', ':', '>'])
            .next()
            .unwrap_or_default();
        let has_digit = |text: &str| text.contains(|char: char| char.is_ascii_digit());
        let is_joined = last.len() < path.len();
        is_joined && names::class(last).is_some()
            || !has_digit(
                path.as_str()
                    .trim_end_matches(|char: char| char.is_ascii_digit()),
            ) && (!has_digit(path.as_str()) || path.end() < value.len())
    })
}

/// Whether a word alone in a list is a value, and neither a path nor a name.
pub(super) fn looks_generated(word: &[u8]) -> bool {
    let said = String::from_utf8_lossy(word);
    let is_joined = said.contains(['/', '_', '.', ':', '\\', '(', '[', '{', '<']);
    is_value(word)
        || !is_joined && is_random(&said) && !is_camel(&said) && names::class(&said).is_none()
}

/// Whether a word is the name of a secret, or code, and not a secret.
pub(super) fn is_other_name(word: &[u8]) -> bool {
    let word = String::from_utf8_lossy(word);
    is_code(&word) || names::class(&word).is_some()
}

/// Whether a word looks like a password that a person chose: it has a letter and a digit, and is no
/// name of a method.
pub(super) fn looks_chosen(word: &[u8]) -> bool {
    const HOW: [&str; 16] = [
        "sha", "md5", "bcrypt", "scrypt", "argon", "pbkdf", "scram", "hmac", "aes", "rsa",
        "base64", "utf", "oauth", "http", "ntlm", "ldap",
    ];
    let small = String::from_utf8_lossy(word).to_ascii_lowercase();
    word.len() > 5
        && word.iter().any(u8::is_ascii_digit)
        && word.iter().any(u8::is_ascii_alphabetic)
        && !HOW.iter().any(|how| small.starts_with(how))
}

// What stands in place of a value: in an example, in a form, where something is hidden already, or
// where code says from where a value comes.

/// Words that a value is called, or that stand for none; a digit may follow.
const STAND_INS: &str = "password|passwd|pass|secret|token|key|apikey|bearer|basic|input|value|none|null|nil|\
undefined|true|false|yes|no|string|str|text|number|boolean|object|bool|required|optional|missing|\
invalid|incorrect|expired|wrong|empty|unset|hidden|masked|redacted|filtered|removed|change[-_]?me|\
replace[-_]?me|example|dummy|placeholder|sample|default|todo|tbd|n/a|user|username|test|xxx|include|\
same-origin|omit|disabled|enabled|unknown|anonymous|prompt|ask|env|file|encrypted";

/// A whole text that stands for a value, in small letters.
static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| {
    let of_somebody =
        "your|my[-_]|enter[-_ ]|insert[-_ ]|replace[-_ ]|the-|some-|test-api|dummy|put[-_ ]";
    let masks = r"(?:sk|pk|rk|gh[a-z]|github|glpat|xox[bp]|npm|hf|gsk)(?:[-_](?:proj|ant|api03|live|test|or|pat))*(?:[-_](?:x+|\*+|\.+)?)+";
    let pattern = format!(
        r"(?x-u)^(?:
            \**(?:{STAND_INS})[0-9]?\**[.,;!)]*
          | <[^>]*> | \[[^\]]*\] | \{{.*\}} | %[^%]*% | __[a-z_]+__
          | [*x.\-_?\#]{{2,}} | (?:•|…|●)+
          | (?:required|nullable)\|.*
          | [0-9]+=env:.*
          | .*(?:example|placeholder|change[-_]?me).*
          | (?:{of_somebody}).*(?:here|key|token|secret|password)[.,;!)]*
          | {masks}
        )$"
    );
    Regex::new(&pattern.replace("(?x-u)", "(?xs)")).expect("tests look for placeholders")
});

/// Where a value comes from.
static REFERENCE: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?xs)^(?:
        \$[A-Z_]+$ | \$\{ | \$\( | \{\{ | process\.env | os\.environ | os\.getenv | env\. | ENV\[
      | secrets\. | env: | file: | vault: | op:// | arn:aws: | .*\(\)?$
    )";
    Regex::new(pattern).expect("tests look for references")
});

/// Whether a text stands for a value in an example, or in place of one that is hidden already.
pub(super) fn is_placeholder(value: &str) -> bool {
    let text = value.trim();
    text.is_empty() || PLACEHOLDER.is_match(&text.to_lowercase()) || is_hidden(text)
}

/// `$TOKEN`, `process.env.TOKEN`, `get_password()`: where a value comes from, not the value.
pub(super) fn is_reference(value: &str) -> bool {
    REFERENCE.is_match(value)
}

/// Whether a text consists of tokens of this crate or of another redaction, signs aside.
fn is_hidden(text: &str) -> bool {
    let is_sign = |text: &str| {
        let said = text
            .replace("\\n", "")
            .replace("\\r", "")
            .replace("\\t", "");
        matches!(text.trim(), "Bearer" | "Basic") || !said.contains(char::is_alphanumeric)
    };
    text.contains(OPEN)
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
            "‹secret:1›\\\\n",
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
