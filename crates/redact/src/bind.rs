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
use super::extent::{
    LONG, QUOTED, bare, leading, line, line_end, line_start, lossy, near, quoted, regex, trailing,
};
use super::names::{Class, LONGEST, Name, is_of_name, is_of_word};
use super::sentence;
use super::value::{
    Placement, Value, is_code, is_name, is_other_name, is_path, looks_generated, looks_set,
    looks_stated,
};
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
static FORM: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"(?-u)^"[^\n]*\n(?:[^\n]*[^\r\n][^\n]*\n){0,4}\r?\n"#));

/// The name whose last word is at `word`, if one ends there: trailing digits and a plural s belong to it.
pub(super) fn name_at(text: &[u8], word: Range<usize>) -> Option<Range<usize>> {
    let next = |at: usize| text.get(at).copied().unwrap_or(b' ');
    let mut end = word.end + usize::from(b"sS".contains(&next(word.end)));
    let counted = end + usize::from(b"_-".contains(&next(end)));
    let digits = near(text, counted.min(text.len()), 4);
    let digits = leading(digits, |byte| byte.is_ascii_digit());
    if digits > 0 {
        end = counted + digits;
    }
    let goes_on = is_of_word(next(end)) && word.end > 0 && text[word.end - 1].is_ascii()
        || b"-.".contains(&next(end)) && is_of_name(next(end + 1));
    let start = begin(text, word.start);
    (!goes_on && end - start <= LONGEST).then_some(start..end)
}

/// Where the name begins of which something stands at `end`: letters of any script belong to it.
pub(super) fn begin(text: &[u8], end: usize) -> usize {
    let before = &text[end.saturating_sub(LONGEST)..end];
    let of_name = |byte: u8| is_of_name(byte) || byte == b'.' || !byte.is_ascii();
    let before = &before[before.len() - trailing(before, of_name)..];
    // The last letters that are none of a broken sign.
    let of_name = |char: &char| char.is_alphanumeric() || matches!(char, '_' | '-' | '.');
    let said = before.utf8_chunks().last();
    let said = said.filter(|chunk| chunk.invalid().is_empty());
    let letters = said.map_or("", |chunk| chunk.valid()).chars().rev();
    end - letters
        .take_while(of_name)
        .map(char::len_utf8)
        .sum::<usize>()
}

/// The candidates for values of a name: nearly always one, several of a list or on the lines below.
/// Each is still to be judged.
pub(super) fn values(text: &[u8], name: &Name) -> Vec<Value> {
    let (end, before) = (name.span.end, &text[..name.span.start]);
    let near = near(text, end, NEAR);
    let at = |found: &Captures<'_>, placement| {
        let quote = found.name("quote").map(|quote| quote.as_bytes());
        values_at(text, name, (end + found[0].len(), quote), placement)
    };
    if before.ends_with(b"form-data; name=\"") {
        let start = FORM.find(near).map(|form| end + form.end());
        let value = start.map(|start| Value::new(line(text, start), Placement::Alone));
        return value.into_iter().collect();
    }
    if is_member_name(text, name)
        && let Some(label) = VALUE_MEMBER.captures(near)
    {
        return at(&label, Placement::Alone);
    }
    if let Some(element) = element(text, name) {
        return vec![element];
    }
    if let Some(pair) = PAIR.captures(near) {
        return at(&pair, Placement::Pair);
    }
    if let Some(sign) = SIGN.captures(near) {
        return behind_sign(text, name, &sign);
    }
    if before.ends_with(b"-") || text[name.span.start..].starts_with(b"-") {
        return option(text, name);
    }
    if let Some(span) = word_of_line(text, name) {
        return vec![Value::new(span, Placement::Setting)];
    }
    let values = sentence::values(text, name);
    if values.is_empty() {
        columns::values(text, name)
    } else {
        values
    }
}

fn behind_sign(text: &[u8], name: &Name, found: &Captures<'_>) -> Vec<Value> {
    let quote = found.name("quote").map(|quote| quote.as_bytes());
    let sign = found.name("sign").map_or(&b"="[..], |sign| sign.as_bytes());
    if found.name("typed").is_some() && quote.is_none() {
        return Vec::new();
    }
    let is_near = found.name("gap").is_none() && text.get(name.span.end) == Some(&b'=');
    let placement = if quote.is_some() || is_near {
        Placement::Alone
    } else {
        Placement::Loose
    };
    let start = name.span.end + found[0].len();
    let mut values = values_at(text, name, (start, quote), placement);
    // What only tells where a value comes from: `!secret name`; what an arrow leads to may be a type.
    let tags = found.name("tags").map_or(&b""[..], |tags| tags.as_bytes());
    let is_plain = tags.starts_with(b"!!") || tags.starts_with(b"!vault");
    let is_arrow = sign == b"->" || sign.starts_with(b"\xe2");
    if tags.starts_with(b"!") && !is_plain {
        values.retain(|value| is_value(&text[value.span.clone()]));
    } else if is_arrow {
        values.retain(|value| looks_generated(&text[value.span.clone()]));
    } else if name.is_phrase && !matches!(name.class, Class::Digits | Class::Password) {
        // Of an `API key` people write as well.
        let is_sure = |value: &Value| value.placement != Placement::Loose;
        values.retain(|value| is_sure(value) || is_value(&text[value.span.clone()]));
    }
    values
}

