//! What was replaced where, by which rule; never what it was.

use super::encodings::Layer;
use super::policy::{Policy, id};
use super::token;
use super::token::{Kind, Token};
use mcpreel_wire::json::Edits;
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;

/// Places that are told one by one; more are counted.
const MOST_PLACES: usize = 10_000;

/// Different tokens that are counted.
const MOST_TOKENS: usize = 200_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// In what is known of the process.
    Start,
    Frame(u64),
    /// In what happened after a frame.
    Event(u64),
    /// In the note or mark on a frame.
    Note(u64),
    /// In the note on the recording, or its name.
    Recording,
    /// In the filter that says what was selected.
    Filter,
    Line(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start => f.write_str("start"),
            Self::Frame(seq) => write!(f, "#{seq}"),
            Self::Event(seq) => write!(f, "event after #{seq}"),
            Self::Note(seq) => write!(f, "note on #{seq}"),
            Self::Recording => f.write_str("note"),
            Self::Filter => f.write_str("filter"),
            Self::Line(line) => write!(f, "line {line}"),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Replaced {
    #[serde(serialize_with = "shown")]
    pub place: Place,
    /// Where in it, as a path; empty where that is no JSON.
    pub path: Box<str>,
    /// The name that tells it, in a text.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub key: Box<str>,
    pub rule: Box<str>,
    #[serde(serialize_with = "shown")]
    pub token: Token,
}

fn shown<S: Serializer>(value: &impl fmt::Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Left {
    pub seq: u64,
    pub bytes: u64,
}

/// What was replaced where, by which rule.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// How often which rule found something.
    pub rules: BTreeMap<Box<str>, u64>,
    /// Where, one by one, as far as there is room.
    pub places: Vec<Replaced>,
    /// Frames that were left out, since they are too long to be looked through.
    pub left: Vec<Left>,
    /// Rules that a user has switched off.
    pub off: Vec<Box<str>>,
    /// Values that are too short to be looked for elsewhere.
    pub short: u64,
    /// Values that are too many, or too long, to be looked for elsewhere.
    pub beyond: u64,
    /// Marks and notes that are left out, since the frames that they are on are not there.
    pub unplaced: u64,
    tokens: BTreeSet<Token>,
}

impl Report {
    /// Something was replaced, at a path, with such a name in front of it.
    pub fn add(&mut self, place: Place, (path, key): (&str, &str), rule: &str, token: Token) {
        match self.rules.get_mut(rule) {
            Some(count) => *count += 1,
            None => drop(self.rules.insert(rule.into(), 1)),
        }
        if self.tokens.len() < MOST_TOKENS {
            self.tokens.insert(token);
        }
        if self.places.len() < MOST_PLACES {
            self.places.push(Replaced {
                place,
                path: path.into(),
                key: key.into(),
                rule: rule.into(),
                token,
            });
        }
    }

    pub fn hits(&self) -> u64 {
        self.rules.values().sum()
    }

    /// Whether something of the session is not there.
    pub fn lacks(&self) -> bool {
        !self.left.is_empty() || self.unplaced > 0
    }

    /// How many different values that were.
    pub fn values(&self) -> usize {
        self.tokens.len()
    }

    /// Places that are not told one by one.
    pub fn more(&self) -> u64 {
        self.hits() - self.places.len() as u64
    }

    /// The note that is kept in the redacted file: `{"rules":3,"hits":7}`.
    pub fn note(&self) -> String {
        let (rules, hits, left) = (self.rules.len(), self.hits(), self.left.len());
        let left = (left > 0).then(|| format!(",\"left_out\":{left}"));
        format!(
            "{{\"rules\":{rules},\"hits\":{hits}{}}}",
            left.unwrap_or_default()
        )
    }
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Report", 12)?;
        object.serialize_field("hits", &self.hits())?;
        object.serialize_field("values", &self.values())?;
        object.serialize_field("rules", &self.rules)?;
        object.serialize_field("places", &self.places)?;
        object.serialize_field("more_places", &self.more())?;
        object.serialize_field("left_out", &self.left)?;
        object.serialize_field("switched_off", &self.off)?;
        object.serialize_field("too_short_to_look_for", &self.short)?;
        object.serialize_field("too_many_to_look_for", &self.beyond)?;
        object.serialize_field("notes_on_no_frame", &self.unplaced)?;
        object.serialize_field("limits", super::LIMITS)?;
        object.end()
    }
}

