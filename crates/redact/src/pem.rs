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
    let lines = lines(&text[start..end]);
    let (Some((first, _)), Some((last, line))) = (lines.first(), lines.last()) else {
        return;
    };
    let body = start + first..start + last + line.len();
    let all: Vec<Box<[u8]>> = lines.iter().map(|(_, line)| (*line).into()).collect();
    let value = all.concat();
    let rule = (id::PEM, Kind::Secret);
    if value.len() >= 2 * LINE && scan.found.add_value(scan.policy, body, value.into(), rule) {
        scan.found.keys.push(all);
    }
}

/// What each line of a body has of the key, and where it begins.
fn lines(body: &[u8]) -> Vec<(usize, &[u8])> {
    let (mut lines, mut start, mut at) = (Vec::new(), 0, 0);
    while at <= body.len() {
        let length = match &body[at..] {
            [b'\\', b'n' | b'r', ..] => 2,
            [b'\n', ..] | [] => 1,
            _ => 0,
        };
        if length > 0 {
            let end = at.min(body.len());
            let line = line_of_key(&body[start..end]);
            let place = |line: &[u8]| body[start..end].trim_ascii_end().len() - line.len();
            lines.extend(line.map(|line| (start + place(line), line)));
            start = at + length;
        }
        at += length.max(1);
    }
    lines
}

/// The part of a key in a line: its last word, since a logger may write something in front.
pub(super) fn line_of_key(line: &[u8]) -> Option<&[u8]> {
    let word = line.trim_ascii().rsplit(u8::is_ascii_whitespace).next()?;
    let of_key = |byte: &u8| is_letter(*byte) || *byte == b'=';
    let is_one = !word.is_empty() && word.iter().all(of_key);
    let is_alone = word.len() == line.trim_ascii().len();
    (is_one && (is_alone || word.len() >= LINE)).then_some(word)
}
