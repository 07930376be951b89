//! Several values of one name: in brackets, on the lines below it, and on the rest of its line.
//!
//! ```text
//!  password: |          token:            api_keys:         credentials:     keys: [this,
//!    all of this          this              - this            prod: this       "this"]
//! ```

use super::bind::{Name, Value};
use super::entropy::is_value;
use super::extent::{line_start, quoted, regex, trim};
use super::names::{self, Class};
use super::ruleset::is_of_name;
use super::value::{Placement, is_prose, looks_chosen, looks_generated};
use regex::bytes::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// Lines below one name.
const LINES: usize = 256;

/// Bytes of a list in brackets.
const LIST: usize = 4096;

/// Bytes of the rest of a line.
const REST: usize = 2048;

/// Names of members that describe a secret and are none: its type, its user, its host.
const BESIDE: [&str; 22] = [
    "type",
    "kind",
    "name",
    "title",
    "description",
    "scope",
    "scopes",
    "id",
    "url",
    "uri",
    "format",
    "alg",
    "algorithm",
    "username",
    "user",
    "login",
    "host",
    "hostname",
    "region",
    "expires",
    "expiresat",
    "tokentype",
];

/// Whether a member of a secret object only describes the secret.
pub(super) fn is_beside(name: &str) -> bool {
    BESIDE.contains(&&*names::joined(name).0)
}

/// Whether nothing but the end of a line follows, or what begins a block of YAML.
pub(super) fn is_begun(rest: &[u8]) -> bool {
    let line = rest.split(|byte| *byte == b'\n').next().unwrap_or(rest);
    let is_ended = line.len() < rest.len();
    let line = line.trim_ascii();
    // A comment; a password may begin with the sign too.
    let comment = memchr::memmem::find(line, b"# ").unwrap_or(line.len());
    let line = line[..comment].trim_ascii_end();
    let mark = line
        .strip_prefix(b"|")
        .or(line.strip_prefix(b">"))
        .unwrap_or(line);
    let mark = mark.trim_ascii_start();
    let is_mark = mark.iter().all(|byte| b"+-0123456789".contains(byte));
    is_ended && is_mark
}

/// A line below a name.
struct Line {
    span: Range<usize>,
    indent: usize,
}

/// What programs put in front of each line: its number, or a mark of a change.
static GUTTER: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?-u)^(?:[+>-]|[ \t]{0,8}\d{1,6}(?:\t|\xe2\x86\x92|: ?|- ?| \| ?))"));

/// Bytes of what stands in front of a line.
fn gutter(line: &[u8]) -> usize {
    GUTTER.find(line).map_or(0, |gutter| gutter.end())
}

fn line_at(text: &[u8], at: usize, has_gutter: bool) -> Line {
    let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |length| at + length);
    let at = if has_gutter {
        at + gutter(&text[at..end])
    } else {
        at
    };
    let content = &text[at..end];
    let indent = content
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count();
    let length = content.trim_ascii_end().len().max(indent);
    Line {
        span: at + indent..at + length,
        indent,
    }
}

/// The values on the lines below a name: values that are indented further, and items of a list.
pub(super) fn below(text: &[u8], name: &Name, start: usize) -> Vec<Value> {
    let begin = line_start(text, name.span.start);
    let before = &text[begin..name.span.start];
    // What begins an item of a list is no gutter.
    let gutter = if before.starts_with(b"- ") {
        0
    } else {
        gutter(before)
    };
    let has_gutter = gutter > 0;
    let front = before[gutter..].iter();
    let front = front
        .take_while(|byte| matches!(byte, b' ' | b'\t' | b'-'))
        .count();
    let is_block = matches!(text.get(start), Some(b'|' | b'>'));
    let Some(newline) = memchr::memchr(b'\n', &text[start..]) else {
        return Vec::new();
    };
    let (mut at, mut values, mut lines) = (start + newline + 1, Vec::new(), 0);
    let mut block: Option<Range<usize>> = None;
    while at < text.len() && lines < LINES {
        let line = line_at(text, at, has_gutter);
        let content = &text[line.span.clone()];
        at = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |length| at + length + 1);
        lines += 1;
        if content.is_empty() || content.starts_with(b"#") {
            continue;
        }
        let is_list_item = content.starts_with(b"- ");
        // A random word below `The key:` is one as well, however it is indented.
        let is_alone = line.indent == front && values.is_empty() && !is_block && is_value(content);
        if line.indent <= front && !(is_list_item && line.indent == front) && !is_alone {
            break;
        }
        if is_block {
            block = Some(block.map_or(line.span.start, |block| block.start)..line.span.end);
            values.push(Value::new(line.span, Placement::Alone));
            continue;
        }
        let found = member(text, line.span.clone(), name.class);
        if found.is_none() && !is_list_item && values.is_empty() && lines > 1 {
            break;
        }
        values.extend(found);
        if is_alone {
            break;
        }
    }
    if block.is_some_and(|block| is_prose(&String::from_utf8_lossy(&text[block]))) {
        // Of a block of sentences only random words are secret.
        values.retain(|value| is_value(&text[value.span.clone()]));
    }
    values
}

