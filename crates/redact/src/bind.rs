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
    LONG, QUOTED, bare, leading, line, line_start, lossy, near, quoted, regex, trailing, trim,
};
use super::names::{Class, LONGEST, is_of_name, is_of_word};
use super::value::{
    Placement, is_code, is_name, is_other_name, is_path, looks_chosen, looks_generated,
};
use regex::bytes::{Captures, Regex};
use std::ops::Range;
use std::sync::LazyLock;

/// Bytes behind a name in which its value begins.
const NEAR: usize = 192;

/// A name in a text.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub span: Range<usize>,
    pub class: Class,
    /// Whether it is several words of a sentence: `API key`.
    pub is_phrase: bool,
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

/// The sign behind a name, with what may stand around it: a quote, a type, tags of YAML.
static SIGN: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"(?x-u)^
        (?: \\*["'`]\]? | \*\* | \] )? [\x20\t]{0,64}
        (?: (?: :?\ ?[&?!]?(?:'static\ )?[A-Za-z_.:<>\[\]|?]*(?i:str|char|bytes|any|text)[A-Za-z_.:<>\[\]|?]*
              | \[\d*\] )\ ?(?P<typed>=)\ ?
          | (?P<sign> := | =>  | =~ | ={1,3} | : | -> | \xe2\x86\x92 | \xef\xbc\x9a | \xef\xbc\x9d ) )
        (?P<bold>\*\*)? (?P<gap>[\x20\t]{0,64})
        (?P<tags> (?: (?: !{1,2}[\w/]+ | &\w+ ) [\x20\t]* ){1,2} )?
        (?: Some\( )? (?: [bru]?(?P<quote> \\*["'`] | \xe2\x80\x9c | \xe2\x80\x9e | \xc2\xab | &quot; | &\#34; ) )?
    "#,
    )
});

/// The owner of a value, in front of a sign: `password for ada: this`, `password (ada): this`.
static OWNER: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"(?x-u)^\ (?: (?P<bracket>\([^()\n\\]{1,48}\)) | (?i:for|of)(?:\ (?:'[^'\n]{1,64}'|[\w.@"`/:-]{1,48}?)){1,3} )
        (?: (?:\ is)?\ ?[:=]\ ? | \ is\ ) (?P<quote>["'`])?"#,
    )
});

/// Words between a name and its value where no sign stands.
static SENTENCE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"(?x-u)^ ["'`*]{0,2} [\x20\t|]+ (?P<links> (?: (?i:is|was|to|reset|set|by|with|as|now|be|been|has|
        changed|updated|rotated|new|value|of|the|equals) \b [\x20\t:=]* ){0,5} )
        (?P<open>\xe2\x80[\x9c\x9e]|\xc2\xab|["'`*\\]{0,3}) (?P<value>[^\s"'`|,;<>()\\]+)"#,
    )
});

