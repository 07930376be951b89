//! From a name to its value: what stands beside it in a text, behind a sign, in quotes or bare.
//!
//! ```text
//!  TOKEN=this            password: "this"         const token: &str = "this"
//!  --api-key this        <password>this</…>       Authorization: Bearer this
//!  api_keys: [this, …]   name: TOKEN, value: this the password is this   | token | this |
//! ```

use super::block;
use super::columns;
use super::entropy::is_value;
use super::names::Class;
use super::rules::{is_of_name, is_of_word};
use super::token;
use super::value::{Stands, is_code, is_name, is_path, is_prose};
use regex::bytes::{Captures, Regex};
use std::ops::Range;
use std::sync::LazyLock;

/// A longer name is no name.
pub(super) const NAME: usize = 96;

/// Bytes behind a name in which its value begins.
const NEAR: usize = 192;

/// A longer bare value is looked at no further, a longer value in quotes has no end.
pub(super) const LONG: usize = 2048;
const QUOTED: usize = 64 * 1024;

/// A name in a text.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub span: Range<usize>,
    pub class: Class,
    /// Whether it is several words of a sentence: `API key`.
    pub is_said: bool,
}

/// What may be the value of a name.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub span: Range<usize>,
    pub stands: Stands,
    /// What it is, where that is something else than the name says.
    pub class: Option<Class>,
}

impl Value {
    pub fn new(span: Range<usize>, stands: Stands) -> Self {
        Self {
            span,
            stands,
            class: None,
        }
    }
}

/// The sign behind a name, with what may stand around it: a quote, a type, tags of YAML.
static SIGN: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"(?x-u)^
        (?: \\*["'`]\]? | \*\* | \] )? [\x20\t]{0,64}
        (?: (?: :?\ ?[&?!]?(?:'static\ )?[A-Za-z_.:<>\[\]|?]*(?i:str|char|bytes|any|text)[A-Za-z_.:<>\[\]|?]*
              | \[\d*\] )\ ?(?P<typed>=)\ ?
          | (?P<sign> := | =>  | =~ | ={1,3} | : | -> | \xe2\x86\x92 | \xef\xbc\x9a | \xef\xbc\x9d ) )
        (?P<bold>\*\*)? (?P<gap>[\x20\t]{0,64})
        (?P<tags> (?: (?: !{1,2}[\w/]+ | &\w+ ) [\x20\t]* ){1,2} )?
        (?: Some\( )? (?: [bru]?(?P<quote> \\*["'`] | \xe2\x80\x9c | \xe2\x80\x9e | \xc2\xab | &quot; | &\#34; ) )?
    "#;
    Regex::new(pattern).expect("tests look for values behind signs")
});

/// What says whose value it is, in front of a sign: `password for ada: this`, `password (ada): this`.
static WHOSE: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"(?x-u)^\ (?: (?P<bracket>\([^()\n\\]{1,48}\)) | (?i:for|of)(?:\ (?:'[^'\n]{1,64}'|[\w.@"`/:-]{1,48}?)){1,3} )
        (?: (?:\ is)?\ ?[:=]\ ? | \ is\ ) (?P<quote>["'`])?"#;
    Regex::new(pattern).expect("tests look for it")
});

/// Words between a name and its value where no sign stands.
static SAID: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"(?x-u)^ ["'`*]{0,2} [\x20\t|]+ (?P<links> (?: (?i:is|was|to|reset|set|by|with|as|now|be|been|has|
        changed|updated|rotated|new|value|of|the|equals) \b [\x20\t:=]* ){0,5} )
        (?P<open>\xe2\x80[\x9c\x9e]|\xc2\xab|["'`*\\]{0,3}) (?P<value>[^\s"'`|,;<>()\\]+)"#;
    Regex::new(pattern).expect("tests look for it")
});

/// Both values of a change, in a sentence; the second one, in a plan.
static CHANGED: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?-u)^ (?:is |was |were |has been )?(?i:changed|updated|rotated|reset) from (\S+) to ([^\s,;]+)";
    Regex::new(pattern).expect("tests look for it")
});
static BECOMES: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"(?-u)^["'][ \t]*->[ \t]*["']"#).expect("tests look for it"));

