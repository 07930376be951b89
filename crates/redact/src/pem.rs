//! Private keys: in one text, or in lines of which each is a frame.

use super::encodings::is_letter;
use super::extent::{leading, near};
use super::policy::id;
use super::text::Scan;
use super::token::Kind;

const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END";
const DASHES: &[u8] = b"-----";

/// Bytes between the beginning of the first line and what tells that it is a private key.
const HEADER: usize = 48;

/// Lines of a key; the largest RSA keys have some two hundred.
const MOST_LINES: usize = 512;

/// Shorter words are no line of a key, unless they are its last.
const LINE: usize = 8;

/// How far a text has been searched for keys, and whether in vain for the end of one.
#[derive(Debug, Default)]
pub(super) struct Passed {
    until: usize,
    has_no_end: bool,
}

/// Where the body of a key begins whose kind stands at `at`: after its first line.
fn body_at(text: &[u8], at: usize) -> Option<usize> {
    memchr::memmem::rfind(&text[at.saturating_sub(HEADER)..at], BEGIN)?;
    let dashes = memchr::memmem::find(near(text, at, HEADER), DASHES)?;
    Some(at + dashes + DASHES.len())
}

/// Finds the body of a key whose kind stands at `at`.
pub(super) fn find(scan: &mut Scan<'_>, at: usize) {
    let (text, passed) = (scan.text, &mut scan.pem);
    let Some(start) = body_at(text, at).filter(|start| *start > passed.until) else {
        return;
    };
    let rest = &text[start..];
    let end = (!passed.has_no_end).then(|| memchr::memmem::find(rest, END));
    let end = end.flatten();
    passed.has_no_end = end.is_none();
    let is_of_body =
        |byte: u8| is_letter(byte) || byte.is_ascii_whitespace() || b"=\\:,".contains(&byte);
    let end = start + end.unwrap_or_else(|| leading(rest, is_of_body));
    passed.until = end;
    // Without white space at its ends, spelled out or escaped.
    let words = words(&text[start..end]);
    let (Some((first, _)), Some((last, word))) = (words.first(), words.last()) else {
        return;
    };
    let value: Vec<u8> = words.iter().flat_map(|(_, word)| *word).copied().collect();
    if value.len() >= 2 * LINE {
        let body = start + first..start + last + word.len();
        let rule = (id::PEM, Kind::Secret);
        scan.found.add_value(scan.policy, body, value.into(), rule);
    }
}

/// The words of a body, which are its lines, and where each begins.
fn words(body: &[u8]) -> Vec<(usize, &[u8])> {
    let (mut words, mut start, mut at) = (Vec::new(), 0, 0);
    while at <= body.len() {
        let length = match &body[at..] {
            [b'\\', b'n' | b'r', ..] => 2,
            [byte, ..] if !byte.is_ascii_whitespace() => 0,
            _ => 1,
        };
        if length > 0 {
            words.extend((start < at).then(|| (start, &body[start..at])));
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
    let of_key = |byte: &u8| is_letter(*byte) || *byte == b'=';
    let is_one = !word.is_empty() && word.iter().all(of_key);
    let is_alone = word.len() == line.trim_ascii().len();
    (is_one && (is_alone || word.len() >= LINE)).then_some(word)
}

/// A header in a key, or the empty line after it.
fn is_header(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.is_empty() || line.starts_with(b"Proc-Type:") || line.starts_with(b"DEK-Info:")
}
