//! What a value may be: whether a text beside a name is its secret.

use super::entropy::{is_camel, is_dense, is_random, is_unread, is_value};
use super::names;
use super::names::Class;
use super::token::{OPEN, Piece, Pieces};
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// How a value stands beside its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placement {
    /// All of a string of JSON or of a word of a command: nothing around it is prose or code.
    Whole,
    /// In quotes, or right behind an equals sign.
    Alone,
    /// All that a line sets.
    Setting,
    /// The quoted word behind its quoted name.
    Pair,
    /// A cell in the column of its name.
    Cell,
    /// Bare in a text, where prose and code look alike.
    Loose,
}

/// A candidate for the value of a name.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub span: Range<usize>,
    pub placement: Placement,
    /// The class of the value, where that is another than the class of the name.
    pub class: Option<Class>,
}

impl Value {
    pub fn new(span: Range<usize>, placement: Placement) -> Self {
        Self {
            span,
            placement,
            class: None,
        }
    }
}

/// Under a vague name ([`Class::Many`]) a shorter value is not taken for a secret.
const MANY: usize = 12;

/// A shorter word of small letters is an identifier, no token; a bare password of this length needs no digit.
const WORD: usize = 16;

/// Whether `value` can be what a name of this class holds.
pub(super) fn fits(class: Class, value: &str, placement: Placement) -> bool {
    let is_sure = match class {
        Class::Password | Class::Key | Class::Token | Class::Pair => {
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
        Class::Key if placement == Placement::Cell => is_token(value, placement),
        Class::Password | Class::Key => is_password(value, placement),
        Class::Folder => {
            !value.starts_with(['/', '~']) && !is_drive(value) && is_password(value, placement)
        }
        Class::Token => is_token(value, placement),
        Class::Header => is_header(value, placement),
        Class::Digits => {
            let digits = value.bytes().filter(u8::is_ascii_digit).count();
            let is_sign = |byte: u8| byte.is_ascii_digit() || b" -#".contains(&byte);
            (3..=10).contains(&digits) && value.bytes().all(is_sign)
        }
        Class::Pair => super::encodings::is_pair(value.as_bytes()) || is_unread(value),
        Class::Many => value.len() >= MANY && is_unread(value) && !is_prose(value),
    }
}

/// Whether the value of a header proves who asks: `name=value` of a cookie, or what is behind a scheme.
fn is_header(value: &str, placement: Placement) -> bool {
    let mut cookies = value
        .split(';')
        .filter_map(|cookie| cookie.trim().split_once('='));
    let is_cookie = cookies.any(|(name, value)| is_cookie(name, value));
    if value.contains('=') && !is_cookie && !value.contains('"') {
        return is_value(value.split('=').next().unwrap_or_default().as_bytes());
    }
    let is_word = is_random(value) && !value.contains(char::is_whitespace) && !is_name(value);
    value.len() >= 4
        && !is_prose(value)
        && !is_link(value)
        && (placement == Placement::Whole || is_cookie || is_word)
}

/// Whether the value of a cookie tells who asks: it is no setting of the page.
fn is_cookie(name: &str, value: &str) -> bool {
    const SESSIONS: [&str; 7] = ["sess", "sid", "token", "auth", "jwt", "csrf", "id"];
    let small = name.to_ascii_lowercase();
    let is_session = SESSIONS.iter().any(|word| small.contains(word));
    name.bytes()
        .all(|byte| names::is_of_name(byte) || byte == b'.')
        && (is_value(value.as_bytes())
            || is_session && value.len() >= 3
            || value.len() >= 12 && is_random(value))
        && !["expires", "path", "domain", "max-age"].contains(&&*small)
}

fn is_password(value: &str, placement: Placement) -> bool {
    let is_count = value.len() < 4 && value.bytes().all(|byte| byte.is_ascii_digit());
    match placement {
        Placement::Setting => true,
        Placement::Pair => looks_stated(value, true) && !value.contains("://"),
        Placement::Cell => is_long(value) && !is_prose(value) && !is_path(value) && !is_cell(value),
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
            Placement::Whole | Placement::Setting => !is_words(value),
            Placement::Pair => is_value(value.as_bytes()),
            Placement::Cell => !is_words(value) && is_random(value),
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
      | (?:[A-Z][a-z]{2,})+ | \w+[})\],;]+[\w.]*[.:={(].*
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
    word.len() > 5
        && word.iter().any(u8::is_ascii_digit)
        && word.iter().any(u8::is_ascii_alphabetic)
        && !is_method(&String::from_utf8_lossy(word))
}

/// Whether a word names how something is hashed, signed or sent.
pub(super) fn is_method(word: &str) -> bool {
    const METHODS: [&str; 18] = [
        "sha", "md5", "bcrypt", "scrypt", "argon", "pbkdf", "scram", "hmac", "aes", "rsa",
        "ed25519", "base64", "utf", "oauth", "http", "ntlm", "ldap", "ecdsa",
    ];
    let small = word.to_ascii_lowercase();
    METHODS.iter().any(|method| small.starts_with(method))
}

/// Signs within a word that no word of a sentence has.
const ODD_SIGNS: &str = "!#$%^&*+~?@";

/// Signs of code and of pairs, which only a quoted value has.
const BRACKETS: [char; 9] = ['=', '(', ')', '[', ']', '{', '}', '<', '>'];

/// What has letters and digits and is no password: versions, counts, sizes, standards, tickets, files.
static MEASURE: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?x)^(?: [vV]?\d+(?:[.,:/-]\d+)*[a-z%]{0,3} | \d+(?:-[a-z]+)+ | [A-Z]{2,6}[-_ ]?\d{1,5}(?:-\d+)?
        | [\w.-]+\.(?:json|toml|ya?ml|txt|md|rs|py|[jt]sx?|pem|key|env|sh|conf|cfg|ini|html?|php|log|com|org|net|example|io|dev|local|lan)
        | \#\d+ | [a-z]+-\d{1,3} | \S+@\S+\.\S+ | \w+&\#39;\w+ | https?://\S* | [~./]\S*/\S* | [\p{Ll}\d_]+/\w+ | --?\w[\w-]* | \S+\(\S*\)
        | [\p{Ll}']+(?:-[\p{Ll}]+)* )$";
    Regex::new(pattern).expect("tests look for measures")
});