/// What stands between the name of a variable and its value where both are members.
static CALLED: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"(?-u)^\\?["']?(?:[\s,]|\\[nrt])*\\?["']?(?i:value)\\?["']?[ \t]*[:=][ \t]*(?P<quote>\\?["'])?"#;
    Regex::new(pattern).expect("tests look for it")
});

/// What follows the name of a field in a form of several parts: other headers, and an empty line.
static FORM: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?-u)^"[^\n]*\n(?:[^\n]*[^\r\n][^\n]*\n){0,4}\r?\n"#).expect("tests look for it")
});

/// The name whose last word is at `word`, if one ends there: digits and a plural belong to it.
pub(super) fn name_at(text: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    let mut end = word.end + usize::from(matches!(text.get(word.end), Some(b's' | b'S')));
    let counted = end + usize::from(matches!(text.get(end), Some(b'_' | b'-')));
    let digits = text[counted.min(text.len())..].iter().take(4);
    let digits = digits.take_while(|byte| byte.is_ascii_digit()).count();
    if digits > 0 {
        end = counted + digits;
    }
    let next = |at: usize| text.get(at).copied().unwrap_or(b' ');
    let goes_on = is_of_word(next(end)) && word.end > 0 && text[word.end - 1].is_ascii()
        || matches!(next(end), b'-' | b'.') && is_of_name(next(end + 1));
    let start = begin(text, word.start);
    (!goes_on && end - start <= NAME).then_some(start..end)
}

/// Where the name begins of which something stands at `end`: letters of any script belong to it.
pub(super) fn begin(text: &[u8], end: usize) -> usize {
    let before = text[..end].iter().rev().take(NAME);
    let of_name = |byte: &&u8| is_of_name(**byte) || **byte == b'.' || !byte.is_ascii();
    let start = end - before.take_while(of_name).count();
    let near = String::from_utf8_lossy(&text[start..end]);
    let is_none = |char: char| {
        !char.is_alphanumeric() && !matches!(char, '_' | '-' | '.')
            || char == char::REPLACEMENT_CHARACTER
    };
    match near.rfind(is_none) {
        // Positions of what was decoded count where nothing had to be replaced.
        Some(at) if near.len() == end - start => {
            start + at + near[at..].chars().next().map_or(0, char::len_utf8)
        }
        Some(_) => {
            end - near
                .chars()
                .rev()
                .take_while(|char| !is_none(*char))
                .map(char::len_utf8)
                .sum::<usize>()
        }
        None => start,
    }
}

/// What may be the values of a name: nearly always one, several of a list or on the lines below.
/// Each is still to be judged.
pub(super) fn values(text: &[u8], name: &Name) -> Vec<Value> {
    let end = name.span.end;
    let near = &text[end..text.len().min(end + NEAR)];
    let quote = |found: &Captures<'_>| {
        found
            .name("quote")
            .map(|quote| text[end..][quote.range()].to_vec())
    };
    if text[..name.span.start].ends_with(b"form-data; name=\"") {
        let start = FORM.find(near).map(|form| end + form.end());
        return start
            .map(|start| Value::new(line(text, start), Stands::Alone))
            .into_iter()
            .collect();
    }
    if is_told(text, name)
        && let Some(called) = CALLED.captures(near)
    {
        return at(
            text,
            name,
            end + called[0].len(),
            quote(&called),
            Stands::Alone,
        );
    }
    if let Some(element) = element(text, name) {
        return vec![element];
    }
    if let Some(whose) = WHOSE.captures(near).filter(|_| name.class != Class::Header) {
        let mut those = at(
            text,
            name,
            end + whose[0].len(),
            quote(&whose),
            Stands::Loose,
        );
        let is_bracket = whose.name("bracket").is_some();
        let is_one = |word: &[u8]| is_value(word) || !is_bracket && is_item(word);
        those.retain(|value| is_one(&text[value.span.clone()]) || name.class == Class::Digits);
        return those;
    }
    if let Some(sign) = SIGN.captures(near) {
        return behind_sign(text, name, &sign);
    }
    if text[..name.span.start].ends_with(b"-") || text[name.span.start..].starts_with(b"-") {
        return option(text, name);
    }
    let said = said(text, name);
    if said.is_empty() {
        columns::values(text, name)
    } else {
        said
    }
}