/// Whether the name is what another one says: `name: TOKEN`, `key="token"`.
pub(super) fn is_member_name(text: &[u8], name: &Name) -> bool {
    let before = text[..name.span.start].iter().rev().take(16);
    let mut before = before.skip_while(|byte| b"\"' \\".contains(byte));
    matches!(before.next(), Some(b':' | b'='))
}

/// The values that begin at `start`, in a quote or bare, in a list, or on the lines below.
fn values_at(
    text: &[u8],
    name: &Name,
    (start, quote): (usize, Option<&[u8]>),
    placement: Placement,
) -> Vec<Value> {
    if let Some(quote) = quote {
        return in_quotes(text, name, (start, quote), placement);
    }
    let is_header = name.class == Class::Header && text[..start].trim_ascii_end().ends_with(b":");
    match text.get(start) {
        None => Vec::new(),
        Some(b'\r' | b'\n' | b'|' | b'>' | b'#') if block::is_begun(&text[start..]) => {
            block::below(text, name, start)
        }
        Some(b'[' | b'(' | b'{') if name.class != Class::Digits => block::listed(text, name, start),
        Some(_) if is_header => {
            let value = Value::new(line(text, start), Placement::Loose);
            let mut values = block::on_line(text, value.span.end, true);
            values.insert(0, value);
            values
        }
        Some(_) => bare_values(text, name, start, placement),
    }
}

/// A value without quotes, and the random words behind it.
fn bare_values(text: &[u8], name: &Name, start: usize, placement: Placement) -> Vec<Value> {
    if let Some(span) = setting(text, name, start) {
        let mut values = block::on_line(text, span.end, false);
        values.insert(0, Value::new(span, Placement::Setting));
        return values;
    }
    let span = bare(text, &name.span, start);
    let (word, label) = (lossy(text, &span), lossy(text, &name.span));
    let is_option = label.starts_with('-') || text[..name.span.start].ends_with(b"-");
    let is_small = label.contains(|c: char| c.is_ascii_lowercase());
    let is_assigned = placement == Placement::Alone && !is_small;
    let is_sign = word.chars().count() == 1;
    if !is_assigned && !is_option && is_code(&word)
        || name.class == Class::Digits && sentence::counts(&text[span.end..])
        || is_plainly_no_secret(text, name, &word) && !is_sign
    {
        return Vec::new();
    }
    let mut values = block::on_line(text, span.end.max(start), false);
    if text[..name.span.start].ends_with(b";") && matches!(text.get(span.end), Some(b';' | b'"')) {
        // One of a connection string.
        return vec![Value::new(span, Placement::Whole)];
    }
    let is_chosen = || name.class == Class::Password && looks_stated(&word, false);
    let placement = if is_chosen() {
        Placement::Alone
    } else {
        placement
    };
    if !is_sign && (is_assigned || is_option || !is_name(&word) || is_chosen()) {
        values.insert(0, Value::new(span, placement));
    }
    values
}

fn in_quotes(
    text: &[u8],
    name: &Name,
    (start, quote): (usize, &[u8]),
    placement: Placement,
) -> Vec<Value> {
    // A name at the end of a string literal has no value: `header = "Set-Cookie:"`.
    let Some(span) = quoted(text, start, quote).filter(|_| is_open(text, name, quote)) else {
        return Vec::new();
    };
    if is_plainly_no_secret(text, name, &lossy(text, &span)) {
        return Vec::new();
    }
    let end = span.end;
    let rest = &text[end..];
    let mut values = vec![Value::new(span, placement)];
    if let Some(becomes) = BECOMES.find(rest) {
        let start = end + becomes.end();
        let new = quoted(text, start, &text[start - 1..start]);
        values.extend(new.map(|span| Value::new(span, Placement::Alone)));
    } else if rest.get(quote.len()) == Some(&b' ') {
        let is_header = name.class == Class::Header;
        values.extend(block::on_line(text, end + quote.len(), is_header));
    }
    values
}