/// Whether a word behind a link (`the password is …`) is a password: it has a digit among letters, a
/// sign within, or nobody reads it. What is quoted may also be of several words.
pub(super) fn looks_stated(word: &str, is_quoted: bool) -> bool {
    let is_open = !is_quoted && word.contains(BRACKETS) || is_method(word);
    is_value(word.as_bytes())
        || !is_open && looks_adjacent(word, is_quoted)
        || !is_open && {
            let has_capital = word.chars().skip(1).any(char::is_uppercase);
            let is_joined =
                word.contains(['-', '.', '_', '/', '\\']) && has_capital && word.len() > 7;
            let is_phrase = is_quoted
                && word.split(' ').nth(2).is_some()
                && !word.contains(['/', ':'])
                && !is_prose(word.trim_start_matches("a "));
            is_long(word)
                && !MEASURE.is_match(word)
                && !is_placeholder(word)
                && (is_joined
                    || is_quoted && has_capital && !word.contains(' ')
                    || is_phrase
                    || looks_chosen(word.as_bytes()))
        }
}

/// Whether a word right behind a name (`password …`) is a password.
pub(super) fn looks_adjacent(word: &str, is_quoted: bool) -> bool {
    // What begins with signs is an argument or a name of code: `**kwargs`.
    let inner = word.trim_start_matches(|char: char| !char.is_alphanumeric());
    let has_sign = inner.contains(|char| ODD_SIGNS.contains(char));
    let has_digit = word.contains(|char: char| char.is_ascii_digit());
    let has_letter = word.contains(char::is_alphabetic);
    let several = word.contains(' ');
    let has = |test: fn(char) -> bool| word.contains(test);
    let is_mixed =
        has(char::is_lowercase) && has(char::is_uppercase) || word.contains(['-', '_', '.', '/']);
    is_long(word)
        && (!several || is_quoted && has_digit)
        && (is_quoted || !word.contains(BRACKETS) && !word.contains(','))
        && has_letter
        && !MEASURE.is_match(word)
        && !is_placeholder(word)
        && (has_sign
            || has_digit && word.contains(';')
            || is_mixed && looks_chosen(word.as_bytes()))
}