fn behind_sign(text: &[u8], name: &Name, found: &Captures<'_>) -> Vec<Value> {
    let start = name.span.end + found[0].len();
    let quote = found.name("quote").map(|quote| quote.as_bytes().to_vec());
    let sign = found.name("sign").map_or(&b"="[..], |sign| sign.as_bytes());
    let gap = &found["gap"];
    let is_typed = found.name("typed").is_some();
    if is_typed && quote.is_none()
        || sign == b":" && text.get(start) == Some(&b':')
        || gap.len() > 16
    {
        return Vec::new();
    }
    let is_near = gap.is_empty() && text.get(name.span.end) == Some(&b'=');
    let is_bold = found.name("bold").is_some() || text[name.span.end..].starts_with(b"**");
    let is_code = quote.as_deref() == Some(b"`") && is_bold;
    let is_quoted = quote.is_some() && !is_code;
    let stands = if is_quoted || is_near {
        Stands::Alone
    } else {
        Stands::Loose
    };
    let mut those = at(text, name, start, quote, stands);
    // What only tells where a value comes from: `!secret name`; what an arrow leads to may be a type.
    let is_reference = found.name("tags").is_some_and(|tags| {
        tags.as_bytes().starts_with(b"!") && !tags.as_bytes().starts_with(b"!!")
    });
    let is_arrow = sign == b"->" || sign.starts_with(b"\xe2");
    if is_reference && !found["tags"].starts_with(b"!vault") {
        those.retain(|value| is_value(&text[value.span.clone()]));
    } else if is_arrow || is_code {
        those.retain(|value| is_item(&text[value.span.clone()]));
    } else if name.is_said {
        // Of an `API key` people write as well.
        let is_long = |word: &[u8]| word.len() >= 16 && !word.contains(&b'=') && is_item(word);
        let is_one = |word: &[u8]| is_value(word) || is_long(word);
        let is_digits = name.class == Class::Digits;
        those.retain(|value| {
            is_digits || value.stands != Stands::Loose || is_one(&text[value.span.clone()])
        });
    }
    those
}

/// Whether the name is what another one says: `name: TOKEN`, `key="token"`.
pub(super) fn is_told(text: &[u8], name: &Name) -> bool {
    let before = text[..name.span.start].iter().rev().take(16);
    let mut before = before.skip_while(|byte| b"\"' \\".contains(byte));
    matches!(before.next(), Some(b':' | b'='))
}

/// The values that begin at `start`, in a quote or bare, in a list, or on the lines below.
fn at(
    text: &[u8],
    name: &Name,
    start: usize,
    quote: Option<Vec<u8>>,
    stands: Stands,
) -> Vec<Value> {
    if let Some(quote) = quote {
        return in_quotes(text, name, start, &quote, stands);
    }
    match text.get(start) {
        None => Vec::new(),
        Some(b'\r' | b'\n' | b'|' | b'>' | b'#') if block::is_begun(&text[start..]) => {
            block::below(text, name, start)
        }
        Some(b'[' | b'(' | b'{') if name.class != Class::Digits => block::listed(text, name, start),
        Some(_)
            if name.class == Class::Header && text[..start].trim_ascii_end().ends_with(b":") =>
        {
            let value = Value::new(line(text, start), Stands::Loose);
            let mut those = block::on_line(text, value.span.end, true);
            those.insert(0, value);
            those
        }
        Some(_) => {
            let span = bare(text, name, start);
            let (said, called) = (lossy(text, &span), lossy(text, &name.span));
            let is_option = called.starts_with('-') || text[..name.span.start].ends_with(b"-");
            let is_assigned =
                stands == Stands::Alone && !called.contains(|c: char| c.is_ascii_lowercase());
            let is_counted = name.class == Class::Digits && counts(&text[span.end..]);
            let is_sign = said.chars().count() == 1;
            if !is_assigned && !is_option && is_code(&said)
                || is_counted
                || is_other(text, name, &said) && !is_sign
            {
                return Vec::new();
            }
            let mut those = block::on_line(text, span.end.max(start), false);
            let is_setting = is_setting(text, name, &span);
            let is_sure = is_assigned || is_option || is_setting || !is_name(&said);
            if is_sure && !is_sign {
                let stands = if is_setting { Stands::Alone } else { stands };
                those.insert(0, Value::new(span, stands));
            }
            those
        }
    }
}

