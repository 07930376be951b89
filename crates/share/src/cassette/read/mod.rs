//! Lines as what happened.
//!
//! ```text
//!  file ─▶ lines ─▶ a line that can be held ─▶ fields ─▶ taking ─▶ Entry, Entry, …
//!            └────▶ a longer one: its beginning is read, its bytes pass by ──┘
//! ```
//!
//! Whoever reads gets one [`Entry`] after the other, and holds none of them. Nothing in a file can
//! make it fail but the kernel: what cannot be read is a [`Fault`] among the entries.

mod fields;
mod frame;
mod giving;
mod lines;
mod long;
mod seen;
mod taking;
mod times;

pub(super) use fields::is_known;

use super::fault::quoted;
use super::header::{Header, HeaderError};
use super::{Fault, FaultKind, start};
use fields::Beside;
use giving::Giving;
use lines::{Line, Lines};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::{EventKind, ProcessContext};
use mcpreel_trace::frame::StreamId;
use mcpreel_wire::json::{Document, Reason};
use std::io::{self, Read, Seek};
use taking::Taking;

/// Bytes of a file that are looked at to tell whether it is a cassette.
const LOOKED_AT: usize = 64 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Something that happened, or something that is wrong with the file.
#[derive(Debug)]
pub enum Entry<'a> {
    /// Bytes of a stream. Those of a frame come in pieces if they are many, or if its first byte
    /// came before the others.
    Chunk {
        stream: StreamId,
        t: Moment,
        bytes: &'a [u8],
    },
    /// The frame whose bytes were given last has no newline at its end.
    LineEnd {
        stream: StreamId,
        t: Moment,
    },
    /// Bytes of a stream that are not there. The line that they interrupt ends.
    Gap {
        stream: StreamId,
        t: Moment,
        bytes: u64,
        reason: Option<String>,
    },
    Event {
        t: Moment,
        kind: EventKind,
    },
    End {
        t: Moment,
    },
    Fault(Fault),
}

