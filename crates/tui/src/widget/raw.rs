//! Bytes as text, every one of them, wrapped at the width.
//!
//! ```text
//! {"jsonrpc":"2.0","id":7,"method":"tools/call","par
//! ams":{"name":"search_docs"}}\r\n
//! ```

use super::spans::{self, Hits, Spans};
use crate::theme::Role;
use mcpreel_wire::text;
use std::borrow::Cow;
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

const TAB: &str = "    ";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Controls {
    /// Every one as an escape, also the line feed at the end of a line.
    Shown,
    /// Line feeds break the line, which ends after a word where it can, and a tab is four spaces;
    /// all others as escapes.
    Read,
}

/// The bytes of each line of `text` in `columns` columns. A line is wider only where a single
/// character is.
pub fn lines(
    text: &[u8],
    columns: usize,
    controls: Controls,
) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = text.get(start..spans::enough(text, start, columns))?;
        let rest = match memchr::memchr(b'\n', rest) {
            Some(at) => &rest[..=at],
            None => rest,
        };
        let mut end = fit(rest, columns.max(1), controls);
        if controls == Controls::Read && end < rest.len() {
            // Words are not divided.
            let space = memchr::memrchr(b' ', &rest[..end]);
            let space = space.filter(|space| !rest[..*space].trim_ascii().is_empty());
            end = space.map_or(end, |space| space + 1);
        }
        let line = start..start + end;
        start = line.end;
        (!line.is_empty()).then_some(line)
    })
}

/// How many bytes at the beginning of `text` fill a line: one character at least.
fn fit(text: &[u8], columns: usize, controls: Controls) -> usize {
    let plain = |byte: &u8| matches!(byte, 0x20..0x7f);
    if text.len() > columns && text[..=columns].iter().all(plain) {
        return columns;
    }
    let (mut fit, mut used) = (0, 0);
    for chunk in text.utf8_chunks() {
        let clusters = chunk.valid().graphemes(true).map(|cluster| {
            let shown = escape(cluster.as_bytes(), controls);
            (cluster.len(), text::width(&shown))
        });
        let invalid = chunk.invalid().iter().map(|_| (1, "\\xff".len()));
        for (bytes, width) in clusters.chain(invalid) {
            if fit > 0 && used + width > columns {
                return fit;
            }
            fit += bytes;
            used += width;
        }
    }
    fit
}

fn escape(cluster: &[u8], controls: Controls) -> Cow<'_, str> {
    match (controls, cluster) {
        (Controls::Read, b"\n") => "".into(),
        (Controls::Read, b"\r\n") => "\\r".into(),
        (Controls::Read, b"\t") => TAB.into(),
        _ => text::escape_bytes(cluster),
    }
}

/// A line as it is shown.
pub fn write(text: &[u8], line: Range<usize>, controls: Controls, hits: Hits<'_>) -> Spans {
    if controls == Controls::Shown {
        return spans::divide(text, line, hits, Role::Text);
    }
    let mut rest = line;
    if text[rest.clone()].ends_with(b"\n") {
        rest.end -= 1;
    }
    let mut written = Spans::new();
    while rest.start < rest.end {
        let tab = memchr::memchr(b'\t', &text[rest.clone()]);
        let end = tab.map_or(rest.end, |at| rest.start + at);
        written.extend(spans::divide(text, rest.start..end, hits, Role::Text));
        written.extend(tab.map(|_| (Role::Text, TAB.to_owned())));
        rest.start = end + 1;
    }
    written
}

// Bytes as hexadecimal numbers with their text beside them:
//
// 0000:0010  2c 22 69 64 22 3a 37 2c  22 6d 65 74 68 6f 64 22  ,"id":7,"method"

/// How many bytes a line of `columns` columns has: 16, or 8, or 4.
pub fn per_line(columns: usize) -> usize {
    // Offset, two spaces; for each byte two digits, a space and a character; two gaps.
    let needed = |bytes: usize| 11 + bytes * 4 + 2;
    [16, 8]
        .into_iter()
        .find(|&bytes| needed(bytes) <= columns)
        .unwrap_or(4)
}