fn in_quotes(text: &[u8], name: &Name, start: usize, quote: &[u8], stands: Stands) -> Vec<Value> {
    // A name at the end of a string literal has no value: `header = "Set-Cookie:"`.
    let Some(span) = quoted(text, start, quote).filter(|_| is_open(text, name, quote)) else {
        return Vec::new();
    };
    if is_other(text, name, &lossy(text, &span)) {
        return Vec::new();
    }
    let end = span.end;
    let rest = &text[end..];
    let mut those = Vec::new();
    if let Some(becomes) = BECOMES.find(rest) {
        let start = end + becomes.end();
        let new = quoted(text, start, &text[start - 1..start]);
        those.extend(new.map(|span| Value::new(span, Stands::Alone)));
    } else if rest.len() > quote.len() && rest[quote.len()] == b' ' {
        those = block::on_line(text, end + quote.len(), name.class == Class::Header);
    }
    those.insert(0, Value::new(span, stands));
    those
}

/// Whether a password with a digit is all that a line has beside its name: `password: blue_whale7`.
fn is_setting(text: &[u8], name: &Name, value: &Range<usize>) -> bool {
    let before = &text[line_start(text, name.span.start)..name.span.start];
    let ends = matches!(text.get(value.end), None | Some(b'\r' | b'\n'));
    name.class == Class::Password
        && before.iter().all(|byte| b" \t-".contains(byte))
        && ends
        && is_made(&text[value.clone()])
        && !is_other_name(&text[value.clone()])
}

/// Whether a word is the name of a secret, or code, and not a secret.
fn is_other_name(word: &[u8]) -> bool {
    let word = String::from_utf8_lossy(word);
    is_code(&word) || super::names::class(&word).is_some()
}

/// Whether what follows a number is what it counts: `123 items`.
fn counts(after: &[u8]) -> bool {
    let word = after.strip_prefix(b" ").unwrap_or_default();
    let word = &word[..word
        .iter()
        .take_while(|byte| byte.is_ascii_lowercase())
        .count()];
    word.len() > 2 && word.ends_with(b"s")
}

/// Whether the quote in front of a value opens one: if the name stands in a literal of the same
/// quote, it closes that.
fn is_open(text: &[u8], name: &Name, quote: &[u8]) -> bool {
    let Some(sign @ (b'"' | b'\'' | b'`')) = quote.last() else {
        return true;
    };
    let behind = text
        .get(name.span.end)
        .filter(|byte| b"\"'`\\".contains(byte));
    let from = line_start(text, name.span.start);
    let before = memchr::memchr_iter(*sign, &text[from..name.span.start]).count();
    behind.is_some() || before.is_multiple_of(2) || quote.len() > 1
}

/// A name whose value is none: the file of a key, the kind of a public one, a test that passed, the
/// key that leads to a button, a part of the name of a resource.
fn is_other(text: &[u8], name: &Name, value: &str) -> bool {
    let called = lossy(text, &name.span);
    let of_key = called
        .to_ascii_lowercase()
        .trim_end_matches('s')
        .ends_with("key");
    let before = &text[name.span.start.saturating_sub(QUOTED / 256)..name.span.start];
    let word = before
        .rsplit(u8::is_ascii_whitespace)
        .next()
        .unwrap_or_default();
    of_key
        && (is_path(value)
            || ["ssh-", "ecdsa-", "sk-ssh-"]
                .iter()
                .any(|kind| value.starts_with(kind)))
        || called == "PASS" && value.contains('_')
        || value.chars().count() == 1
        || memchr::memmem::find(word, b"arn:aws").is_some()
}

/// Whether a word alone in a list is a value, and neither a path nor a name.
pub(super) fn is_item(word: &[u8]) -> bool {
    let said = String::from_utf8_lossy(word);
    let is_joined = said.contains(['/', '_', '.', ':', '\\', '(', '[', '{', '<']);
    is_value(word)
        || !is_joined
            && super::entropy::is_random(&said)
            && !super::entropy::is_camel(&said)
            && super::names::class(&said).is_none()
}

