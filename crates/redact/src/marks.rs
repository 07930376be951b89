//! Quotes as printers have them.

use super::named::LONG;
use std::ops::Range;

/// Quotes of printers. Those of placeholders are none of them.
pub(super) const MARKS: [(&str, &str); 6] = [
    ("“", "”"),
    ("„", "“"),
    ("„", "”"),
    ("‘", "’"),
    ("‚", "‘"),
    ("«", "»"),
];

/// A value in quotes of printers, on one line.
pub(super) fn in_marks(text: &[u8], start: usize) -> Option<Range<usize>> {
    let near = &text[start..text.len().min(start + LONG)];
    let near = near.split(|byte| *byte == b'\n').next()?;
    MARKS.iter().find_map(|(open, close)| {
        let said = near.strip_prefix(open.as_bytes())?;
        let length = memchr::memmem::find(said, close.as_bytes())?;
        let begin = start + open.len();
        Some(begin..begin + length)
    })
}

/// A word without quotes of printers around it.
pub(super) fn inside(text: &[u8], word: Range<usize>) -> Range<usize> {
    if text[word.clone()].is_ascii() {
        return word;
    }
    let (mut start, mut end) = (word.start, word.end);
    for (open, close) in MARKS {
        if text[start..end].starts_with(open.as_bytes()) {
            start += open.len();
        }
        if text[start..end].ends_with(close.as_bytes()) {
            end -= close.len();
        }
    }
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_quotes_ends_with_them_on_its_line() {
        let said = |text: &'static str| in_marks(text.as_bytes(), 0).map(|span| &text[span]);
        assert_eq!(said("“a b” c"), Some("a b"));
        assert_eq!(said("„a“"), Some("a"));
        assert_eq!(said("„a”"), Some("a"));
        assert_eq!(said("“a\nb”"), None);
        assert_eq!(said("‹secret:1›"), None);
        let word = |text: &'static str| &text[inside(text.as_bytes(), 0..text.len())];
        assert_eq!((word("“a”"), word("a”"), word("a")), ("a", "a", "a"));
    }
}
