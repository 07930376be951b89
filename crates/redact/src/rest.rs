//! More values of one name: in brackets, on the lines below it, and on the rest of its line.
//!
//! ```text
//!  password: |          token:            api_keys:         credentials:     keys: [this,
//!    all of this          this              - this            prod: this       "this"]
//! ```

use super::entropy::is_value;
use super::extent::{
    is_around, leading, line_end, line_start, lossy, near, quoted, regex, trim, within,
};
use super::names::{self, Class, Name};
use super::value::{Bond, Value, is_prose, looks_adjacent, looks_generated};
use regex::bytes::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// Lines below one name.
const LINES: usize = 256;

/// Bytes of a list in brackets, and of a value that begins with a bracket.
const LIST: usize = 4096;
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

/// The values on the lines below a name: values that are indented further, and items of a list.
pub(super) fn below(text: &[u8], name: &Name, start: usize) -> Vec<Value> {
    let gutter = |line: &[u8]| GUTTER.find(line).map_or(0, |gutter| gutter.end());
    let before = &text[line_start(text, name.span.start)..name.span.start];
    let front = leading(&before[gutter(before)..], |byte| b" \t-".contains(&byte));
    let is_block = matches!(text.get(start), Some(b'|' | b'>'));
    let begin = line_end(text, start) + 1;
    let (mut at, mut values) = (begin, Vec::new());
    for lines in 0..LINES {
        if at >= text.len() {
            break;
        }
        let end = line_end(text, at);
        let line = at + gutter(&text[at..end])..end;
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
            values.push(Value::new(span, Bond::Line));
            continue;
        }
        let found = item(text, span, name.class);
        if found.is_none() && values.is_empty() && lines > 0 {
            break;
        }
        values.extend(found);
    }
    let last = values.last().filter(|_| is_block);
    if last.is_some_and(|last| is_prose(&lossy(text, &(begin..last.span.end)))) {
        // Of a block of sentences only random words are secret.
        values.retain(|value| is_value(&text[value.span.clone()]));
    }
    values
}

/// The value that one item of a list says: all of it, or what stands behind a name of its own.
fn item(text: &[u8], span: Range<usize>, class: Class) -> Option<Value> {
    let item = &text[span.clone()];
    if class == Class::Header {
        let span = within(text, span, is_around);
        let name = leading(&text[span.clone()], names::is_of_name);
        let is_cookie = text.get(span.start + name) == Some(&b'=');
        return is_cookie.then(|| Value::new(span, Bond::Alone));
    }
    let dash = if item.starts_with(b"- ") { 2 } else { 0 };
    let is_sign = |at: &usize| item[*at..].starts_with(b": ") || item[*at..].starts_with(b":\"");
    let sign = (dash..item.len().min(64)).find(is_sign);
    let rest = sign.map_or(dash, |sign| sign + 1)..item.len();
    let words = item[rest.clone()].split(|byte| *byte == b' ');
    let tags = words.take_while(|word| matches!(word.first(), None | Some(b'!' | b'&')));
    let start = rest.start + tags.map(|tag| tag.len() + 1).sum::<usize>();
    let begin = span.start + start.min(item.len());
    let value = if matches!(text.get(begin), Some(b'"' | b'\'')) {
        quoted(text, begin + 1, &text[begin..=begin])?
    } else {
        let end = begin + leading(&text[begin..span.end], |byte| !byte.is_ascii_whitespace());
        if !text[end..span.end].trim_ascii().is_empty() {
            return None;
        }
        within(text, trim(text, begin..end), |byte| {
            b"\"'`\\>;".contains(&byte)
        })
    };
    let word = lossy(text, &value);
    let is_one = is_value(word.as_bytes()) || sign.is_none() && looks_generated(&word);
    is_one.then(|| Value::new(value, Bond::Alone))
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
        let span = within(text, at..at + piece.len(), |byte| {
            byte.is_ascii_whitespace()
        });
        at += piece.len() + 1;
        let inner = within(text, span.clone(), is_around);
        if name.class == Class::Pair && is_second && inner.start > span.start {
            let class = Some(Class::Password);
            let value = Value::new(inner, Bond::Alone);
            values.push(Value { class, ..value });
        } else if let Some(value) = item(text, span, name.class) {
            values.push(value);
        }
        is_second = !is_second;
    }
    values
}

/// The random words on the rest of a line, up to the next name; of a password also those in a row with it.
pub(super) fn on_line(text: &[u8], from: usize, class: Class) -> Vec<Value> {
    let near = near(text, from, REST);
    let end = memchr::memchr2(b'\r', b'\n', near).unwrap_or(near.len());
    let is_between = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`<>&;,|()[]{}".contains(byte);
    let (mut values, mut at) = (Vec::new(), from);
    let mut is_row = near.starts_with(b", ");
    for word in near[..end].split(|byte| is_between(byte)) {
        let span = trim(text, at..at + word.len());
        at += word.len() + 1;
        let mut after = text[span.end..].iter();
        let after = after.find(|byte| !b"\\\"' ".contains(byte));
        let name = &word[..leading(word, |byte| byte != b'=')];
        let is_assigned = name.len() < word.len() || matches!(after, Some(b':' | b'='));
        let is_name = is_assigned && word.iter().any(u8::is_ascii_alphanumeric);
        if is_name && !is_value(name) && class != Class::Header {
            break;
        }
        let said = String::from_utf8_lossy(word);
        if is_value(&text[span.clone()]) {
            values.push(Value::new(span, Bond::Rest));
        } else if is_row && looks_adjacent(said.trim_end_matches(['.', ','])) {
            values.push(Value::new(span, Bond::Near));
        } else {
            is_row &= word.is_empty();
        }
    }
    values
}
