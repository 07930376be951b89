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
    /// As lines of HTTP, which end with CR and LF; all others as escapes.
    Lines,
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
        // The empty line that ends a head says nothing.
        let is_end = controls == Controls::Lines && matches!(&text[line.clone()], b"\r\n" | b"\n");
        (!line.is_empty() && !is_end).then_some(line)
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
        (Controls::Read | Controls::Lines, b"\n") | (Controls::Lines, b"\r\n") => "".into(),
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
    if controls == Controls::Lines {
        let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
        let ends = text[rest.clone()].iter().rev().take_while(|it| is_end(it));
        rest.end -= ends.count();
        return spans::divide(text, rest, hits, Role::Text);
    }
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
            all(b"a\r\nb: \tc\r\n\r\n", 9, Controls::Lines),
            ["a", "b: \\tc"]
        );
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
