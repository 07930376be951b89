//! What is searched for.

use regex::bytes::{Regex, RegexBuilder};
use std::fmt::Write as _;
use std::ops::Range;

/// A match of a regular expression that is longer than this is not found where it lies across two
/// pieces of a frame over 1 MiB.
const REGEX_OVERLAP: usize = 64 * 1024;

/// A larger program is refused: it would search slowly, and is a mistake more often than not.
const REGEX_SIZE: usize = 4 * 1024 * 1024;

/// What is searched for. Without a capital letter in it, case is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// This text; it is also found as it stands in JSON strings, with its escapes.
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
    #[error("{message}")]
    Regex {
        /// What the parser says.
        message: String,
    },
}

/// A pattern, ready to be found.
#[derive(Debug)]
pub(super) struct Finder {
    bytes: Regex,
    text: Regex,
    overlap: usize,
}

impl Finder {
    pub fn new(pattern: &Pattern) -> Result<Self, PatternError> {
        let (bytes, text, overlap) = match pattern {
            Pattern::Literal(text) | Pattern::Regex(text) if text.is_empty() => {
                return Err(PatternError::Empty);
            }
            Pattern::Literal(text) => {
                let forms = forms(text);
                let longest = forms.iter().map(String::len).max().unwrap_or(0);
                let any: Vec<_> = forms.iter().map(|form| regex::escape(form)).collect();
                // A letter may have a form in the other case that is longer.
                (any.join("|"), regex::escape(text), longest * 4)
            }
            Pattern::Regex(text) => (text.clone(), text.clone(), REGEX_OVERLAP),
        };
        let (Pattern::Literal(typed) | Pattern::Regex(typed)) = pattern;
        let ignore_case = !typed.chars().any(char::is_uppercase);
        Ok(Self {
            bytes: compiled(&bytes, ignore_case)?,
            text: compiled(&text, ignore_case)?,
            overlap,
        })
    }

    /// Where the first match stands in the bytes of a frame.
    pub fn in_bytes(&self, bytes: &[u8]) -> Option<Range<u64>> {
        let found = self.bytes.find(bytes)?;
        Some(found.start() as u64..found.end() as u64)
    }

    pub fn in_text(&self, text: &str) -> bool {
        self.text.is_match(text.as_bytes())
    }

    /// Whether summaries may hold it where the bytes do not.
    #[expect(clippy::unused_self, reason = "patterns will differ in it")]
    pub fn may_be_in_a_summary(&self) -> bool {
        true
    }

    /// How many bytes two pieces of a frame have to share, so that no match is cut in two.
    pub fn overlap(&self) -> usize {
        self.overlap
    }
}

fn compiled(pattern: &str, ignore_case: bool) -> Result<Regex, PatternError> {
    RegexBuilder::new(pattern)
        .case_insensitive(ignore_case)
        .size_limit(REGEX_SIZE)
        .build()
        .map_err(|error| PatternError::Regex {
            message: error.to_string(),
        })
}

/// The text, and how it may stand in a JSON string: with what must be escaped, with slashes as
/// well, and with everything that is not ASCII.
fn forms(text: &str) -> Vec<String> {
    let escaped = inside_json(text);
    let slashes = escaped.replace('/', "\\/");
    let ascii = escaped.chars().fold(String::new(), |mut form, character| {
        if character.is_ascii() {
            form.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(form, "\\u{unit:04x}");
            }
        }
        form
    });
    let mut forms = vec![text.to_owned(), escaped, slashes, ascii];
    forms.dedup();
    forms
}

fn inside_json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}
