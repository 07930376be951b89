//! Several values of one name: in brackets, on the lines below it, and on the rest of its line.
//!
//! ```text
//!  password: |          token:            api_keys:         credentials:     keys: [this,
//!    all of this          this              - this            prod: this       "this"]
//! ```

use super::entropy::is_value;
use super::extent::{leading, line_end, line_start, lossy, near, quoted, regex, trim, within};
use super::names::{self, Class, Name, is_beside, is_of_name};
use super::value::{Placement, Value, is_prose, looks_chosen, looks_generated};
use regex::bytes::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// Lines below one name.
const LINES: usize = 256;

/// Bytes of a list in brackets.
const LIST: usize = 4096;

/// Bytes of a value that begins with a bracket.
const UNCLOSED: usize = 256;

/// Bytes of the rest of a line.
const REST: usize = 2048;

/// Whether nothing but the end of a line follows, or what begins a block of YAML.
pub(super) fn is_begun(rest: &[u8]) -> bool {
    let end = line_end(rest, 0);
    let line = rest[..end].trim_ascii();
    // A comment; a password may begin with the sign too.
    let comment = memchr::memmem::find(line, b"# ").unwrap_or(line.len());
    let line = line[..comment].trim_ascii_end();
    let mark = line.strip_prefix(b"|").or(line.strip_prefix(b">"));
    let mark = mark.unwrap_or(line).trim_ascii_start();
    end < rest.len() && mark.iter().all(|byte| b"+-0123456789".contains(byte))
}

/// What programs put in front of each line: its number, or a mark of a change.
static GUTTER: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?-u)^(?:[+>-]|[ \t]{0,8}\d{1,6}(?:\t|\xe2\x86\x92|: ?|- ?| \| ?))"));

/// Bytes of what stands in front of a line.
fn gutter(line: &[u8]) -> usize {
    GUTTER.find(line).map_or(0, |gutter| gutter.end())
}

/// The values on the lines below a name: values that are indented further, and items of a list.
pub(super) fn below(text: &[u8], name: &Name, start: usize) -> Vec<Value> {
    let before = &text[line_start(text, name.span.start)..name.span.start];
    // What begins an item of a list is no gutter.
    let width = if before.starts_with(b"- ") {
        0
    } else {
        gutter(before)
    };
    let front = leading(&before[width..], |byte| b" \t-".contains(&byte));
    let is_block = matches!(text.get(start), Some(b'|' | b'>'));
    let (mut at, mut values) = (line_end(text, start) + 1, Vec::new());
    let begin = at;
    for lines in 0..LINES {
        if at >= text.len() {
            break;
        }
        let end = line_end(text, at);
        let line = if width > 0 {
            at + gutter(&text[at..end])..end
        } else {
            at..end
        };
        at = end + 1;
        let indent = leading(&text[line.clone()], |byte| b" \t".contains(&byte));
        let span = within(text, line, |byte| byte.is_ascii_whitespace());
        let content = &text[span.clone()];
        if content.is_empty() || content.starts_with(b"#") {
            continue;
        }
        let is_item = content.starts_with(b"- ");
        // A random word below `The key:` is one as well, however it is indented.
        let is_alone = indent == front && values.is_empty() && !is_block && is_value(content);
        if indent <= front && !(is_item && indent == front) && !is_alone {
            break;
        }
        if is_block {
            values.push(Value::new(span, Placement::Alone));
            continue;
        }
        let found = member(text, span, name.class);
        if found.is_none() && !is_item && values.is_empty() && lines > 0 {
            break;
        }
        values.extend(found);
        if is_alone {
            break;
        }
    }
    let last = values.last().filter(|_| is_block);
    if last.is_some_and(|last| is_prose(&lossy(text, &(begin..last.span.end)))) {
        // Of a block of sentences only random words are secret.
        values.retain(|value| is_value(&text[value.span.clone()]));
    }
    values
}

/// Whether a name on a line is that of another value, or only describes the secret.
fn is_other(label: &str) -> bool {
    is_beside(label) || names::class(label).is_some()
}