/// The line `row`, counted from 0, of the lines with `per_line` bytes.
pub fn line(bytes: &[u8], row: usize, per_line: usize, hits: Hits<'_>) -> Spans {
    let start = row * per_line;
    let role = |at: usize, otherwise| {
        let is_hit = hits.iter().any(|hit| hit.contains(&at));
        if is_hit { Role::Hit } else { otherwise }
    };
    let offset = format!("{:04x}:{:04x}  ", start >> 16, start & 0xffff);
    let mut line = vec![(Role::Faint, offset)];
    for at in start..start + per_line {
        let byte = bytes.get(at);
        let text = byte.map_or_else(|| "  ".to_owned(), |byte| format!("{byte:02x}"));
        let is_group_end = (at + 1 - start).is_multiple_of(8) || at + 1 == start + per_line;
        line.push((role(at, Role::Text), text));
        line.push((Role::Text, if is_group_end { "  " } else { " " }.to_owned()));
    }
    let end = bytes.len().min(start + per_line);
    line.extend((start..end).map(|at| {
        let text = match bytes[at] {
            byte @ 0x20..0x7f => char::from(byte).to_string(),
            _ => ".".to_owned(),
        };
        (role(at, Role::Faint), text)
    }));
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(text: &[u8], columns: usize, controls: Controls) -> Vec<String> {
        let line = |line| {
            let spans = write(text, line, controls, &[]).into_iter();
            spans.map(|(_, text)| text).collect()
        };
        lines(text, columns, controls).map(line).collect()
    }

    #[test]
    fn every_byte_is_shown_and_wrapped() {
        let text = "ab\tcdef日本語\x1b[0m\r\nnext\n".as_bytes();
        assert_eq!(
            all(text, 8, Controls::Shown),
            ["ab\\tcdef", "日本語", "\\x1b[0m", "\\r\\n", "next\\n"]
        );
        assert_eq!(all(b"a\xff\xfeb", 8, Controls::Shown), ["a\\xff", "\\xfeb"]);
        let wide = "a\u{202e}b".as_bytes();
        assert_eq!(all(wide, 3, Controls::Shown), ["a", "\\u{202e}", "b"]);
        let text = b"if x {\n\tgo();\n\n}\r\n\x07";
        assert_eq!(
            all(text, 20, Controls::Read),
            ["if x {", "    go();", "", "}\\r", "\\x07"]
        );
    }

    proptest! {
        #[test]
        fn lines_are_all_of_the_text_and_fit(text: Vec<u8>, columns in 4usize..40) {
            let lines: Vec<_> = lines(&text, columns, Controls::Shown).collect();
            let mut end = 0;
            for line in lines {
                prop_assert_eq!(line.start, end);
                end = line.end;
            }
            prop_assert_eq!(end, text.len());
        }
    }
}

#[cfg(test)]
mod hex_tests {
    use super::*;

    #[test]
    fn a_line_has_its_offset_its_bytes_and_their_text() {
        let bytes = [vec![0; 0x1_0010], b"a\x1b\xc3\xa9~".to_vec()].concat();
        let hit = 0x1_0011..0x1_0013;
        let line = line(&bytes, 0x2002, 8, std::slice::from_ref(&hit));
        let text: String = line.iter().map(|(_, text)| &**text).collect();
        assert_eq!(text, "0001:0010  61 1b c3 a9 7e           a...~");
        let hits = line.iter().filter(|(role, _)| *role == Role::Hit);
        let hits: Vec<_> = hits.map(|(_, text)| &**text).collect();
        assert_eq!(hits, ["1b", "c3", ".", "."]);
        assert_eq!([200, 77, 76, 45, 44, 0].map(per_line), [16, 16, 8, 8, 4, 4]);
    }
}
