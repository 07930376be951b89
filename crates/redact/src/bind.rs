//! From a name to its value: what stands beside it in a text, behind a sign, in quotes or bare.
//!
//! ```text
//!  TOKEN=this            password: "this"         const token: &str = "this"
//!  --api-key this        <password>this</…>       Authorization: Bearer this
//!  api_keys: [this, …]   name: TOKEN, value: this the password is this   | token | this |
//! ```

use super::entropy::is_value;
use super::extent::{
    LONG, bare, behind_scheme, leading, line_end, line_start, lossy, near, quoted, regex, trailing,
};
use super::names::{Class, Name};
use super::value::{Bond, Value, is_code, is_other_name, is_path, looks_set, looks_stated};
use super::{columns, rest, sentence, token};
use regex::bytes::{Captures, Regex};
use std::ops::Range;
use std::sync::LazyLock;

/// Bytes behind a name in which its value begins.
const NEAR: usize = 192;

/// The sign behind a name, with what may stand around it: a quote, a type, tags of YAML.
static SIGN: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"(?x-u)^
        (?: \\*["'`]\]? | \*\* | \] )? [\x20\t]{0,64}
        (?: (?: :?\ ?[&?!]?(?:'static\ )?[A-Za-z_.:<>\[\]|?]*(?i:str|char|bytes|any|text)[A-Za-z_.:<>\[\]|?]*
              | \[\d*\] )\ ?(?P<typed>=)\ ?
          | (?P<sign> := | =>  | =~ | ={1,3} | : | -> | \xe2\x86\x92 | \xef\xbc\x9a | \xef\xbc\x9d ) )
        (?P<bold>\*\*)? (?: (?P<gap>[\x20\t]{1,64}) (?P<tags> (?: (?: !{1,2}[\w/]+ | &\w+ ) [\x20\t]* ){1,2} )? )?
        (?: Some\( )? (?: [bruN@]?(?P<quote> \\*["'`] | \xe2\x80\x9c | \xe2\x80\x9e | \xc2\xab | &quot; | &\#34; ) )?
    "#,
    )
});

static BECOMES: LazyLock<Regex> = LazyLock::new(|| regex(r#"(?-u)^["'][ \t]*->[ \t]*["']"#));

/// The text between the name of a variable and its value where both are members: `", "value": "`.
static VALUE_MEMBER: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"(?-u)^\\?["']?(?:[\s,]|\\[nrt])*\\?["']?(?i:value)\\?["']?[ \t]*[:=][ \t]*(?P<quote>\\?["'])?"#,
    )
});

/// The text between a quoted name and the quoted value that follows it in a list: `', '`.
static PAIR: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"(?x-u)^ (?: \\*["']\]? \s* (?: , | => \s* string\(\d+\) | \n\s*\d+\) ) \s* | ,\s*<< ) @?N? (?P<quote>\\*["'])"#,
    )
});

/// The text behind the name of a field in `multipart/form-data`: other headers, and an empty line.
static FORM: LazyLock<Regex> = LazyLock::new(|| {
    regex(r#"(?-u)^"[^\n]*\n(?:[^\n]*[^\r\n][^\n]*\n){0,4}\r?\n(?P<value>[^\r\n]*)"#)
});

/// What is in the element behind one that has a name alone: `<td>password</td><td>this</td>`.
static ELEMENT: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?x-u)^ \s* :? </(?:key|td|dt|th|b|strong|label|name|span)> \s* (?: <[\w]+[^<>]*> \s* ){1,3} (?P<value>[^<>\n]{1,256}?) \s* </",
    )
});

/// The content of an element of XML that has the name: `<password>this</password>`, `<p name="password">this</p>`.
static CONTENT: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"(?x-u)^ ["']? (?: \x20[^<>]{0,128}[^<>/] )? > (?: <!\[CDATA\[ )? (?P<value>[^<>\n]{0,2048}?) (?: \]\]> )? </"#,
    )
});

/// The candidates for values of a name: nearly always one, several of a list or on the lines below.
/// Each is still to be judged.
pub(super) fn values(text: &[u8], name: &Name, next: usize) -> Vec<Value> {
    let (end, before) = (name.span.end, &text[..name.span.start]);
    let after = near(text, end, LONG);
    let at = |found: &Captures<'_>, bond| {
        if let Some(value) = found.name("value") {
            return vec![Value::new(end + value.start()..end + value.end(), bond)];
        }
        let quote = found.name("quote").map(|quote| quote.as_bytes());
        values_at(text, name, (end + found[0].len(), quote), bond)
    };
    let has_tag = memchr::memchr(b'<', after).is_some();
    let beside = [
        (before.ends_with(b"form-data; name=\""), &FORM, Bond::Alone),
        (is_member_name(before), &VALUE_MEMBER, Bond::Alone),
        (has_tag, &ELEMENT, Bond::Cell),
        (has_tag, &CONTENT, Bond::Alone),
    ];
    for (_, pattern, bond) in beside.into_iter().filter(|(may_be, ..)| *may_be) {
        if let Some(found) = pattern.captures(after) {
            return at(&found, bond);
        }
    }
    let is_word = matches!(after, [b' ', letter, ..] if letter.is_ascii_alphabetic());
    let pair = PAIR.captures(after);
    if pair.is_none()
        && let Some(sign) = (!is_word).then(|| SIGN.captures(after)).flatten()
    {
        return behind_sign(text, name, &sign);
    }
    if text[name.span.start..].starts_with(b"-") {
        return option(text, name);
    }
    let cells = columns::values(text, name);
    match pair {
        _ if !cells.is_empty() => cells,
        Some(pair) => at(&pair, Bond::Pair),
        None => sentence::values(text, name, next),
    }
}