// Something that is to be replaced.

/// Something that is to be replaced, and why.
#[derive(Clone, Debug, Default)]
pub(super) struct Hit {
    pub span: Range<usize>,
    pub rule: usize,
    /// The value that is replaced: equal values have equal tokens.
    pub value: Box<[u8]>,
    /// The token in its place, once it is known.
    pub token: Option<Token>,
    /// The decoded value, where the hit is encoded.
    pub plain: Option<Box<[u8]>>,
    /// The kind of what it is, or says.
    pub kind: Kind,
    /// How many strings of JSON lie around a number that becomes a string.
    pub quotes: Option<u32>,
    /// Where it stands in a message, as a path.
    pub path: Box<str>,
    /// The name that tells it in a text; empty where the path says it, or nothing does.
    pub key: Box<str>,
}

#[derive(Debug, Default)]
pub(super) struct Found {
    pub hits: Vec<Hit>,
    /// Decoded values of hits, which are secret wherever they appear.
    pub plain: Vec<(Box<[u8]>, Kind)>,
    /// The lines of private keys.
    pub keys: Vec<Vec<Box<[u8]>>>,
}

impl Hit {
    pub fn new(span: Range<usize>, rule: usize, value: Box<[u8]>) -> Self {
        Self {
            span,
            rule,
            value,
            ..Self::default()
        }
    }
}

impl Found {
    /// Adds a secret, unless a token stands there, its rule is off, or it is allowed.
    pub fn add(&mut self, policy: &Policy, text: &[u8], span: Range<usize>, rule: (usize, Kind)) {
        if !token::covers(text, &span) {
            let value = text[span.clone()].into();
            self.add_value(policy, span, value, rule);
        }
    }

    /// Adds a secret that is something else than the bytes at its place; whether that may be.
    pub fn add_value(
        &mut self,
        policy: &Policy,
        span: Range<usize>,
        value: Box<[u8]>,
        (rule, kind): (usize, Kind),
    ) -> bool {
        let is_off = rule <= id::PATH && policy.without.contains(policy.rule(rule));
        if span.is_empty() || is_off || policy.allow.contains(&value) {
            return false;
        }
        // Whoever knows a pair as base64 knows what is secret in it.
        let plain = super::encodings::secret_in(&value).map(Vec::into_boxed_slice);
        let plain = plain.filter(|plain| !policy.allow.contains(plain));
        self.hits.push(Hit {
            plain,
            kind,
            ..Hit::new(span, rule, value)
        });
        true
    }

    /// Puts what was found in a layer of a text, from `mark` on, where it stands in the text.
    pub fn place(&mut self, text: &[u8], layer: &Layer, mark: usize) {
        for hit in &mut self.hits[mark..] {
            hit.span = layer.place(hit.span.clone());
            let raw = &text[hit.span.clone()];
            if *raw != *hit.value {
                // It is another value where it stands.
                let plain = std::mem::replace(&mut hit.value, raw.into());
                self.plain.push((plain.clone(), hit.kind));
                hit.token = None;
                hit.plain.get_or_insert(plain);
            }
        }
    }

    pub fn clear(&mut self) {
        self.hits.clear();
        self.plain.clear();
        self.keys.clear();
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
        Hit::new(span, 0, Box::default())
    }

    #[test]
    fn placeholders_stay_whole() {
        let text = "home ‹home:1› \\u2039home:2\\u203a home".as_bytes();
        let homes = memchr::memmem::find_iter(text, "home").map(|at| hit(at..at + 4));
        let token = 5..5 + "‹home:1›".len();
        let across = [hit(2..token.start + 5), hit(token.start..token.end + 1)];
        let mut found = Found {
            hits: homes.chain(across).collect(),
            ..Found::default()
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
            ..Found::default()
        };
        found.settle();
        let spans: Vec<_> = found.hits.iter().map(|hit| hit.span.clone()).collect();
        assert_eq!(spans, [0..3, 4..9, 9..12, 12..13]);
    }
}
