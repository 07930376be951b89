//! Private keys: in one text, or in lines of which each is a frame.

use super::policy::{Policy, id};
use super::report::Found;
use super::token::Kind;
use std::ops::Range;

const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END";
const DASHES: &[u8] = b"-----";

/// Bytes between the beginning of the first line and what tells that it is a private key.
const HEADER: usize = 48;

/// Lines of a key; the largest RSA keys have some two hundred.
const MOST_LINES: usize = 512;

/// Shorter words are no line of a key, unless they are its last.
const LINE: usize = 8;

/// Whether a text has been searched for an end in vain.
#[derive(Debug, Default)]
pub(super) struct Scan {
    until: usize,
    has_no_end: bool,
}

/// Where the body of a key begins whose kind stands at `at`: after its first line.
fn body_at(text: &[u8], at: usize) -> Option<usize> {
    let near = at.saturating_sub(HEADER);
    memchr::memmem::rfind(&text[near..at], BEGIN)?;
    let after = &text[at..text.len().min(at + HEADER)];
    Some(at + memchr::memmem::find(after, DASHES)? + DASHES.len())
}

/// Finds the body of a key whose kind stands at `at`.
pub(super) fn find(policy: &Policy, text: &[u8], at: usize, scan: &mut Scan, found: &mut Found) {
    let Some(start) = body_at(text, at).filter(|start| *start > scan.until) else {
        return;
    };
    let rest = &text[start..];
    let end = if scan.has_no_end {
        None
    } else {
        memchr::memmem::find(rest, END)
    };
    scan.has_no_end |= end.is_none();
    let end = end.unwrap_or_else(|| {
        rest.iter()
            .position(|byte| !is_of_body(*byte))
            .unwrap_or(rest.len())
    });
    scan.until = start + end;
    let body = trimmed(text, start..start + end);
    let value = words(&text[body.clone()]).concat();
    if value.len() >= 2 * LINE {
        found.add_value(policy, body, value.into(), (id::PEM, Kind::Secret));
    }
}

fn is_of_body(byte: u8) -> bool {
    super::encodings::is_letter(byte)
        || byte.is_ascii_whitespace()
        || matches!(byte, b'=' | b'\\' | b':' | b',')
}

/// Without white space at its ends, spelled out or escaped.
fn trimmed(text: &[u8], span: Range<usize>) -> Range<usize> {
    let body = &text[span.clone()];
    let front = spaces(body.iter());
    let back = body.len() - body[front..].trim_ascii_end().len() - front;
    let kept = &body[front..body.len() - back];
    let escaped = kept
        .windows(2)
        .rev()
        .step_by(2)
        .take_while(|pair| is_escape(pair))
        .count()
        * 2;
    span.start + front..span.end - back - escaped.min(kept.len())
}

fn is_escape(pair: &[u8]) -> bool {
    matches!(pair, b"\\n" | b"\\r")
}

fn spaces<'b>(bytes: impl Iterator<Item = &'b u8>) -> usize {
    let (mut count, mut escaped) = (0, false);
    for byte in bytes {
        match byte {
            b'\\' if !escaped => escaped = true,
            b'n' | b'r' if escaped => escaped = false,
            byte if byte.is_ascii_whitespace() && !escaped => {}
            _ => return count - usize::from(escaped),
        }
        count += 1;
    }
    count
}

/// The words of a body, which are its lines.
pub(super) fn words(body: &[u8]) -> Vec<&[u8]> {
    let mut words = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while at <= body.len() {
        let length = match body.get(at..) {
            Some([b'\\', b'n' | b'r', ..]) => 2,
            Some([byte, ..]) if !byte.is_ascii_whitespace() => 0,
            _ => 1,
        };
        if length > 0 {
            words.extend(Some(&body[start..at]).filter(|word| !word.is_empty()));
            start = at + length;
        }
        at += length.max(1);
    }
    words
}

/// A key whose lines come one by one on a stream.
#[derive(Debug, Default)]
pub(super) struct Lines {
    open: Option<Vec<Box<[u8]>>>,
}

impl Lines {
    /// Takes the next line of the stream. Returns the lines of a key that has ended before or with
    /// it.
    pub fn push(&mut self, line: &[u8]) -> Option<Vec<Box<[u8]>>> {
        let begins = memchr::memmem::find(line, b"PRIVATE KEY").and_then(|at| body_at(line, at));
        let Some(mut lines) = self.open.take() else {
            let is_begun = begins.is_some_and(|at| line[at..].trim_ascii().is_empty());
            self.open = is_begun.then(Vec::new);
            return None;
        };
        let word = line_of_key(line).filter(|_| lines.len() < MOST_LINES);
        let ended = memchr::memmem::find(line, END).is_some();
        if ended || begins.is_some() || (word.is_none() && !is_header(line)) {
            self.open = begins.map(|_| Vec::new());
            return (!lines.is_empty()).then_some(lines);
        }
        lines.extend(word.map(Box::from));
        self.open = Some(lines);
        None
    }

    /// The lines of a key that has not ended.
    pub fn finish(&mut self) -> Option<Vec<Box<[u8]>>> {
        self.open.take().filter(|lines| !lines.is_empty())
    }
}

/// The part of a key in a line: its last word, since a logger may write something in front.
pub(super) fn line_of_key(line: &[u8]) -> Option<&[u8]> {
    let word = line.trim_ascii().rsplit(u8::is_ascii_whitespace).next()?;
    let is_one = !word.is_empty()
        && word
            .iter()
            .all(|byte| super::encodings::is_letter(*byte) || *byte == b'=');
    let is_alone = word.len() == line.trim_ascii().len();
    (is_one && (is_alone || word.len() >= LINE)).then_some(word)
}

/// A header in a key, or the empty line after it.
fn is_header(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.is_empty() || line.starts_with(b"Proc-Type:") || line.starts_with(b"DEK-Info:")
}
