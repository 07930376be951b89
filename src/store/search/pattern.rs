//! What is searched for.

use crate::query::eval::pattern;
use regex::bytes::Regex;
use std::ops::Range;

/// A match of a regular expression that is longer than this is not found where it lies across two
/// pieces of a frame over 1 MiB.
const REGEX_OVERLAP: usize = 64 * 1024;

/// As many bytes may a character take in JSON: two escapes of six.
const LONGEST_FORM: usize = 12;

/// What is searched for. Without a capital letter in it, case is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// This text; it is also found as it may stand in JSON strings, with escapes.
    Literal(String),
    /// A regular expression over the bytes as they were on the wire.
    Regex(String),
}

/// Why a pattern cannot be searched for.
#[derive(Debug, thiserror::Error)]
pub enum PatternError {
    /// There is nothing in it.
    #[error("there is nothing to search for")]
    Empty,
    /// It is no regular expression, or too large a one.
    #[error("not a regular expression: {reason}")]
    Regex {
        /// What the parser says.
        reason: String,
    },
    /// It is longer than a search can be.
    #[error("the text is too long to search for")]
    TooLong,
}

/// A pattern, ready to be found.
#[derive(Clone, Debug)]
pub struct Finder {
    bytes: Regex,
    text: Regex,
    overlap: usize,
}

impl Finder {
    /// Makes `pattern` ready.
    pub fn new(pattern: &Pattern) -> Result<Self, PatternError> {
        match pattern {
            Pattern::Literal(text) | Pattern::Regex(text) if text.is_empty() => {
                Err(PatternError::Empty)
            }
            Pattern::Literal(text) => Self::literal(text).ok_or(PatternError::TooLong),
            Pattern::Regex(text) => match pattern::regex(text) {
                Ok(regex) => Ok(Self {
                    bytes: regex.clone(),
                    text: regex,
                    overlap: REGEX_OVERLAP,
                }),
                Err(error) => Err(PatternError::Regex {
                    reason: pattern::reason(&error),
                }),
            },
        }
    }

    fn literal(text: &str) -> Option<Self> {
        let ignore_case = pattern::ignores_case(text);
        Some(Self {
            bytes: pattern::in_json(text, ignore_case)?,
            text: pattern::contains(text, ignore_case)?,
            overlap: text.chars().count() * LONGEST_FORM,
        })
    }

    /// Where it stands in the bytes of a message or in a text, to be marked there: `most` places
    /// at most, in order and apart from each other.
    #[must_use]
    pub fn places(&self, bytes: &[u8], most: usize) -> Vec<Range<usize>> {
        let found = self.bytes.find_iter(bytes).map(|found| found.range());
        found.filter(|place| !place.is_empty()).take(most).collect()
    }

    /// Where the first match stands in the bytes of a frame.
    pub(super) fn in_bytes(&self, bytes: &[u8]) -> Option<Range<u64>> {
        let found = self.bytes.find(bytes)?;
        Some(found.start() as u64..found.end() as u64)
    }

    pub(super) fn in_text(&self, text: &str) -> bool {
        self.text.is_match(text.as_bytes())
    }

    /// How many bytes two pieces of a frame have to share, so that no match is cut in two.
    pub(super) fn overlap(&self) -> usize {
        self.overlap
    }
}