fn behind_sign(text: &[u8], name: &Name, found: &Captures<'_>) -> Vec<Value> {
    let quote = found.name("quote").map(|quote| quote.as_bytes());
    if found.name("typed").is_some() && quote.is_none() {
        return Vec::new();
    }
    let is_near = text.get(name.span.end) == Some(&b'=');
    let bond = if quote.is_some() || is_near {
        Bond::Alone
    } else {
        Bond::Loose
    };
    let mut values = values_at(text, name, (name.span.end + found[0].len(), quote), bond);
    // What only tells where a value comes from: `!secret name`; what an arrow leads to may be a type.
    let is_reference = found
        .name("tags")
        .is_some_and(|tags| tags.as_bytes().starts_with(b"!"));
    let is_arrow = found
        .name("sign")
        .is_some_and(|sign| sign.as_bytes() == b"->");
    // Of an `API key` people write as well.
    let is_written = name.is_phrase && !matches!(name.class, Class::Digits | Class::Password);
    let is_said = is_reference || is_arrow || is_written && bond == Bond::Loose;
    values.retain(|value| !is_said || is_value(&text[value.span.clone()]));
    values
}

/// Whether the name is what another one says: `name: TOKEN`, `key="token"`.
fn is_member_name(before: &[u8]) -> bool {
    let before = before.trim_ascii_end().iter().rev().take(16);
    let mut before = before.skip_while(|byte| b"\"' \\".contains(byte));
    matches!(before.next(), Some(b':' | b'='))
}

/// The values that begin at `start`, in a quote or bare, in a list, or on the lines below.
fn values_at(
    text: &[u8],
    name: &Name,
    (start, quote): (usize, Option<&[u8]>),
    bond: Bond,
) -> Vec<Value> {
    if let Some(quote) = quote {
        return in_quotes(text, name, (start, quote), bond);
    }
    match text.get(start) {
        None => Vec::new(),
        Some(b'\r' | b'\n' | b'|' | b'>' | b'#') if rest::is_begun(&text[start..]) => {
            rest::below(text, name, start)
        }
        Some(b'{') if text[..name.span.start].ends_with(b";") => {
            let end = start + leading(near(text, start, LONG), |byte| byte != b'}');
            vec![Value::new(start + 1..end, Bond::Whole)]
        }
        Some(b'[' | b'(' | b'{') if name.class != Class::Digits => rest::listed(text, name, start),
        Some(_) if name.class == Class::Header => header(text, start),
        Some(_) => bare_values(text, name, start, bond),
    }
}

/// The value of a header: up to the end of the line, or of what is quoted. Where a token stands there
/// already, only random words.
fn header(text: &[u8], start: usize) -> Vec<Value> {
    let rest = near(text, start, LONG * 32);
    let end = leading(rest, |byte| !b"\r\n'`<\\".contains(&byte));
    let is_in_quotes =
        memchr::memchr_iter(b'"', &text[line_start(text, start)..start]).count() % 2 == 1;
    let end = leading(&rest[..end], |byte| !is_in_quotes || byte != b'"');
    let all = start..start + rest[..end].trim_ascii_end().len();
    let proof = behind_scheme(text, all.clone());
    if token::length(&text[proof.start..]).is_some() {
        return rest::on_line(text, proof.start, Class::Header);
    }
    let mut values = rest::on_line(text, all.end, Class::Header);
    values.insert(0, Value::new(all, Bond::Loose));
    values
}

/// A value without quotes, and the random words behind it.
fn bare_values(text: &[u8], name: &Name, start: usize, bond: Bond) -> Vec<Value> {
    let (span, bond) = match setting(text, name, start) {
        Some(span) => (span, Bond::Line),
        None => (bare(text, &name.span, start), bond),
    };
    let (word, label) = (lossy(text, &span), lossy(text, &name.span));
    let is_small = label.contains(|c: char| c.is_ascii_lowercase());
    let is_assigned = label.starts_with('-') || bond == Bond::Alone && !is_small;
    let is_sign = word.chars().count() == 1;
    if !is_assigned && is_code(&word)
        || name.class == Class::Digits && sentence::counts(&text[span.end..])
        || is_plainly_no_secret(text, name, &word) && !is_sign
    {
        return Vec::new();
    }
    let is_chosen = name.class == Class::Password && looks_stated(&word, false);
    let bond = if is_chosen && bond == Bond::Loose {
        Bond::Alone
    } else {
        bond
    };
    let mut values = rest::on_line(text, span.end, name.class);
    if !is_sign {
        values.insert(0, Value::new(span, bond));
    }
    values
}