/// The value on a line below a name: all of it, or what stands behind `- ` or a name of its own.
fn member(text: &[u8], line: Range<usize>, class: Class) -> Option<Value> {
    let content = &text[line.clone()];
    if class == Class::Header {
        let length = content.iter().take_while(|byte| is_of_name(**byte)).count();
        let is_cookie = length > 0 && content.get(length) == Some(&b'=');
        return is_cookie.then_some(Value::new(line, Placement::Alone));
    }
    let item = if content.starts_with(b"- ") { 2 } else { 0 };
    let sign = memchr::memmem::find(content, b": ").filter(|sign| *sign < 64);
    let label =
        sign.map(|sign| String::from_utf8_lossy(&content[item.min(sign)..sign]).into_owned());
    if label
        .as_deref()
        .is_some_and(|name| is_beside(name) || names::class(name).is_some())
    {
        return None;
    }
    let start = sign.map_or(item, |sign| sign + 2);
    let rest = &content[start..];
    let tags = rest
        .split(|byte| *byte == b' ')
        .take_while(|word| word.starts_with(b"!") || word.starts_with(b"&"));
    let start = start + tags.map(|tag| tag.len() + 1).sum::<usize>().min(rest.len());
    let rest = &content[start..];
    let begin = line.start + start;
    if let Some(quote @ (b'"' | b'\'')) = rest.first() {
        let span = quoted(text, begin + 1, &[*quote])?;
        let is_one = sign.is_none() || is_value(&text[span.clone()]);
        return (is_one && span.end < line.end).then_some(Value::new(span, Placement::Alone));
    }
    let end = rest
        .iter()
        .position(u8::is_ascii_whitespace)
        .unwrap_or(rest.len());
    let after = rest[end..].trim_ascii_start();
    let span = trim(text, begin..begin + end);
    let word = &text[span.clone()];
    let is_one = if sign.is_some() {
        is_value(word)
    } else {
        looks_generated(word)
    };
    (is_one && (after.is_empty() || after.starts_with(b"#")))
        .then_some(Value::new(span, Placement::Loose))
}

/// The values in brackets that begin at `start`: random words, and the second of a user and a password.
pub(super) fn listed(text: &[u8], name: &Name, start: usize) -> Vec<Value> {
    let near = &text[start..text.len().min(start + LIST)];
    let mut depth = 0;
    let end = near.iter().position(|byte| {
        match byte {
            b'[' | b'(' | b'{' => depth += 1,
            b']' | b')' | b'}' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    let Some(end) = end else {
        // A bracket that is never closed begins a value.
        let span = start + 1
            ..start
                + 1
                + near[1..]
                    .iter()
                    .position(u8::is_ascii_whitespace)
                    .unwrap_or(near.len() - 1);
        let is_one = is_value(&text[span.clone()]);
        return is_one
            .then_some(Value::new(span, Placement::Loose))
            .into_iter()
            .collect();
    };
    let (mut values, mut at, mut is_second) = (Vec::new(), start + 1, false);
    for piece in near[1..end].split(|byte| b",\n[](){}".contains(byte)) {
        let begin = at;
        at += piece.len() + 1;
        let sign = piece.iter().position(|byte| matches!(byte, b':' | b'='));
        let sign = sign.filter(|sign| !is_value(&piece[..*sign]));
        let label = sign.map(|sign| String::from_utf8_lossy(&piece[..sign]).into_owned());
        let label = label
            .as_deref()
            .map(|name| name.trim_matches(|c: char| !c.is_alphanumeric()));
        if label.is_some_and(|name| is_beside(name) || names::class(name).is_some()) {
            continue;
        }
        let value = &piece[sign.map_or(0, |sign| sign + 1)..];
        let cookie = value
            .iter()
            .position(|byte| *byte == b';')
            .filter(|_| name.class == Class::Header);
        let value = &value[..cookie.unwrap_or(value.len())];
        let is_edge = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`\\>".contains(byte);
        let before = value.iter().take_while(|byte| is_edge(byte)).count();
        let after = value[before..]
            .iter()
            .rev()
            .take_while(|byte| is_edge(byte))
            .count();
        let begin = begin + sign.map_or(0, |sign| sign + 1) + before;
        let span = begin..begin + value.len() - before - after;
        let word = &text[span.clone()];
        let is_quoted = value.iter().any(|byte| matches!(byte, b'"' | b'\''));
        let is_pair = name.class == Class::Pair && is_second && is_quoted && looks_chosen(word);
        let is_one = is_value(word)
            || is_pair
            || near[0] == b'[' && word.len() >= 8 && looks_generated(word);
        if is_one && !word.iter().any(u8::is_ascii_whitespace) {
            let placement = if is_pair {
                Placement::Alone
            } else {
                Placement::Loose
            };
            let class = is_pair.then_some(Class::Password);
            values.push(Value {
                span,
                placement,
                class,
            });
        }
        is_second = !is_second;
    }
    values
}

/// The random words on the rest of a line, up to the next name; of a header its parameters too.
pub(super) fn on_line(text: &[u8], from: usize, is_header: bool) -> Vec<Value> {
    let near = &text[from..text.len().min(from + REST)];
    let end = near
        .iter()
        .position(|byte| matches!(byte, b'\n' | b'\r'))
        .unwrap_or(near.len());
    let is_between = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`<>&;,|()[]{}".contains(byte);
    let (mut values, mut at) = (Vec::new(), from);
    for word in near[..end].split(|byte| is_between(byte)) {
        let span = trim(text, at..at + word.len());
        at += word.len() + 1;
        let after = text[span.end..]
            .iter()
            .find(|byte| !b"\\\"' ".contains(byte));
        let sign = word
            .iter()
            .position(|byte| *byte == b'=')
            .map_or(word, |sign| &word[..sign]);
        let has_letter = word.iter().any(u8::is_ascii_alphanumeric);
        let is_name = has_letter && (sign.len() < word.len() || matches!(after, Some(b':' | b'=')));
        if word.starts_with(b"--") || is_name && !is_value(sign) && !is_header {
            break;
        }
        if is_value(&text[span.clone()]) {
            values.push(Value::new(span, Placement::Loose));
        }
    }
    values
}
