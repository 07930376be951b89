//! A message laid out for reading, without ever parsing it into anything: key order, duplicate
//! members, the text of numbers and the escapes of strings stay what they were.

use crate::text::{escape_bytes, size};
use std::fmt::Write as _;

/// Lines of one message that are shown; more than a few screens is for a file.
const MOST_LINES: usize = 400;
/// Bytes of one line that are shown: a string may be megabytes long.
const LONGEST_LINE: usize = 2_000;
/// Indentation stops growing here: nesting may be thousands deep.
const DEEPEST: usize = 40;

/// The lines of a message, escaped, and how many of its bytes they leave out.
pub struct Layout {
    /// The lines.
    pub lines: Vec<String>,
    /// Bytes that are not shown.
    pub left_out: usize,
}

/// Lays `raw` out: JSON with one member or element per line, anything else as it is.
#[must_use]
pub fn layout(raw: &[u8]) -> Layout {
    let raw = raw.trim_ascii();
    if !raw.starts_with(b"{") && !raw.starts_with(b"[") {
        let mut writer = Writer::new();
        writer.line.extend_from_slice(raw);
        return writer.finish(0);
    }
    let mut writer = Writer::new();
    let mut at = 0;
    while at < raw.len() && writer.lines.len() < MOST_LINES {
        at += writer.step(&raw[at..]);
    }
    writer.finish(raw.len() - at)
}

struct Writer {
    lines: Vec<String>,
    line: Vec<u8>,
    depth: usize,
    left_out: usize,
}

impl Writer {
    fn new() -> Self {
        Self {
            lines: Vec::new(),
            line: Vec::new(),
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
        let line = std::mem::take(&mut self.line);
        if line.trim_ascii().is_empty() {
            return;
        }
        let shown = &line[..line.len().min(LONGEST_LINE)];
        let hidden = line.len() - shown.len();
        let mut text = escape_bytes(shown).into_owned();
        if hidden > 0 {
            let _ = write!(text, "… ({} more)", size(hidden as u64));
        }
        self.left_out += hidden;
        self.lines.push(text);
    }

    fn finish(mut self, rest: usize) -> Layout {
        self.end_line();
        Layout {
            lines: self.lines,
            left_out: self.left_out + rest,
        }
    }
}

/// The bytes of the string that `rest` starts with, quotes included.
fn string_length(rest: &[u8]) -> usize {
    let mut escaped = false;
    for (at, &byte) in rest.iter().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        layout(text.as_bytes()).lines
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
    fn what_is_no_json_is_one_escaped_line() {
        assert_eq!(lines("DEBUG \x1b[31mred\r\n"), ["DEBUG \\x1b[31mred"]);
        assert_eq!(lines(""), [""; 0]);
    }

    #[test]
    fn what_is_cut_is_counted() {
        let long = format!("{{\"a\":\"{}\"}}", "x".repeat(3_000));
        let layout = layout(long.as_bytes());
        assert!(
            layout.lines[1].ends_with("… (1.0 kB more)"),
            "{}",
            layout.lines[1]
        );
        assert_eq!(layout.left_out, 3_009 - LONGEST_LINE);
        let many = format!("[{}1]", "1,".repeat(1_000));
        let layout = super::layout(many.as_bytes());
        assert_eq!(layout.lines.len(), MOST_LINES);
        assert_eq!(layout.left_out, many.len() - 1 - 2 * (MOST_LINES - 1));
    }

    #[test]
    fn endless_nesting_is_laid_out_in_constant_width() {
        let deep = "[".repeat(100_000);
        assert!(
            layout(deep.as_bytes())
                .lines
                .iter()
                .all(|line| line.len() < 100)
        );
    }
}