/// Both values of a change, in a sentence; the second one, in a plan.
static CHANGED: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?-u)^ (?:is |was |were |has been )?(?i:changed|updated|rotated|reset) from (\S+) to ([^\s,;]+)",
    )
});
static BECOMES: LazyLock<Regex> = LazyLock::new(|| regex(r#"(?-u)^["'][ \t]*->[ \t]*["']"#));

/// The text between the name of a variable and its value where both are members: `", "value": "`.
static VALUE_MEMBER: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"(?-u)^\\?["']?(?:[\s,]|\\[nrt])*\\?["']?(?i:value)\\?["']?[ \t]*[:=][ \t]*(?P<quote>\\?["'])?"#,
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
    if let Some(owner) = OWNER.captures(near).filter(|_| name.class != Class::Header) {
        let mut values = at(&owner, Placement::Loose);
        let is_bracket = owner.name("bracket").is_some();
        let is_one = |word: &[u8]| is_value(word) || !is_bracket && looks_generated(word);
        values.retain(|value| is_one(&text[value.span.clone()]) || name.class == Class::Digits);
        return values;
    }
    if let Some(sign) = SIGN.captures(near) {
        return behind_sign(text, name, &sign);
    }
    if before.ends_with(b"-") || text[name.span.start..].starts_with(b"-") {
        return option(text, name);
    }
    let values = in_sentence(text, name);
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
    let is_near = found["gap"].is_empty() && text.get(name.span.end) == Some(&b'=');
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
    } else if name.is_phrase && name.class != Class::Digits {
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
    let span = bare(text, &name.span, start);
    let (word, label) = (lossy(text, &span), lossy(text, &name.span));
    let is_option = label.starts_with('-') || text[..name.span.start].ends_with(b"-");
    let is_small = label.contains(|c: char| c.is_ascii_lowercase());
    let is_assigned = placement == Placement::Alone && !is_small;
    let is_sign = word.chars().count() == 1;
    if !is_assigned && !is_option && is_code(&word)
        || name.class == Class::Digits && counts(&text[span.end..])
        || is_plainly_no_secret(text, name, &word) && !is_sign
    {
        return Vec::new();
    }
    let mut values = block::on_line(text, span.end.max(start), false);
    let is_setting = is_setting(text, name, &span);
    if !is_sign && (is_assigned || is_option || is_setting || !is_name(&word)) {
        let placement = if is_setting {
            Placement::Alone
        } else {
            placement
        };
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

/// Whether a password with a digit is all that a line has beside its name: `password: blue_whale7`.
fn is_setting(text: &[u8], name: &Name, value: &Range<usize>) -> bool {
    let before = &text[line_start(text, name.span.start)..name.span.start];
    let word = &text[value.clone()];
    name.class == Class::Password
        && before.iter().all(|byte| b" \t-".contains(byte))
        && matches!(text.get(value.end), None | Some(b'\r' | b'\n'))
        && looks_chosen(word)
        && !is_other_name(word)
}

/// Whether what follows a number is what it counts: `123 items`.
fn counts(after: &[u8]) -> bool {
    let word = after.strip_prefix(b" ").unwrap_or_default();
    let word = &word[..leading(word, |byte| byte.is_ascii_lowercase())];
    word.len() > 2 && word.ends_with(b"s")
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

/// The content of an element of XML: `<password>this</password>`, `<p name="password">this</p>`.
fn element(text: &[u8], name: &Name) -> Option<Value> {
    let (before, after) = (&text[..name.span.start], &text[name.span.end..]);
    let quote = usize::from(matches!(after.first(), Some(b'"' | b'\'')));
    let attribute = &before[..before.len().saturating_sub(1)];
    let is_stated = quote == 1 && (attribute.ends_with(b"name=") || attribute.ends_with(b"key="));
    let is_group = before.ends_with(b"?<") || before.ends_with(b"?P<");
    let is_named = before.ends_with(b"<") && !is_group;
    if after.get(quote) != Some(&b'>') || !is_named && !is_stated {
        return None;
    }
    let start = name.span.end + quote + 1;
    let cdata = b"<![CDATA[";
    let is_cdata = text[start..].starts_with(cdata);
    let start = start + if is_cdata { cdata.len() } else { 0 };
    let near = near(text, start, LONG);
    let end = memchr::memchr3(b'<', b'\n', b']', near)?;
    (near[end] != b'\n').then_some(Value::new(start..start + end, Placement::Alone))
}

/// Values behind words: `the password is this`, `token this rejected`, `| password | this |`.
fn in_sentence(text: &[u8], name: &Name) -> Vec<Value> {
    let near = near(text, name.span.end, NEAR);
    let shift = |range: Range<usize>| range.start + name.span.end..range.end + name.span.end;
    if let Some(both) = CHANGED.captures(near) {
        let both = both.iter().skip(1).flatten();
        let both = both.map(|value| Value::new(shift(value.range()), Placement::Loose));
        let is_one = |word: &[u8]| {
            let is_plain = !word.contains(&b'-') && looks_generated(word);
            (is_value(word) || is_plain) && word.iter().any(u8::is_ascii_alphabetic)
        };
        let both = both.filter(|value| is_one(&text[value.span.clone()]));
        return both.collect();
    }
    let Some(found) = SENTENCE.captures(near) else {
        return Vec::new();
    };
    let open = &found["open"];
    let value = found.name("value").expect("it is no option").range();
    let span = trim(text, shift(value));
    let word = &text[span.clone()];
    let (called, before) = (&text[name.span.clone()], &text[..name.span.start]);
    let mut is_stated = false;
    let fits = match name.class {
        Class::Digits => word.len() > 3 && near.starts_with(b" is ") && !counts(&text[span.end..]),
        Class::Password | Class::Token => {
            let ends = |text: &[u8], words: &[&[u8]]| words.iter().any(|word| text.ends_with(word));
            let links = found["links"].trim_ascii_end().to_ascii_lowercase();
            let is_link = ends(&links, &[b"is", b"was", b"to", b":"]);
            let is_quoted = !open.is_empty() && !open.starts_with(b"*");
            let is_marked = is_quoted || is_link || ends(before, &[b"with ", b"using ", b"and "]);
            let is_password = called.to_ascii_lowercase().starts_with(b"pass");
            let is_chosen = is_password && (is_marked || is_login(before)) && looks_chosen(word);
            is_stated = is_chosen && is_link && !is_other_name(word);
            is_value(word) || is_stated || is_chosen && looks_generated(word)
        }
        _ => false,
    };
    let placement = if is_stated {
        Placement::Alone
    } else {
        Placement::Loose
    };
    let value = fits.then_some(Value::new(span, placement));
    value.into_iter().collect()
}

/// Whether a file of passwords has its words there: `login ada password this`.
fn is_login(before: &[u8]) -> bool {
    let mut words = before.trim_ascii_end().rsplit(|byte| *byte == b' ');
    words.nth(1) == Some(b"login")
}
