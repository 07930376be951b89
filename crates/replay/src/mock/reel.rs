//! The bytes of recorded messages, read when they are served, with values in place of redacted
//! placeholders.

use mcpreel_redact::token::{self, spellings};
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::{Document, quoted};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Names of placeholders that are remembered: more could not be listed.
const MOST_NAMES: usize = 1000;

/// A message by its frame and its place in a batch. Small, because there are many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    seq: u32,
    pub part: u32,
}

impl Place {
    /// The message `part` of the frame `seq`.
    pub fn new(seq: Seq, part: u32) -> Self {
        let seq = u32::try_from(seq.0).unwrap_or(u32::MAX);
        Self { seq, part }
    }

    pub fn seq(self) -> Seq {
        Seq(u64::from(self.seq))
    }

    /// Reads what [`fmt::Display`] writes.
    pub fn parse(text: &str) -> Option<Self> {
        let (seq, part) = text.split_once('.')?;
        let place = Self {
            seq: seq.parse().ok()?,
            part: part.parse().ok()?,
        };
        (place.to_string() == text).then_some(place)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.seq, self.part)
    }
}

/// A recorded message, and the rest of its line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    pub before: Vec<u8>,
    /// The whole line, where it is no message.
    pub message: Vec<u8>,
    /// The rest of the line after the message, the end of the line included.
    pub after: Vec<u8>,
}

impl Said {
    /// A message of our own, on a line of its own.
    pub fn own(message: Vec<u8>) -> Self {
        Self {
            before: Vec::new(),
            message,
            after: b"\n".to_vec(),
        }
    }

    pub fn line(self) -> Vec<u8> {
        [self.before, self.message, self.after].concat()
    }
}

/// When the first and the last byte of a message came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct When {
    pub first: Moment,
    pub last: Moment,
}

/// A recording, with secrets filled in.
#[derive(Debug)]
pub struct Source {
    recording: Recording,
    secrets: Secrets,
}

impl Source {
    pub fn new(recording: Recording, secrets: Secrets) -> Self {
        Self { recording, secrets }
    }

    pub fn said(&self, place: Place) -> Result<Said, ReadError> {
        let raw = self.secrets.fill_bytes(self.recording.raw(place.seq())?);
        let (span, in_batch) = span(&raw, place.part);
        if in_batch {
            return Ok(Said::own(raw[span].to_vec()));
        }
        let mut after = raw[span.end..].to_vec();
        if !raw.ends_with(b"\n") {
            // The recorded stream ended there; ours goes on.
            after.push(b'\n');
        }
        Ok(Said {
            before: raw[..span.start].to_vec(),
            message: raw[span].to_vec(),
            after,
        })
    }

    /// When the message at `place` came; the start where there is none.
    pub fn when(&self, place: Place) -> Result<When, ReadError> {
        let head = self.recording.head(place.seq())?;
        Ok(head.map_or_else(When::default, |head| When {
            first: head.t_first,
            last: head.t_last,
        }))
    }
}

/// The place of the message `part` in a line, and whether that is within a batch.
fn span(raw: &[u8], part: u32) -> (Range<usize>, bool) {
    let text = raw.strip_prefix(BYTE_ORDER_MARK).unwrap_or(raw);
    let end = raw.len() - (text.len() - text.trim_ascii_end().len());
    let start = end - text.trim_ascii().len();
    if raw.get(start) != Some(&b'[') {
        return (start..end, false);
    }
    let document = Document::parse(&raw[start..end]).ok();
    let element = document.and_then(|document| Some(document.root().index(part as usize)?.span()));
    match element {
        Some(span) => (start + span.start..start + span.end, true),
        None => (start..end, false),
    }
}

/// The values of redacted placeholders, by name: `secret:1`.
#[derive(Clone, Debug, Default)]
pub struct Secrets(BTreeMap<String, String>);

impl Secrets {
    /// `value` stands for the placeholder `name`.
    pub fn bind(&mut self, name: String, value: String) {
        self.0.insert(name, value);
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Adds the names of the placeholders in `bytes` to `found`.
    pub fn find(bytes: &[u8], found: &mut BTreeSet<String>) {
        token::names_in(bytes, MOST_NAMES, found);
    }

    /// The `names` that have no value.
    pub fn lacks(&self, names: &BTreeSet<String>) -> Vec<String> {
        let unbound = names.iter().filter(|name| !self.0.contains_key(*name));
        unbound.cloned().collect()
    }

    /// JSON text with the values in place of their placeholders.
    fn fill<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut filled = Cow::Borrowed(text);
        for (name, value) in &self.0 {
            let json = quoted(value);
            for (open, close) in spellings() {
                let placeholder = format!("{open}{name}{close}");
                if filled.contains(&placeholder) {
                    let value = &json[1..json.len() - 1];
                    filled = Cow::Owned(filled.replace(&placeholder, value));
                }
            }
        }
        filled
    }

    /// The same for bytes; bytes that are not UTF-8 stay as they are.
    pub fn fill_bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        if self.0.is_empty() {
            return bytes;
        }
        match String::from_utf8(bytes) {
            Ok(text) => self.fill(&text).into_owned().into_bytes(),
            Err(error) => error.into_bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_told_from_what_surrounds_it() {
        for (line, part, message, in_batch) in [
            ("{}\n", 0, "{}", false),
            ("\u{feff} {\"a\":1} \r\n", 0, "{\"a\":1}", false),
            ("[{\"a\":1}, {\"b\":2}]\n", 1, "{\"b\":2}", true),
            ("[{}]\n", 7, "[{}]", false),
            ("[log] line\n", 0, "[log] line", false),
            ("\n", 0, "", false),
            ("{}", 0, "{}", false),
        ] {
            let (span, found) = span(line.as_bytes(), part);
            assert_eq!((&line[span], found), (message, in_batch), "{line:?}");
        }
    }

    #[test]
    fn a_value_is_filled_in_as_json() {
        let mut secrets = Secrets::default();
        secrets.bind("secret:1".into(), "a\"b\n".into());
        let filled =
            secrets.fill(r#"{"k":"<‹secret:1›>","l":"\u2039secret:1\u203a","m":"‹secret:2›"}"#);
        assert_eq!(filled, r#"{"k":"<a\"b\n>","l":"a\"b\n","m":"‹secret:2›"}"#);
        let names = BTreeSet::from(["secret:1".to_owned(), "secret:2".to_owned()]);
        assert_eq!(secrets.lacks(&names), ["secret:2"]);
        assert_eq!(secrets.fill_bytes(b"\xff".to_vec()), b"\xff");
    }
}
