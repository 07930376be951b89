//! What was replaced where, by which rule; never what it was.

use super::token::Token;
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

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
    /// Rules that a user has switched off, and how many places each would have replaced.
    pub off: BTreeMap<Box<str>, u64>,
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

    /// The same of what stands in another report.
    pub fn take(&mut self, other: &Replaced) {
        let Replaced {
            place,
            path,
            key,
            rule,
            token,
        } = other;
        self.add(*place, (path, key), rule, *token);
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

    /// What is kept of it beside what was redacted: `{"rules":3,"hits":7}`.
    pub fn note(&self) -> String {
        let (rules, hits) = (self.rules.len(), self.hits());
        if self.left.is_empty() {
            return format!("{{\"rules\":{rules},\"hits\":{hits}}}");
        }
        format!(
            "{{\"rules\":{rules},\"hits\":{hits},\"left_out\":{}}}",
            self.left.len()
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