/// The only word, or all in quotes, behind a name that begins a line: `password this`.
fn word_of_line(text: &[u8], name: &Name) -> Option<Range<usize>> {
    let rest = near(text, name.span.end, LONG);
    let start = name.span.end + leading(rest, |byte| b" \t".contains(&byte));
    let span = setting(text, name, start)
        .filter(|span| start > name.span.end && !name.is_phrase && !span.is_empty())?;
    let word = &text[span.clone()];
    match word {
        [open @ (b'"' | b'\''), inner @ .., close] if open == close && !inner.contains(open) => {
            Some(span.start + 1..span.end - 1)
        }
        _ => (!word.contains(&b' ') && !word.starts_with(b"\"")).then_some(span),
    }
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
    let from = line_start(text, name.span.start);
    let sign = text[name.span.end..start].trim_ascii();
    if !SETS.is_match(&text[from..name.span.start]) || sign.len() > 3 {
        return None;
    }
    // Only the beginning of a long line is read: the line may have as many names as words, and
    // would be read once for each.
    let rest = near(text, start, LONG);
    let rest = &rest[..line_end(rest, 0)];
    let comment = memchr::memmem::find(rest, b" #").or_else(|| memchr::memmem::find(rest, b" <--"));
    let rest = rest[..comment.unwrap_or(rest.len())].trim_ascii_end();
    let said = std::str::from_utf8(rest).ok()?;
    let is_tagged = rest.starts_with(b"!") && rest.contains(&b' ');
    let fits = !is_tagged
        && looks_set(said)
        && !is_code(said)
        && !is_other_name(rest)
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
    behind.is_some_and(|byte| b"\"'`\\".contains(byte))
        || before.is_multiple_of(2)
        || quote.len() > 1
}

/// Whether the value beside this name is plainly no secret: the file of a key, the kind of a public
/// one, a test that passed, the key that leads to a button, a part of the name of a resource.
fn is_plainly_no_secret(text: &[u8], name: &Name, value: &str) -> bool {
    let label = lossy(text, &name.span);
    let small = label.to_ascii_lowercase();
    let is_of_key = small.trim_end_matches('s').ends_with("key");
    let mut kinds = ["ssh-", "ecdsa-", "sk-ssh-"].iter();
    let before = &text[name.span.start.saturating_sub(QUOTED / 256)..name.span.start];
    let word = before.len() - trailing(before, |byte| !byte.is_ascii_whitespace());
    is_of_key && (is_path(value) || kinds.any(|kind| value.starts_with(kind)))
        || small == "signingkey" && value.bytes().all(|byte| byte.is_ascii_hexdigit())
        || small == "secret"
            && value.contains('-')
            && value
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'-')
        || label == "PASS" && value.contains('_')
        || value.chars().count() == 1
        || memchr::memmem::find(&before[word..], b"arn:aws").is_some()
}

/// The word behind an option.
fn option(text: &[u8], name: &Name) -> Vec<Value> {
    let blanks = leading(near(text, name.span.end, 16), |byte| b" \t".contains(&byte));
    let start = name.span.end + blanks;
    let quote = near(text, start, 1);
    if blanks == 0 || text[start..].starts_with(b"--") {
        Vec::new()
    } else if matches!(quote, b"\"" | b"'" | b"`") {
        values_at(text, name, (start + 1, Some(quote)), Placement::Loose)
    } else {
        values_at(text, name, (start, None), Placement::Loose)
    }
}

/// What is in the element behind one that has a name alone: `<td>password</td><td>this</td>`.
static CELL: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?x-u)^ \s* :? </(?:key|td|dt|th|b|strong|label|name|span)> \s* (?: <[\w]+[^<>]*> \s* ){1,3} (?P<value>[^<>\n]{1,256}?) \s* </",
    )
});

/// The beginning of an element, perhaps with its name space.
static TAG: LazyLock<Regex> = LazyLock::new(|| regex(r"(?-u)<(?:\w{1,24}:)?$"));

/// The content of an element of XML: `<password>this</password>`, `<p name="password">this</p>`.
fn element(text: &[u8], name: &Name) -> Option<Value> {
    let (before, after) = (&text[..name.span.start], &text[name.span.end..]);
    let is_content = before.trim_ascii_end().ends_with(b">");
    if let Some(cell) = is_content.then(|| CELL.captures(after)).flatten() {
        let value = cell.name("value")?;
        let start = name.span.end + value.start();
        return Some(Value::new(start..start + value.len(), Placement::Cell));
    }
    let quote = usize::from(matches!(after.first(), Some(b'"' | b'\'')));
    let attribute = &before[..before.len().saturating_sub(1)];
    let is_stated = quote == 1 && (attribute.ends_with(b"name=") || attribute.ends_with(b"key="));
    let is_group = before.ends_with(b"?<") || before.ends_with(b"?P<");
    let is_named = TAG.is_match(&before[before.len().saturating_sub(32)..]) && !is_group;
    let attributes = near(after, 0, 128).iter().position(|byte| *byte == b'>');
    let attributes = attributes.filter(|end| {
        is_named && after[0] == b' ' && !after[..*end].contains(&b'<') && after[end - 1] != b'/'
    });
    if after.get(quote) != Some(&b'>') && attributes.is_none() || !is_named && !is_stated {
        return None;
    }
    let start = name.span.end + attributes.unwrap_or(quote) + 1;
    let cdata = b"<![CDATA[";
    let is_cdata = text[start..].starts_with(cdata);
    let start = start + if is_cdata { cdata.len() } else { 0 };
    let near = near(text, start, LONG);
    let end = memchr::memchr3(b'<', b'\n', b']', near)?;
    let is_closed = is_cdata || near[end..].starts_with(b"</");
    (near[end] != b'\n' && is_closed).then_some(Value::new(start..start + end, Placement::Alone))
}
