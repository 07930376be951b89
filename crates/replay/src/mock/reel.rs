//! The bytes of recorded messages, read when they are needed.

use super::index::Place;
use super::secrets::Secrets;
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_trace::clock::Moment;
use mcpreel_wire::json::Document;
use std::ops::Range;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// What stands before it on its line.
    pub before: Vec<u8>,
    /// Its bytes; of a line that is no message the line.
    pub message: Vec<u8>,
    /// What stands after it, the end of the line included.
    pub after: Vec<u8>,
    /// Whether it stands in a batch, so that it may be a part of one again.
    pub in_batch: bool,
}

impl Said {
    /// A message of our own, on a line of its own.
    pub fn own(message: Vec<u8>) -> Self {
        Self {
            before: Vec::new(),
            message,
            after: b"\n".to_vec(),
            in_batch: true,
        }
    }

    pub fn line(self) -> Vec<u8> {
        [self.before, self.message, self.after].concat()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct When {
    pub first: Moment,
    pub last: Moment,
}

/// Where recorded messages are read.
pub trait Reel {
    fn said(&mut self, place: Place) -> Result<Said, ReadError>;

    /// When the message at `place` came; at the start where there is none.
    fn when(&mut self, place: Place) -> Result<When, ReadError>;
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
}

impl Reel for Source {
    fn said(&mut self, place: Place) -> Result<Said, ReadError> {
        let raw = self.secrets.fill_bytes(self.recording.raw(place.seq())?);
        let (span, in_batch) = span(&raw, place.part);
        let (mut before, mut after) = (raw[..span.start].to_vec(), raw[span.end..].to_vec());
        if in_batch {
            (before, after) = (Vec::new(), b"\n".to_vec());
        } else if !raw.ends_with(b"\n") {
            // The stream ended there; ours goes on.
            after.push(b'\n');
        }
        Ok(Said {
            before,
            message: raw[span].to_vec(),
            after,
            in_batch,
        })
    }

    fn when(&mut self, place: Place) -> Result<When, ReadError> {
        let head = self.recording.head(place.seq())?;
        Ok(head.map_or_else(When::default, |head| When {
            first: head.t_first,
            last: head.t_last,
        }))
    }
}

/// Where the message `part` of a line stands, and whether that is within a batch.
fn span(raw: &[u8], part: u32) -> (Range<usize>, bool) {
    let text = raw.strip_prefix(BYTE_ORDER_MARK).unwrap_or(raw);
    let end = raw.len() - (text.len() - text.trim_ascii_end().len());
    let start = end - text.trim_ascii().len();
    if raw.get(start) != Some(&b'[') {
        return (start..end, false);
    }
    let text = &raw[start..end];
    let element = Document::parse(text).ok().and_then(|document| {
        let element = document.root().index(part as usize)?;
        Some(element.span())
    });
    match element {
        Some(span) => (start + span.start..start + span.end, true),
        None => (start..end, false),
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
            ("log line\n", 0, "log line", false),
            ("[log] line\n", 0, "[log] line", false),
            ("\n", 0, "", false),
            ("{}", 0, "{}", false),
        ] {
            let (span, found) = span(line.as_bytes(), part);
            assert_eq!((&line[span], found), (message, in_batch), "{line:?}");
        }
    }
}