fn in_quotes(text: &[u8], name: &Name, (start, quote): (usize, &[u8]), bond: Bond) -> Vec<Value> {
    // A name at the end of a string literal has no value: `header = "Set-Cookie:"`.
    let Some(span) = quoted(text, start, quote).filter(|_| is_open(text, name, quote)) else {
        return Vec::new();
    };
    if is_plainly_no_secret(text, name, &lossy(text, &span)) {
        return Vec::new();
    }
    let end = span.end;
    let after = &text[end..];
    let mut values = vec![Value::new(span, bond)];
    if let Some(becomes) = BECOMES.find(after) {
        let start = end + becomes.end();
        let new = quoted(text, start, &text[start - 1..start]);
        values.extend(new.map(|span| Value::new(span, Bond::Alone)));
    } else if after.get(quote.len()) == Some(&b' ') {
        values.extend(rest::on_line(text, end + quote.len(), name.class));
    }
    values
}

/// What stands in front of a name on a line that sets it.
static SETS: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?x-u)^ (?: [\ \t\#;+>\$-] | (?i:export|set|env|let|var|default)\ | \$env: | [\w.]+[.\\] | \d+[:|\t]\ ? | \*\* )* $",
    )
});

/// The rest of the line that sets `name`, where it is a password: `password = two Words 7`. No sign
/// within ends it.
fn setting(text: &[u8], name: &Name, start: usize) -> Option<Range<usize>> {
    if !matches!(name.class, Class::Password | Class::Key) {
        return None;
    }
    if !SETS.is_match(&text[line_start(text, name.span.start)..name.span.start]) {
        return None;
    }
    // Only the beginning of a long line is read: the line may have as many names as words, and
    // would be read once for each.
    let rest = near(text, start, LONG);
    let rest = rest[..line_end(rest, 0)].trim_ascii_end();
    let said = std::str::from_utf8(rest).ok()?;
    let fits = (name.class == Class::Password || !said.contains(' '))
        && looks_set(said)
        && !is_other_name(said)
        && !is_plainly_no_secret(text, name, said);
    fits.then(|| start..start + rest.len())
}

/// Whether the quote in front of a value opens one: if the name stands in a literal of the same
/// quote, it closes that.
fn is_open(text: &[u8], name: &Name, quote: &[u8]) -> bool {
    let Some(sign @ (b'"' | b'\'' | b'`')) = quote.last() else {
        return true;
    };
    let behind = text.get(name.span.end);
    let from = line_start(text, name.span.start);
    let before = memchr::memchr_iter(*sign, &text[from..name.span.start]).count();
    behind.is_some_and(|byte| b"\"'`\\".contains(byte)) || before.is_multiple_of(2)
}

/// Whether the value beside this name is plainly no secret: the file of a key, the kind of a public
/// one, a test that passed, the key that leads to a button, a part of the name of a resource.
fn is_plainly_no_secret(text: &[u8], name: &Name, value: &str) -> bool {
    let label = lossy(text, &name.span);
    let small = label.to_ascii_lowercase();
    let is_of_key = small.trim_end_matches('s').ends_with("key");
    let mut kinds = ["ssh-", "ecdsa-", "sk-ssh-"].iter();
    let before = &text[name.span.start.saturating_sub(NEAR)..name.span.start];
    let word = before.len() - trailing(before, |byte| !byte.is_ascii_whitespace());
    let is_slug = |byte: u8| byte.is_ascii_lowercase() || byte == b'-';
    is_of_key && (is_path(value) || kinds.any(|kind| value.starts_with(kind)))
        || small == "signingkey" && value.bytes().all(|byte| byte.is_ascii_hexdigit())
        || small == "secret" && value.contains('-') && value.bytes().all(is_slug)
        || label == "PASS" && value.contains('_')
        || value.chars().count() == 1
        || memchr::memmem::find(&before[word..], b"arn:aws").is_some()
}

/// The word behind an option.
fn option(text: &[u8], name: &Name) -> Vec<Value> {
    let blanks = leading(near(text, name.span.end, 16), |byte| b" \t".contains(&byte));
    let start = name.span.end + blanks;
    let quote = near(text, start, 1);
    let quote = Some(quote).filter(|quote| matches!(*quote, b"\"" | b"'" | b"`"));
    if blanks == 0 || text[start..].starts_with(b"--") {
        return Vec::new();
    }
    let start = start + quote.map_or(0, <[u8]>::len);
    values_at(text, name, (start, quote), Bond::Loose)
}