#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is none, or of a newer version.
    #[error(transparent)]
    Header(#[from] HeaderError),
    #[error("could not be read")]
    Io(#[from] io::Error),
}

/// Whether a file that begins with `bytes` is a cassette: its first line has the key `cassette`.
/// So much is enough to tell: [`LOOKED_AT`].
fn begins_one(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let end = memchr::memchr(b'\n', bytes).unwrap_or(bytes.len());
    let (document, _) = Document::read_prefix(&bytes[..end], usize::MAX);
    document.is_some_and(|document| document.root().get("cassette").is_some())
}

/// Whether what `file` begins with is a cassette.
pub fn is_cassette(file: &mut impl Read) -> io::Result<bool> {
    let mut bytes = Vec::new();
    file.take(LOOKED_AT as u64).read_to_end(&mut bytes)?;
    Ok(begins_one(&bytes))
}

/// Reads a cassette from its beginning to its end.
#[derive(Debug)]
pub struct Reader<F> {
    lines: Lines<F>,
    header: Header,
    context: ProcessContext,
    faults: Vec<Fault>,
    /// The number of the line of the start event, and what nobody knows of it.
    start: Option<(u64, Beside)>,
    /// A line that was read and not taken.
    ahead: Option<Line>,
    taking: Taking,
}

/// What is wrong with a header, of which these keys have values that they should not have.
fn of_header(header: &Header, odd: &[String]) -> Vec<Fault> {
    let more = header.more.iter().map(|(key, _)| key);
    let unknown = more.filter(|key| !odd.contains(key));
    let faults = unknown.map(|key| FaultKind::HeaderKey(quoted(key)));
    let faults = faults.chain(odd.iter().map(|key| FaultKind::HeaderValue(quoted(key))));
    faults.map(|kind| Fault { line: 1, kind }).collect()
}

impl<F: Read + Seek> Reader<F> {
    /// Begins with what stands at the beginning of `file`.
    pub fn new(file: F) -> Result<Self, ReadError> {
        let mut lines = Lines::new(file);
        let first = lines.next()?.ok_or(HeaderError::NoVersion)?;
        if !first.is_held {
            let bytes = first.len();
            return Err(HeaderError::TooLong { bytes }.into());
        }
        let bytes = lines.held();
        let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        let (header, odd) = Header::parse(bytes)?;
        let mut ahead = lines.next()?;
        while ahead.is_some() && lines.is_blank() {
            ahead = lines.next()?;
        }
        let held = ahead.as_ref().is_some_and(|line| line.is_held);
        let start = held.then(|| fields::start(lines.held())).flatten();
        let ahead = ahead.filter(|_| start.is_none());
        let (event, beside) = start.unzip();
        Ok(Self {
            context: start::context(&header, event),
            faults: of_header(&header, &odd),
            taking: Taking::new(header.selection.is_some()),
            header,
            start: beside.map(|beside| (lines.number(), beside)),
            ahead,
            lines,
        })
    }

    pub fn header(&self) -> &Header {
        &self.header
    }

    /// What is known of the process; an id and perhaps a name are missing.
    pub fn context(&self) -> &ProcessContext {
        &self.context
    }

    /// Whether frames that were given so far have other numbers in the file than one after the
    /// other from 1.
    pub fn is_renumbered(&self) -> bool {
        self.taking.is_renumbered()
    }

    /// How many bytes of the file have been read.
    pub fn position(&self) -> u64 {
        self.lines.position()
    }

    /// Gives what comes next to `take`: what one line holds. `false` at the end.
    pub fn next<E: From<ReadError>>(
        &mut self,
        take: &mut dyn FnMut(Entry<'_>) -> Result<(), E>,
    ) -> Result<bool, E> {
        for fault in self.faults.drain(..) {
            take(Entry::Fault(fault))?;
        }
        if let Some((line, beside)) = self.start.take() {
            self.taking.start(beside, &mut Giving::of(line, take))?;
        }
        let line = match self.ahead.take() {
            Some(line) => Some(line),
            None => self.lines.next().map_err(ReadError::from)?,
        };
        let mut out = Giving::of(self.lines.number(), take);
        match line {
            None => self.taking.end_of_file(&mut out).map(|()| false),
            Some(line) => self.line(&line, &mut out),
        }
    }

    fn line<E: From<ReadError>>(
        &mut self,
        line: &Line,
        out: &mut Giving<'_, E>,
    ) -> Result<bool, E> {
        if !line.is_held {
            let bytes = line.len();
            return self.long(line, FaultKind::TooLong { bytes }, out);
        }
        if self.lines.is_blank() {
            return Ok(true);
        }
        let error = match Document::parse(self.lines.held()) {
            Ok(document) => return self.taking.line(document.root(), out),
            Err(error) => error,
        };
        let fault = FaultKind::Syntax {
            column: error.offset + 1,
            reason: error.reason.as_str(),
        };
        // What is too deep for a line that is held may be the bytes of one that was not.
        if matches!(error.reason, Reason::TooDeep { .. } | Reason::Number) {
            return self.long(line, fault, out);
        }
        let is_cut = !line.is_ended;
        out.fault(if is_cut { FaultKind::Cut } else { fault })?;
        Ok(true)
    }

    /// Takes a line whose bytes cannot be held; tells `otherwise` where it is of another form.
    fn long<E: From<ReadError>>(
        &mut self,
        line: &Line,
        otherwise: FaultKind,
        out: &mut Giving<'_, E>,
    ) -> Result<bool, E> {
        let found = long::find(&mut self.lines, line)?;
        let Some(found) = found else {
            out.fault(otherwise)?;
            return Ok(true);
        };
        let document = Document::parse(&found.beginning);
        let frame = match document.as_ref().map(Document::root) {
            Ok(root) => self.taking.begin_long(root, out)?,
            Err(_) => None,
        };
        if let Some(mut frame) = frame {
            long::each_piece(&mut self.lines, &found, &mut |piece| {
                frame.piece(piece, out)
            })?;
            frame.end(found.newlines, out)?;
        }
        self.lines.go_to(line.end).map_err(ReadError::from)?;
        Ok(true)
    }
}
