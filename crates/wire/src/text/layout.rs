//! A message laid out for reading, without ever parsing it into anything: key order, duplicate
//! members, the text of numbers and the escapes of strings stay what they were.

use super::escape::plain_bytes;
use super::{escape_bytes, size};
use memchr::memchr2;
use std::borrow::Cow;
use std::fmt::Write as _;

/// Bytes that are reserved for a line; few are longer.
const RESERVED: usize = 256;

/// Indentation stops growing here: nesting may be thousands deep.
const DEEPEST: usize = 40;

/// How much of a message is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub lines: usize,
    /// Bytes of one line: a string may be megabytes long.
    pub line: usize,
}

impl Limits {
    /// For a terminal: more than a few screens is for a file.
    pub const SCREEN: Self = Self {
        lines: 400,
        line: 2_000,
    };
}

/// The lines of a message, escaped, and how many of its bytes they leave out.
pub struct Layout {
    pub lines: Vec<String>,
    pub left_out: usize,
}

/// Lays `raw` out: JSON with one member or element per line, anything else in its own lines.
pub fn layout(raw: &[u8], limits: Limits) -> Layout {
    let mut lines = Vec::new();
    let left_out = each_line(raw, limits, &mut |line| lines.push(line.to_owned()));
    Layout { lines, left_out }
}

/// Gives the same lines to `show` one by one; returns how many bytes they leave out.
pub fn each_line(raw: &[u8], limits: Limits, show: &mut impl FnMut(&str)) -> usize {
    let raw = raw.trim_ascii();
    let mut writer = Writer::new(limits, show);
    writer.is_plain = plain_bytes(raw) == raw.len();
    if !raw.starts_with(b"{") && !raw.starts_with(b"[") {
        let mut left = raw.len() + 1;
        for line in raw.split(|byte| *byte == b'\n').take(limits.lines) {
            left -= line.len() + 1;
            writer.line.extend_from_slice(line);
            writer.end_line();
        }
        return writer.finish(left.saturating_sub(1));
    }
    let mut at = 0;
    while at < raw.len() && writer.shown < limits.lines {
        at += writer.step(&raw[at..]);
    }
    writer.finish(raw.len() - at)
}

struct Writer<'s, S> {
    limits: Limits,
    show: &'s mut S,
    shown: usize,
    line: Vec<u8>,
    /// Whether no line has anything to be escaped.
    is_plain: bool,
    depth: usize,
    left_out: usize,
}

impl<'s, S: FnMut(&str)> Writer<'s, S> {
    fn new(limits: Limits, show: &'s mut S) -> Self {
        Self {
            limits,
            show,
            shown: 0,
            line: Vec::with_capacity(RESERVED),
            is_plain: false,
            depth: 0,
            left_out: 0,
        }
    }

    /// Takes the next token in; how many bytes it has.
    fn step(&mut self, rest: &[u8]) -> usize {
        match rest[0] {
            open @ (b'{' | b'[') => {
                let inner = rest[1..].trim_ascii_start();
                if inner.first() == Some(&(open + 2)) {
                    self.line.extend_from_slice(&[open, open + 2]);
                    return rest.len() - inner.len() + 1;
                }
                self.line.push(open);
                self.depth += 1;
                self.break_line();
                1
            }
            close @ (b'}' | b']') => {
                self.depth = self.depth.saturating_sub(1);
                self.break_line();
                self.line.push(close);
                1
            }
            b',' => {
                self.line.push(b',');
                self.break_line();
                1
            }
            b':' => {
                self.line.extend_from_slice(b": ");
                1
            }
            b'"' => {
                let length = string_length(rest);
                self.line.extend_from_slice(&rest[..length]);
                length
            }
            white if white.is_ascii_whitespace() => 1,
            other => {
                self.line.push(other);
                1
            }
        }
    }

    fn break_line(&mut self) {
        self.end_line();
        let indentation = 2 * self.depth.min(DEEPEST);
        self.line.resize(indentation, b' ');
    }

    fn end_line(&mut self) {
        if !self.line.trim_ascii().is_empty() {
            let shown = &self.line[..self.line.len().min(self.limits.line)];
            let hidden = self.line.len() - shown.len();
            let mut text = match std::str::from_utf8(shown) {
                Ok(text) if self.is_plain => Cow::Borrowed(text),
                _ => escape_bytes(shown),
            };
            if hidden > 0 {
                let _ = write!(text.to_mut(), "… ({} more)", size(hidden as u64));
            }
            self.left_out += hidden;
            self.shown += 1;
            (self.show)(&text);
        }
        self.line.clear();
    }

    fn finish(mut self, rest: usize) -> usize {
        self.end_line();
        self.left_out + rest
    }
}

/// The bytes of the string that `rest` starts with, quotes included.
fn string_length(rest: &[u8]) -> usize {
    let mut at = 1;
    while let Some(found) = rest.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        at += found;
        if rest[at] == b'"' {
            return at + 1;
        }
        at += 2;
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        layout(text.as_bytes(), Limits::SCREEN).lines
    }

    #[test]
    fn nothing_is_reordered_rounded_or_decoded() {
        assert_eq!(
            lines(r#"{"b":1.0e2,"a":{},"b":[9007199254740993,"\u0041, {x}"] }"#),
            [
                "{",
                "  \"b\": 1.0e2,",
                "  \"a\": {},",
                "  \"b\": [",
                "    9007199254740993,",
                "    \"\\u0041, {x}\"",
                "  ]",
                "}"
            ]
        );
    }

    #[test]
    fn what_is_no_json_has_the_lines_that_it_has() {
        assert_eq!(
            lines("GET / HTTP/1.1\nAccept: \x07\n"),
            ["GET / HTTP/1.1", "Accept: \\x07"]
        );
        let many = layout(&b"ab\n".repeat(401), Limits::SCREEN);
        assert_eq!((many.lines.len(), many.left_out), (400, 2));
    }

    #[test]
    fn what_is_cut_is_counted() {
        let long = format!("{{\"a\":\"{}\"}}", "x".repeat(3_000));
        let layout = layout(long.as_bytes(), Limits::SCREEN);
        assert!(
            layout.lines[1].ends_with("… (1.0 kB more)"),
            "{}",
            layout.lines[1]
        );
        assert_eq!(layout.left_out, 3_009 - Limits::SCREEN.line);
        let many = format!("[{}1]", "1,".repeat(1_000));
        let layout = super::layout(many.as_bytes(), Limits::SCREEN);
        assert_eq!(layout.lines.len(), Limits::SCREEN.lines);
        assert_eq!(
            layout.left_out,
            many.len() - 1 - 2 * (Limits::SCREEN.lines - 1)
        );
    }

    #[test]
    fn endless_nesting_is_laid_out_in_constant_width() {
        let deep = "[".repeat(100_000);
        assert!(
            layout(deep.as_bytes(), Limits::SCREEN)
                .lines
                .iter()
                .all(|line| line.len() < 100)
        );
    }
}