/// The word behind an option.
fn option(text: &[u8], name: &Name) -> Vec<Value> {
    let rest = &text[name.span.end..];
    let blanks = rest
        .iter()
        .take(16)
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count();
    let start = name.span.end + blanks;
    let quote = text
        .get(start..=start)
        .filter(|quote| b"\"'`".contains(&quote[0]));
    if blanks == 0 || text[start..].starts_with(b"--") {
        return Vec::new();
    }
    at(
        text,
        name,
        start + quote.map_or(0, <[u8]>::len),
        quote.map(<[u8]>::to_vec),
        Stands::Loose,
    )
}

/// What stands in an element of XML: `<password>this</password>`, `<p name="password">this</p>`.
fn element(text: &[u8], name: &Name) -> Option<Value> {
    let (before, after) = (&text[..name.span.start], &text[name.span.end..]);
    let quote = usize::from(matches!(after.first(), Some(b'"' | b'\'')));
    let is_named = quote == 1
        && [&b"name="[..], b"key="].iter().any(|attribute| {
            before.len() > attribute.len() && before[..before.len() - 1].ends_with(attribute)
        });
    let is_tag = after.get(quote) == Some(&b'>')
        && (before.ends_with(b"<") && !before.ends_with(b"?<") && !before.ends_with(b"?P<")
            || is_named);
    let start = name.span.end + quote + 1;
    let near = text
        .get(start..text.len().min(start + LONG))
        .filter(|_| is_tag)?;
    let (start, near) = match near.strip_prefix(b"<![CDATA[") {
        Some(rest) => (start + 9, rest),
        None => (start, near),
    };
    let end = memchr::memchr3(b'<', b'\n', b']', near)?;
    (near[end] != b'\n').then_some(Value::new(start..start + end, Stands::Alone))
}

/// Values behind words: `the password is this`, `token this rejected`, `| password | this |`.
fn said(text: &[u8], name: &Name) -> Vec<Value> {
    let near = &text[name.span.end..text.len().min(name.span.end + NEAR)];
    let shift = |range: Range<usize>| range.start + name.span.end..range.end + name.span.end;
    if let Some(both) = CHANGED.captures(near) {
        let both = both
            .iter()
            .skip(1)
            .flatten()
            .map(|value| shift(value.range()));
        let is_one = |word: &[u8]| {
            let is_plain = !word.contains(&b'-') && is_item(word);
            (is_value(word) || is_plain) && word.iter().any(u8::is_ascii_alphabetic)
        };
        let both = both.filter(|span| is_one(&text[span.clone()]));
        return both.map(|span| Value::new(span, Stands::Loose)).collect();
    }
    let Some(found) = SAID.captures(near) else {
        return Vec::new();
    };
    let (open, value) = (
        &found["open"],
        found.name("value").expect("it is no option").range(),
    );
    let span = trim(text, shift(value));
    let word = &text[span.clone()];
    let is_quoted = !open.is_empty() && !open.starts_with(b"*");
    let is_password = text[name.span.clone()]
        .to_ascii_lowercase()
        .starts_with(b"pass");
    let before = &text[..name.span.start];
    let is_given = [&b"with "[..], b"using ", b"and "]
        .iter()
        .any(|with| before.ends_with(with));
    let mut is_named = false;
    let fits = match name.class {
        Class::Digits => word.len() > 3 && near.starts_with(b" is ") && !counts(&text[span.end..]),
        Class::Password | Class::Token => {
            let links = found["links"].trim_ascii_end().to_ascii_lowercase();
            let is_link = [&b"is"[..], b"was", b"to", b":"]
                .iter()
                .any(|link| links.ends_with(link));
            let is_told = is_quoted || is_link || is_given || is_login(before);
            let chosen = is_password && is_told && is_made(word);
            is_named = chosen && is_link && !is_other_name(word);
            is_value(word) || is_named || chosen && is_item(word)
        }
        _ => false,
    };
    let stands = if is_named {
        Stands::Alone
    } else {
        Stands::Loose
    };
    fits.then_some(Value::new(span, stands))
        .into_iter()
        .collect()
}

/// Whether a file of passwords has its words there: `login ada password this`.
fn is_login(before: &[u8]) -> bool {
    let mut words = before.trim_ascii_end().rsplit(|byte| *byte == b' ');
    words.nth(1) == Some(b"login")
}

