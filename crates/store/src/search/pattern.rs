//! What is searched for.

use mcpreel_trace::query::pattern;
use mcpreel_wire::mcp::summary;
use memchr::memmem;
use regex::bytes::Regex;
use std::cmp::Reverse;
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
    #[error("there is nothing to search for")]
    Empty,
    /// It is no regular expression, or too large a one.
    #[error("not a regular expression: {reason}")]
    Regex { reason: String },
    /// It is longer than a search can be.
    #[error("the text is too long to search for")]
    TooLong,
}

/// More words than this rule nothing out that these do not.
const MAX_WORDS: usize = 4;

#[derive(Clone, Debug)]
pub struct Finder {
    bytes: Regex,
    text: Regex,
    /// Stand in every message in which the text is, in its bytes or in its summary, unless they
    /// are written there with [`ESCAPE`]; the longest first.
    words: Vec<Regex>,
    overlap: usize,
}

/// What the JSON escapes of letters and digits of ASCII begin with.
const ESCAPE: &[u8] = br"\u00";

impl Finder {
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
                    words: Vec::new(),
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
            words: words(text, ignore_case)
                .into_iter()
                .filter_map(|word| pattern::contains(word, ignore_case))
                .collect(),
            overlap: text.chars().count() * LONGEST_FORM,
        })
    }

    /// Where it stands in the bytes of a message or in a text, to be marked there: `most` places
    /// at most, in order and apart from each other.
    pub fn places(&self, bytes: &[u8], most: usize) -> Vec<Range<usize>> {
        let found = self.bytes.find_iter(bytes).map(|found| found.range());
        found.filter(|place| !place.is_empty()).take(most).collect()
    }

    /// Where the first match stands in the bytes of a frame.
    pub(super) fn in_bytes(&self, bytes: &[u8]) -> Option<Range<u64>> {
        let found = self.bytes.find(bytes)?;
        Some(found.start() as u64..found.end() as u64)
    }

    /// Whether there are words that are looked for in the bytes instead of in summaries.
    pub(super) fn has_words(&self) -> bool {
        !self.words.is_empty()
    }

    /// Whether the pattern may be in the summary of a message with the bytes `raw`, or in them.
    pub(super) fn may_be_in_summary_of(&self, raw: &[u8]) -> bool {
        self.words.iter().all(|word| word.is_match(raw)) || memmem::find(raw, ESCAPE).is_some()
    }

    pub(super) fn in_text(&self, text: &str) -> bool {
        self.text.is_match(text.as_bytes())
    }

    /// How many bytes two pieces of a frame have to share, so that no match is cut in two.
    pub(super) fn overlap(&self) -> usize {
        self.overlap
    }
}

/// The words of `text` that cannot come into a summary but off the wire, the longest first. Digits
/// may be a count, and letters a part of what summaries say in words of their own. White space and
/// signs may be others on the wire.
fn words(text: &str, ignore_case: bool) -> Vec<&str> {
    // Beside letters of other alphabets, these two stand for more than two letters.
    let folds_widely = ignore_case && !text.is_ascii();
    let is_own = |word: &&str| {
        let lower = word.to_ascii_lowercase();
        let is_said = summary::WORDS.iter().any(|said| said.contains(&*lower));
        let is_wide = folds_widely && lower.contains(['k', 's']);
        word.len() > 1
            && word.bytes().any(|byte| byte.is_ascii_alphabetic())
            && !is_said
            && !is_wide
    };
    let words = text.split(|char: char| !char.is_ascii_alphanumeric());
    let mut own: Vec<_> = words.filter(is_own).collect();
    own.sort_by_key(|word| Reverse(word.len()));
    own.truncate(MAX_WORDS);
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_one_that_comes_off_the_wire_only() {
        let cases: [(&str, &[&str]); 8] = [
            ("no such text", &["such", "text", "no"]),
            ("14 tools", &[]),
            ("Tool error: quota", &["quota"]),
            ("ool err", &[]),
            ("-32602 Unknown", &["Unknown"]),
            ("kiosk é", &[]),
            ("Kiosk é", &["Kiosk"]),
            ("…", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(words(text, pattern::ignores_case(text)), expected, "{text}");
        }
    }
}