/// Whether all that a line sets a password to is one: a word, or some that make no sentence.
pub(super) fn looks_set(value: &str) -> bool {
    let mut words = value.split(' ');
    if words.clone().nth(1).is_none() {
        let is_joined =
            value.contains('-') && value.contains(char::is_alphabetic) && !value.contains(BRACKETS);
        let is_plain = value.ends_with([',', ';', '{', '(', '[', '\\']);
        return !is_plain && (looks_stated(value, false) || is_joined && is_long(value));
    }
    let has_odd = value.contains(|char: char| char.is_ascii_digit() || "&!%^~+*?;".contains(char));
    let capitals = words
        .clone()
        .filter(|word| word.starts_with(char::is_uppercase))
        .count();
    let is_word = |word: &str| !word.contains(['=', '<', '>', '(', '{', '$', '"', '/', ':', '|']);
    let is_count = words
        .clone()
        .next()
        .is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
    (has_odd || capitals > 1)
        && !is_count
        && words.clone().count() < 6
        && words.all(is_word)
        && !is_prose(value)
        && !value.ends_with(['.', ','])
}

/// What stands in a column below the name of a secret and is none: a type, a number, a day, a formula.
static CELL: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?ix)^(?: \d{1,5} | \d+[.,:\x20%/-][\d.,:\x20%/-]* | (?:var)?char\b.* | text | bytea | :\w+ | \$\d+ | \w+\(.*\) | .*\?$
        | (?:invalid|wrong|bad|missing|forgot|new|old|reset|your|my|the)\ .* )$";
    Regex::new(pattern).expect("tests look for cells")
});

fn is_cell(value: &str) -> bool {
    CELL.is_match(value) || names::class(value).is_some()
}

fn is_long(word: &str) -> bool {
    word.chars().nth(4).is_some()
}

// What stands in place of a value: in an example, in a form, where something is hidden already, or
// where code says from where a value comes.

/// Words that a value is called, or that stand for none; a digit may follow.
const STAND_INS: &str = "password|passwd|pass|secret|token|key|apikey|bearer|basic|input|value|none|null|nil|\
undefined|true|false|yes|no|string|str|text|number|boolean|object|bool|required|optional|missing|\
invalid|incorrect|expired|wrong|empty|unset|hidden|masked|redacted|filtered|removed|change[-_]?me|\
replace[-_]?me|example|dummy|placeholder|sample|default|todo|tbd|n/a|user|username|test|xxx|include|\
same-origin|omit|dpop|negotiate|digest|ntlm|disabled|enabled|unknown|anonymous|prompt|ask|env|file|encrypted";

/// A whole text that stands for a value, in small letters.
static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| {
    let of_somebody =
        "your|my[-_]|enter[-_ ]|insert[-_ ]|replace[-_ ]|the-|some-|test-api|dummy|put[-_ ]";
    let masks = r"(?:sk|pk|rk|gh[a-z]|github|glpat|xox[bp]|npm|hf|gsk)(?:[-_](?:proj|ant|api03|live|test|or|pat))*(?:[-_](?:x+|\*+|\.+)?)+";
    let pattern = format!(
        r"(?x-u)^(?:
            \**(?:{STAND_INS})[0-9]?\**[.,;!)]*
          | <[^>]*> | \*{{2,}}[^*]*\*{{2,}} | \[[^\]]*\] | \{{.*\}} | %[^%]*% | __[a-z_]+__
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
      | \$[A-Za-z_][\w.:]*$ | %[0-9*~] | :[a-z_]+$ | [\w.-]+:/[\w./-]+$ | [\w.-]+,[a-z]+=
      | [\w./-]+\.(?:ya?ml|json|enc|key|pem|txt|env|crt|p12|jks|conf|toml|ini|token)(?:\.enc)?$
      | (?:\S+\ )+\S+/\S+\.[a-z]{1,4}$ | [~^]?\d+\.\d+(?:\.\d+)?$ | &lt;.*&gt;$ | \([^()]*\)$ | \d{4}-\d\d-\d\d[T\x20][\d:.Z+-]+$
    )";
    Regex::new(pattern).expect("tests look for references")
});

/// Whether a text stands for a value in an example, or in place of one that is hidden already.
pub(super) fn is_placeholder(value: &str) -> bool {
    let text = value.trim();
    let is_word = |char: char| char.is_alphabetic() || " -_'".contains(char);
    text.is_empty()
        || PLACEHOLDER.is_match(&text.to_lowercase())
        || is_hidden(text)
        // `Passwort` below `password`: a word of another language, or a label.
        || text.chars().all(is_word) && names::class(text).is_some()
        || text.rsplit_once(['/', ':']).is_some_and(|(path, last)| {
            let is_of_path = |char: char| char.is_alphanumeric() || "./-_:".contains(char);
            path.chars().all(is_of_path) && last.chars().all(is_word) && names::class(last).is_some() && !text.contains("://")
        })
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