/// The value on a line below a name: all of it, or what stands behind `- ` or a name of its own.
fn member(text: &[u8], line: Range<usize>, class: Class) -> Option<Value> {
    let content = &text[line.clone()];
    if class == Class::Header {
        let length = leading(content, is_of_name);
        let is_cookie = length > 0 && content.get(length) == Some(&b'=');
        return is_cookie.then_some(Value::new(line, Placement::Alone));
    }
    let item = if content.starts_with(b"- ") { 2 } else { 0 };
    let sign = memchr::memmem::find(content, b": ").filter(|sign| *sign < 64);
    if sign.is_some_and(|sign| is_other(&lossy(content, &(item.min(sign)..sign)))) {
        return None;
    }
    let start = sign.map_or(item, |sign| sign + 2);
    let words = content[start..].split(|byte| *byte == b' ');
    let tags = words.take_while(|word| word.starts_with(b"!") || word.starts_with(b"&"));
    let start = (start + tags.map(|tag| tag.len() + 1).sum::<usize>()).min(content.len());
    let (rest, begin) = (&content[start..], line.start + start);
    if let Some(quote @ (b'"' | b'\'')) = rest.first() {
        let span = quoted(text, begin + 1, &[*quote])?;
        let is_one = sign.is_none() || is_value(&text[span.clone()]);
        return (is_one && span.end < line.end).then_some(Value::new(span, Placement::Alone));
    }
    let end = leading(rest, |byte| !byte.is_ascii_whitespace());
    let after = rest[end..].trim_ascii_start();
    let span = trim(text, begin..begin + end);
    let word = &text[span.clone()];
    let is_one = is_value(word) || sign.is_none() && looks_generated(word);
    (is_one && (after.is_empty() || after.starts_with(b"#")))
        .then_some(Value::new(span, Placement::Loose))
}

/// The values in brackets that begin at `start`: random words, and the second of a user and a password.
pub(super) fn listed(text: &[u8], name: &Name, start: usize) -> Vec<Value> {
    let near = near(text, start, LIST);
    let mut depth = 0;
    let end = near.iter().position(|byte| {
        match byte {
            b'[' | b'(' | b'{' => depth += 1,
            b']' | b')' | b'}' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    // A bracket that is never closed begins a value; a value is short.
    let one = &near[1..near.len().min(UNCLOSED)];
    let end = end.unwrap_or_else(|| 1 + leading(one, |byte| !byte.is_ascii_whitespace()));
    let (mut values, mut at, mut is_second) = (Vec::new(), start + 1, false);
    for piece in near[1..end].split(|byte| b",\n[](){}".contains(byte)) {
        let begin = at;
        at += piece.len() + 1;
        let sign = piece.iter().position(|byte| b":=".contains(byte));
        let sign = sign.filter(|sign| !is_value(&piece[..*sign]));
        let label = lossy(piece, &(0..sign.unwrap_or(0)));
        if is_other(label.trim_matches(|c: char| !c.is_alphanumeric())) {
            continue;
        }
        let from = sign.map_or(0, |sign| sign + 1);
        let is_cookie = name.class == Class::Header;
        let value = &piece[from..];
        let value = &value[..leading(value, |byte| !is_cookie || byte != b';')];
        let all = begin + from..begin + from + value.len();
        let span = within(text, all, |byte| {
            byte.is_ascii_whitespace() || b"\"'`\\>".contains(&byte)
        });
        let word = &text[span.clone()];
        let is_quoted = value.iter().any(|byte| b"\"'".contains(byte));
        let is_pair = name.class == Class::Pair && is_second && is_quoted && looks_chosen(word);
        is_second = !is_second;
        let is_long = near[0] == b'[' && word.len() >= 8;
        let is_one = is_value(word) || is_pair || is_long && looks_generated(word);
        if is_one && !word.iter().any(u8::is_ascii_whitespace) {
            values.push(if is_pair {
                let class = Some(Class::Password);
                Value {
                    class,
                    ..Value::new(span, Placement::Alone)
                }
            } else {
                Value::new(span, Placement::Loose)
            });
        }
    }
    values
}

/// The random words on the rest of a line, up to the next name; of a header its parameters too.
pub(super) fn on_line(text: &[u8], from: usize, is_header: bool) -> Vec<Value> {
    let near = near(text, from, REST);
    let end = leading(near, |byte| !b"\r\n".contains(&byte));
    let is_between = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`<>&;,|()[]{}".contains(byte);
    let (mut values, mut at) = (Vec::new(), from);
    for word in near[..end].split(|byte| is_between(byte)) {
        let span = trim(text, at..at + word.len());
        at += word.len() + 1;
        let mut after = text[span.end..].iter();
        let after = after.find(|byte| !b"\\\"' ".contains(byte));
        let name = &word[..leading(word, |byte| byte != b'=')];
        let is_assigned = name.len() < word.len() || matches!(after, Some(b':' | b'='));
        let is_name = is_assigned && word.iter().any(u8::is_ascii_alphanumeric);
        if word.starts_with(b"--") || is_name && !is_value(name) && !is_header {
            break;
        }
        if is_value(&text[span.clone()]) {
            values.push(Value::new(span, Placement::Loose));
        }
    }
    values
}
