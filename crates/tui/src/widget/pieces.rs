//! Text on one line in pieces, of which some are search hits.
//!
//! Hits are ranges of the bytes as they were on the wire; what is shown is escaped and therefore
//! longer. So the bytes are divided at the hits first and each part is escaped by itself.

use mcpreel_wire::text;
use std::ops::Range;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub text: String,
    pub hit: bool,
}

/// Ranges of bytes in which a search found something, in order and apart from each other.
pub type Hits<'a> = &'a [Range<usize>];

impl Piece {
    /// A piece that is no hit. `text` must be escaped.
    pub fn plain(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            hit: false,
        }
    }
}

/// The bytes `range` of `bytes`, escaped and divided at the hits.
pub fn divide(bytes: &[u8], range: Range<usize>, hits: Hits<'_>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut push = |range: Range<usize>, hit| {
        if let Some(part) = bytes.get(range).filter(|part| !part.is_empty()) {
            let text = text::escape_bytes(part).into_owned();
            pieces.push(Piece { text, hit });
        }
    };
    let mut at = range.start;
    let first = hits.partition_point(|hit| hit.end <= range.start);
    for hit in &hits[first..] {
        if hit.start >= range.end {
            break;
        }
        let (start, end) = (hit.start.max(at), hit.end.min(range.end));
        push(at..start, false);
        push(start..end, true);
        at = end.max(at);
    }
    push(at..range.end, false);
    pieces
}

pub fn width(pieces: &[Piece]) -> usize {
    pieces.iter().map(|piece| text::width(&piece.text)).sum()
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

    fn show(pieces: &[Piece]) -> String {
        let show = |piece: &Piece| {
            let (open, close) = if piece.hit { ("<", ">") } else { ("", "") };
            format!("{open}{}{close}", piece.text)
        };
        pieces.iter().map(show).collect()
    }

    #[test]
    fn hits_are_marked_where_they_stand_among_escapes() {
        let bytes = b"a\x1bneedle\xffz needle";
        let hits = [2..8, 11..17];
        assert_eq!(
            show(&divide(bytes, 0..bytes.len(), &hits)),
            "a\\x1b<needle>\\xffz <needle>"
        );
        assert_eq!(show(&divide(bytes, 4..13, &hits)), "<edle>\\xffz <ne>");
        assert_eq!(show(&divide(bytes, 8..11, &hits)), "\\xffz ");
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
