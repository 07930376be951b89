//! Lines that are too long to be held: the keys before the bytes are read, the bytes pass by.
//!
//! They must be in the form in which they are written: `raw` or `b64` is the last key. Nothing of
//! such a line is given away before all of it was looked at.

use super::ReadError;
use super::lines::{Line, Lines, filled};
use crate::cassette::check::Check;
use base64::engine::general_purpose::STANDARD as BASE64;
use base64::read::DecoderReader;
use mcpreel_wire::json::{Document, Kind};
use std::io::{self, BufRead, Read, Seek};
use std::ops::Range;

/// So many bytes at the end of a line are looked at: white space, and what closes the line.
const ENDING: u64 = 64;

/// Bytes that are decoded at once.
const PIECE: usize = 64 * 1024;

/// Bytes of a line that are looked through for the last key.
const BEGINNING: usize = 4 * 1024;

#[derive(Debug)]
pub(super) struct Found {
    /// The members before the bytes, as an object.
    pub beginning: Vec<u8>,
    pub newlines: u64,
    body: Body,
    range: Range<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Body {
    /// As they are, without their newline.
    Raw,
    Coded,
}

/// What `line` holds, if it is in this form and whole.
pub(super) fn find<F: Read + Seek>(
    lines: &mut Lines<F>,
    line: &Line,
) -> Result<Option<Found>, ReadError> {
    let Some((beginning, body, at)) = beginning(lines.held()) else {
        return Ok(None);
    };
    let Some(end) = end(lines, line)? else {
        return Ok(None);
    };
    let range = line.start + at as u64..end;
    let found = match body {
        Body::Raw => is_json(lines, &range)?.then_some((range, 1)),
        Body::Coded => coded(lines, &range)?,
    };
    lines.go_to(line.end)?;
    Ok(found.map(|(range, newlines)| Found {
        beginning,
        newlines,
        body,
        range,
    }))
}

/// The members before the last key as an object, how the bytes are written, and where they begin.
fn beginning(line: &[u8]) -> Option<(Vec<u8>, Body, usize)> {
    let line = &line[..line.len().min(BEGINNING)];
    let keys = [(&b"\"raw\":"[..], Body::Raw), (b"\"b64\":", Body::Coded)];
    let places = keys.into_iter().flat_map(|(key, body)| {
        memchr::memmem::find_iter(line, key).map(move |at| (at, at + key.len(), body))
    });
    // What looks like a key may stand within a text: then what is before it is no object.
    places.into_iter().find_map(|(at, after, body)| {
        let before = line[..at].trim_ascii_end();
        let before = before.strip_suffix(b",").unwrap_or(before);
        let beginning = [before, b"}"].concat();
        let is_object = Document::parse(&beginning)
            .is_ok_and(|document| document.root().kind() == Kind::Object);
        let blank = line[after..]
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace());
        let after = after + blank.count();
        is_object.then_some((beginning, body, after))
    })
}

/// Where the bytes of `line` end, if nothing but a brace follows them.
fn end<F: Read + Seek>(lines: &mut Lines<F>, line: &Line) -> io::Result<Option<u64>> {
    let from = line.end.saturating_sub(ENDING).max(line.start);
    let mut ending = Vec::new();
    lines.at(&(from..line.end))?.read_to_end(&mut ending)?;
    let text = ending.trim_ascii_end().strip_suffix(b"}");
    Ok(text.map(|text| from + text.trim_ascii_end().len() as u64))
}

fn is_json<F: Read + Seek>(lines: &mut Lines<F>, range: &Range<u64>) -> io::Result<bool> {
    let mut check = Check::default();
    let mut bytes = lines.at(range)?;
    each_filled(&mut bytes, &mut |piece| {
        check.push(piece);
        Ok::<_, ReadError>(())
    })
    .map_err(into_io)?;
    Ok(check.finish().is_ok())
}

/// Where the text between the quotes stands, if it is base64, and how many newlines it means.
fn coded<F: Read + Seek>(
    lines: &mut Lines<F>,
    range: &Range<u64>,
) -> io::Result<Option<(Range<u64>, u64)>> {
    let inner = range.start + 1..range.end.saturating_sub(1);
    for quote in [range.start, inner.end] {
        let mut byte = Vec::new();
        lines.at(&(quote..quote + 1))?.read_to_end(&mut byte)?;
        if byte != b"\"" || inner.end < inner.start {
            return Ok(None);
        }
    }
    let mut newlines = 0;
    let decoded = each_decoded(lines.at(&inner)?, &mut |piece| {
        newlines += memchr::memchr_iter(b'\n', piece).count() as u64;
        Ok::<_, ReadError>(())
    });
    match decoded.map_err(into_io) {
        Ok(()) => Ok(Some((inner, newlines))),
        Err(error) if is_no_base64(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Gives the bytes to `take`, piece by piece.
pub(super) fn each_piece<F: Read + Seek, E: From<ReadError>>(
    lines: &mut Lines<F>,
    found: &Found,
    take: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut bytes = lines.at(&found.range).map_err(ReadError::from)?;
    match found.body {
        Body::Raw => {
            each_filled(&mut bytes, take)?;
            take(b"\n")
        }
        Body::Coded => each_decoded(bytes, take),
    }
}

fn each_filled<E: From<ReadError>>(
    bytes: &mut impl BufRead,
    take: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    loop {
        let piece = filled(bytes).map_err(ReadError::from)?;
        if piece.is_empty() {
            return Ok(());
        }
        take(piece)?;
        let used = piece.len();
        bytes.consume(used);
    }
}

fn each_decoded<E: From<ReadError>>(
    coded: impl Read,
    take: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut decoder = DecoderReader::new(coded, &BASE64);
    let mut buffer = vec![0; PIECE];
    loop {
        let read = decoder.read(&mut buffer).map_err(ReadError::from)?;
        if read == 0 {
            return Ok(());
        }
        take(&buffer[..read])?;
    }
}

fn is_no_base64(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::InvalidData
}

/// What the kernel refused; nothing else happens where only bytes are read.
fn into_io(error: ReadError) -> io::Error {
    match error {
        ReadError::Io(error) => error,
        ReadError::Header(error) => io::Error::other(error),
    }
}
