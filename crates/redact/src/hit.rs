//! Something that is to be replaced.

use super::policy::id;
use super::token::{self, Kind, Token};
use mcpreel_wire::json::Edits;
use std::ops::Range;

/// Something that is to be replaced, and why.
#[derive(Clone, Debug)]
pub(super) struct Hit {
    pub span: Range<usize>,
    pub rule: usize,
    /// What is replaced: equal values have equal tokens.
    pub value: Box<[u8]>,
    /// What stands in its place, where that is known.
    pub token: Option<Token>,
    /// What it says when it is decoded, where it stands in a code.
    pub plain: Option<Box<[u8]>>,
    /// The kind of what it is, or says.
    pub kind: Kind,
    /// Of a value that becomes a string: in how many strings it stands.
    pub quotes: Option<u32>,
    /// Where it stands in a message, as a path.
    pub path: Box<str>,
    /// The name that tells it in a text; empty where the path says it, or nothing does.
    pub key: Box<str>,
}

#[derive(Debug, Default)]
pub(super) struct Found {
    pub hits: Vec<Hit>,
    /// What some of it says when it is decoded: secret wherever it appears.
    pub plain: Vec<(Box<[u8]>, Kind)>,
}

impl Found {
    pub fn clear(&mut self) {
        self.hits.clear();
        self.plain.clear();
    }

    /// Takes out of the hits from `mark` on what is a part of a placeholder that stands in the text:
    /// a word that is secret elsewhere may be one of those that placeholders are made of.
    pub fn spare(&mut self, mark: usize, text: &[u8]) {
        if self.hits.len() == mark || !token::may_be_in(text) {
            return;
        }
        let places = token::places(text);
        // The placeholder within which something begins or ends.
        let around = |at: usize| {
            let next = places.partition_point(|place| place.end <= at);
            places.get(next).filter(|place| place.start < at)
        };
        for mut hit in self.hits.split_off(mark) {
            let start = around(hit.span.start).map_or(hit.span.start, |place| place.end);
            let end = around(hit.span.end).map_or(hit.span.end, |place| place.start);
            if start >= end {
                continue;
            }
            if (start..end) != hit.span {
                hit.span = start..end;
                hit.value = text[start..end].into();
            }
            self.hits.push(hit);
        }
    }

    /// Puts hits in order, so that none overlaps another: of two that begin together the longer
    /// one counts, and what is left of one that begins within another.
    pub fn settle(&mut self) {
        self.hits.sort_by(|one, other| {
            // Of two that say the same the more telling rule is named, and what they say if they
            // stand in a code.
            let rank = |hit: &Hit| match hit.rule {
                id::KNOWN => 2,
                ..=id::PATH => 1,
                _ => 0,
            };
            let key = |hit: &Hit| {
                let length = usize::MAX - hit.span.end;
                (hit.span.start, length, rank(hit), hit.plain.is_none())
            };
            key(one).cmp(&key(other))
        });
        let mut end = 0;
        self.hits.retain_mut(|hit| {
            if hit.span.end <= end || hit.span.is_empty() {
                return false;
            }
            hit.span.start = hit.span.start.max(end);
            end = hit.span.end;
            true
        });
    }
}

/// Puts the token of a hit in its place.
pub(super) fn put(edits: &mut Edits, hit: &Hit, token: Token) {
    let text = match hit.quotes {
        None => token.to_string(),
        Some(around) => {
            // A quote in a string in a string is escaped for each of them.
            let escapes = "\\".repeat((1 << around.min(8)) - 1);
            format!("{escapes}\"{token}{escapes}\"")
        }
    };
    edits.put(hit.span.clone(), text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(span: Range<usize>) -> Hit {
        Hit {
            span,
            rule: 0,
            value: Box::default(),
            token: None,
            plain: None,
            kind: Kind::Secret,
            quotes: None,
            path: "".into(),
            key: "".into(),
        }
    }

    #[test]
    fn placeholders_stay_whole() {
        let text = "home ‹home:1› \\u2039home:2\\u203a home".as_bytes();
        let homes = memchr::memmem::find_iter(text, "home").map(|at| hit(at..at + 4));
        let token = 5..5 + "‹home:1›".len();
        let across = [hit(2..token.start + 5), hit(token.start..token.end + 1)];
        let mut found = Found {
            hits: homes.chain(across).collect(),
            plain: Vec::new(),
        };
        found.spare(1, text);
        let spans: Vec<_> = found.hits.iter().map(|hit| hit.span.clone()).collect();
        let last = text.len() - 4..text.len();
        assert_eq!(spans, [0..4, last, 2..5, token.start..token.end + 1]);
        assert_eq!(*found.hits[2].value, *b"me ");
    }

    #[test]
    fn nothing_is_left_of_hits_that_overlap() {
        let spans = [4..9, 0..3, 4..6, 8..12, 20..20, 5..6, 12..13];
        let mut found = Found {
            hits: spans.map(hit).to_vec(),
            plain: Vec::new(),
        };
        found.settle();
        let spans: Vec<_> = found.hits.iter().map(|hit| hit.span.clone()).collect();
        assert_eq!(spans, [0..3, 4..9, 9..12, 12..13]);
    }
}