/// Whether somebody may have made a password of it: a letter and a digit, and no name of a method.
fn is_made(word: &[u8]) -> bool {
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

/// Up to the closing quote, which has as many backslashes in front of it as the opening one. Two
/// quotes are one of the value.
pub(super) fn quoted(text: &[u8], start: usize, quote: &[u8]) -> Option<Range<usize>> {
    let near = &text[start..text.len().min(start + QUOTED)];
    let close: &[u8] = match quote {
        [0xe2, 0x80, 0x9c] => "”".as_bytes(),
        [0xe2, 0x80, 0x9e] => "“".as_bytes(),
        [0xc2, 0xab] => "»".as_bytes(),
        [b'&', ..] => quote,
        _ => return quoted_by(near, quote).map(|span| start + span.start..start + span.end),
    };
    let end = memchr::memmem::find(near, close)?;
    (!near[..end].contains(&b'\n')).then_some(start..start + end)
}

fn quoted_by(near: &[u8], quote: &[u8]) -> Option<Range<usize>> {
    let (sign, escapes) = (*quote.last()?, quote.len() - 1);
    if let Some(of_three) = near.strip_prefix(&[sign; 2]).filter(|_| escapes == 0)
        && let Some(length) = memchr::memmem::find(of_three, &[sign; 3])
    {
        return Some(2..2 + length);
    }
    let mut doubled = None;
    for end in memchr::memchr_iter(sign, near) {
        if doubled.take() == Some(end) {
            continue;
        }
        let before = near[..end]
            .iter()
            .rev()
            .take_while(|byte| **byte == b'\\')
            .count();
        if before < escapes {
            return Some(0..end - before);
        }
        let is_end = before == escapes || escapes == 0 && before % 2 == 0;
        if is_end && escapes == 0 && end > 0 && near.get(end + 1) == Some(&sign) {
            doubled = Some(end + 1);
        } else if is_end {
            return Some(0..end - escapes);
        }
    }
    // A quote that is never closed: the word that begins there.
    let end = near
        .iter()
        .position(|byte| byte.is_ascii_whitespace() || b"\"'`&;<>".contains(byte));
    Some(0..end.unwrap_or(near.len())).filter(|span| !span.is_empty())
}

/// A word without quotes: up to white space, or to what ends a value where values stand in a row. A
/// variable of an environment has any sign in its value.
fn bare(text: &[u8], name: &Name, start: usize) -> Range<usize> {
    let near = &text[start..text.len().min(start + LONG)];
    let called = &text[name.span.clone()];
    let is_of_url = matches!(text[..name.span.start].last(), Some(b'?' | b'&'));
    let is_variable =
        start == name.span.end + 1 && !is_of_url && !called.iter().any(u8::is_ascii_lowercase);
    let line = &text[line_start(text, start)..start];
    let is_quoted = |sign: u8| memchr::memchr_iter(sign, line).count() % 2 == 1;
    let open = [b'"', b'\'', b'`'].map(is_quoted);
    let is_next = |rest: &[u8]| {
        let word = rest
            .iter()
            .take(NAME)
            .take_while(|byte| is_of_name(**byte))
            .count();
        rest.first() == Some(&b'&') || word > 0 && rest.get(word) == Some(&b'=')
    };
    let ends = |(at, byte): (usize, &u8)| match byte {
        b'"' => !is_variable || open[0],
        b'\'' => !is_variable || open[1],
        b'`' => !is_variable || open[2],
        b'&' | b';' => !is_variable || is_next(&near[at + 1..]),
        b'<' | b'>' => true,
        b',' => is_next(&near[at + 1..]),
        byte => byte.is_ascii_whitespace(),
    };
    let end = near.iter().enumerate().position(ends).unwrap_or_else(|| {
        // A secret is never cut: all of a longer one.
        let rest = text[start + near.len()..].iter();
        near.len() + rest.take_while(|byte| !byte.is_ascii_whitespace()).count()
    });
    let span = trim(text, start..start + end);
    // Brackets that are not closed begin a value, others stand for one: `{token}`.
    let opened = text[span.clone()]
        .iter()
        .take_while(|byte| b"[({".contains(byte))
        .count();
    span.start + opened..span.end
}

/// Where the line begins on which `at` is, or what is near enough of it.
pub(super) fn line_start(text: &[u8], at: usize) -> usize {
    let from = at.saturating_sub(LONG);
    memchr::memrchr(b'\n', &text[from..at]).map_or(from, |newline| from + newline + 1)
}

/// Without what may end a sentence or close a bracket behind a value.
pub(super) fn trim(text: &[u8], span: Range<usize>) -> Range<usize> {
    let is_end = |byte: &&u8| {
        matches!(
            byte,
            b',' | b'.' | b')' | b']' | b'}' | b':' | b'\\' | b'!' | b'?'
        )
    };
    let mut word = &text[span.clone()];
    for mark in ["”", "“", "»", "‘", "’"] {
        word = word.strip_suffix(mark.as_bytes()).unwrap_or(word);
    }
    let ends = word.iter().rev().take_while(is_end).count();
    // An exclamation mark may end a password as well.
    let is_password = word.ends_with(b"!") && is_value(word);
    span.start..span.start + word.len() - if is_password { 0 } else { ends }
}

/// What a header says: up to the end of the line, or of what is quoted. Where the rest is a sentence,
/// or a token stands there already, only random words.
fn line(text: &[u8], start: usize) -> Range<usize> {
    let is_token = token::length(&text[start..]).is_some() || text[start..].starts_with(b"Bearer ");
    let limit = if is_token { LONG } else { QUOTED };
    let rest = &text[start..text.len().min(start + limit)];
    let ends = |byte: &u8| matches!(byte, b'\r' | b'\n' | b'"' | b'\'' | b'`' | b'<' | b'\\');
    let end = rest.iter().position(ends).unwrap_or(rest.len());
    let all = start..start + rest[..end].trim_ascii_end().len();
    // The values of parameters are in quotes: `Digest username="…"`.
    if text[all.clone()].ends_with(b"=") && rest.get(end) == Some(&b'"') {
        return start..start;
    }
    if let Some(folded) = folded(text, &all) {
        return folded;
    }
    let begin = behind_scheme(text, all.clone()).start;
    let token = token::length(&text[begin..all.end]).unwrap_or(0);
    if token == 0 && (all.len() > LONG || !is_prose(&lossy(text, &all))) {
        return all;
    }
    let (mut at, mut found) = (begin + token, None);
    for word in text[begin + token..all.end].split(|byte| *byte == b' ') {
        let span = trim(text, at..at + word.len());
        at += word.len() + 1;
        let is_first = found.is_none() && token == 0 && begin > all.start;
        if is_value(&text[span.clone()]) || is_first && is_made(&text[span.clone()]) {
            found = Some(found.map_or(span.start, |found: Range<usize>| found.start)..span.end);
        } else if !word.is_empty() {
            break;
        }
    }
    found.unwrap_or(start..start)
}

/// The word on the next line, where a header is folded behind its scheme.
fn folded(text: &[u8], all: &Range<usize>) -> Option<Range<usize>> {
    let scheme = [&text[all.clone()], b" "].concat();
    SCHEME
        .find(&scheme)
        .filter(|found| found.end() == scheme.len())?;
    let rest = &text[all.end..text.len().min(all.end + LONG)];
    let blanks = rest
        .iter()
        .take_while(|byte| byte.is_ascii_whitespace())
        .count();
    let is_folded = rest.starts_with(b"\n") || rest.starts_with(b"\r\n");
    let word = rest[blanks..]
        .split(|byte| byte.is_ascii_whitespace() || *byte == b'"')
        .next()?;
    let is_indented = matches!(rest[..blanks].last(), Some(b' ' | b'\t'));
    (is_folded && is_indented && is_value(word))
        .then_some(all.end + blanks..all.end + blanks + word.len())
}

/// Schemes in front of what proves who asks.
static SCHEME: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?i-u)^(?:bearer|basic|token|digest|api-?key|negotiate|ntlm|dpop|jwt)[ \t]+";
    Regex::new(pattern).expect("tests look for schemes")
});

/// What follows the scheme of a header.
pub(super) fn behind_scheme(text: &[u8], span: Range<usize>) -> Range<usize> {
    let length = SCHEME
        .find(&text[span.clone()])
        .map_or(0, |scheme| scheme.end());
    if span.start + length < span.end {
        span.start + length..span.end
    } else {
        span
    }
}

pub(super) fn lossy(text: &[u8], span: &Range<usize>) -> String {
    String::from_utf8_lossy(&text[span.clone()]).into_owned()
}
