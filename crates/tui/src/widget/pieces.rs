//! Bytes off the wire as text, with search hits marked.
//!
//! Hits are ranges of the bytes as they were on the wire; what is shown is escaped and therefore
//! longer. So the bytes are divided at the hits first and each part is escaped by itself.

use super::spans::Spans;
use crate::theme::Role;
use mcpreel_wire::text;
use std::ops::Range;

/// Ranges of bytes in which a search found something, in order and apart from each other.
pub type Hits<'a> = &'a [Range<usize>];

/// The bytes `range` of `bytes`, escaped, in the style of `role`; hits in their own.
pub fn divide(bytes: &[u8], range: Range<usize>, hits: Hits<'_>, role: Role) -> Spans {
    let mut spans = Spans::new();
    let mut push = |range: Range<usize>, role| {
        if let Some(part) = bytes.get(range).filter(|part| !part.is_empty()) {
            spans.push((role, text::escape_bytes(part).into_owned()));
        }
    };
    let mut at = range.start;
    let first = hits.partition_point(|hit| hit.end <= range.start);
    for hit in hits[first..].iter().take_while(|hit| hit.start < range.end) {
        let (start, end) = (hit.start.max(at), hit.end.min(range.end));
        push(at..start, role);
        push(start..end, Role::Hit);
        at = end.max(at);
    }
    push(at..range.end, role);
    spans
}

/// The largest place in `bytes` up to `at` that does not lie within a UTF-8 character.
pub fn floor_char(bytes: &[u8], at: usize) -> usize {
    let at = at.min(bytes.len());
    let continues = |at: usize| bytes.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    (at.saturating_sub(3)..=at)
        .rev()
        .find(|&at| !continues(at))
        .unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_are_marked_where_they_stand_among_escapes() {
        let bytes = b"a\x1bneedle\xffz needle";
        let hits = [2..8, 11..17];
        let show = |range| {
            let spans = divide(bytes, range, &hits, Role::Text).into_iter();
            let text = spans.map(|(role, text)| match role {
                Role::Hit => format!("<{text}>"),
                _ => text,
            });
            text.collect::<String>()
        };
        assert_eq!(show(0..bytes.len()), "a\\x1b<needle>\\xffz <needle>");
        assert_eq!(show(4..13), "<edle>\\xffz <ne>");
        assert_eq!(show(8..11), "\\xffz ");
    }

    #[test]
    fn characters_are_not_halved() {
        let bytes = "a€b".as_bytes();
        assert_eq!(
            [0, 1, 2, 3, 4, 5].map(|at| floor_char(bytes, at)),
            [0, 1, 1, 1, 4, 5]
        );
        assert_eq!(floor_char(&[0x80; 8], 6), 6);
    }
}
