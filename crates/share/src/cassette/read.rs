//! The lines of a cassette as what happened.
//!
//! Nothing in a file can make reading fail but the file system: a line that cannot be read is a
//! [`Fault`] among the entries, and the next one is read.

use super::US;
use super::carrier::Carrier;
use super::cassette_header::{self, Header, HeaderError};
use crate::import::BYTE_ORDER_MARK;
use crate::lines::Lines;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::{EventKind, ProcessContext};
use mcpreel_trace::frame::{FrameHead, Seq, StreamId};
use mcpreel_wire::json::Document;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Read};

/// Bytes of a file that are looked at to tell whether it is a cassette.
const LOOKED_AT: u64 = 64 * 1024;

/// A longer line is passed over: no frame that is written verbatim makes one.
const MAX_LINE: u64 = 128 * 1024 * 1024;

/// The last moment that there is, microseconds: nanoseconds of it have room in a recording.
const MAX_US: u64 = i64::MAX as u64 / US;

/// More bytes cannot be missing together: offsets have room for no more.
const MAX_MISSING: u64 = 1 << 60;

/// Characters that are kept of an event that this version does not know.
const MAX_UNKNOWN: usize = 4096;

/// Something that happened, or something that is wrong with the file.
#[derive(Debug, PartialEq)]
pub enum Entry {
    /// Bytes of a stream.
    Chunk {
        stream: StreamId,
        t: Moment,
        bytes: Vec<u8>,
    },
    /// A frame of a connection over the network, as it was decoded.
    Carried {
        head: FrameHead,
        bytes: Vec<u8>,
    },
    /// The frame whose bytes came last has no newline at its end.
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

/// A fault of a line. Text in it is as it stands in the file, not yet escaped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The number of the line, from 1.
    pub line: u64,
    pub message: String,
    /// Whether the line is passed over.
    pub is_loss: bool,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let loss = if self.is_loss {
            "; the line is skipped"
        } else {
            ""
        };
        write!(f, "line {}: {}{loss}", self.line, self.message)
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error(transparent)]
    Header(#[from] HeaderError),
    #[error("could not be read")]
    Io(#[from] io::Error),
}

/// Whether `file` begins with a cassette: its first line has the key `cassette`.
pub fn is_cassette(file: &mut impl Read) -> io::Result<bool> {
    let mut bytes = Vec::new();
    file.take(LOOKED_AT).read_to_end(&mut bytes)?;
    let line = without_mark(&bytes).split(|byte| *byte == b'\n').next();
    // A long header may be cut off here.
    let (document, _) = Document::read_prefix(line.unwrap_or_default(), usize::MAX);
    Ok(document.is_some_and(|document| document.root().get("cassette").is_some()))
}

fn without_mark(line: &[u8]) -> &[u8] {
    line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line)
}

/// A line after the header. Keys that are derived or unknown are not read.
#[derive(Deserialize)]
struct Line<'l> {
    cassette: Option<IgnoredAny>,
    n: Option<u64>,
    t: Option<u64>,
    t0: Option<u64>,
    c: Option<Carrier>,
    #[serde(borrow)]
    d: Option<Text<'l>>,
    #[serde(borrow)]
    k: Option<Text<'l>>,
    #[serde(borrow, default, deserialize_with = "present")]
    raw: Option<&'l RawValue>,
    #[serde(borrow)]
    b64: Option<Text<'l>>,
    #[serde(borrow)]
    text: Option<Text<'l>>,
    #[serde(borrow, default, deserialize_with = "present")]
    event: Option<&'l RawValue>,
}

/// A text that is not copied unless it has escapes.
#[derive(Deserialize)]
struct Text<'l>(#[serde(borrow)] Cow<'l, str>);

/// A value that is there, even if it is null.
fn present<'l, D: Deserializer<'l>>(value: D) -> Result<Option<&'l RawValue>, D::Error> {
    <&RawValue>::deserialize(value).map(Some)
}

impl Line<'_> {
    /// The stream of a frame, and its bytes: at least one.
    fn frame(&self) -> Result<(StreamId, Vec<u8>), String> {
        let bytes = match (self.raw, &self.b64, &self.text) {
            (Some(raw), ..) if self.c.is_some() => raw.get().as_bytes().to_vec(),
            (Some(raw), ..) => [raw.get().as_bytes(), b"\n"].concat(),
            (None, Some(Text(coded)), _) => {
                let bytes = BASE64.decode(&**coded);
                bytes.map_err(|_| "its `b64` is no base64")?
            }
            (None, None, Some(Text(text))) => text.as_bytes().to_vec(),
            (None, None, None) => Vec::new(),
        };
        if bytes.is_empty() && self.c.is_none() {
            return Err("neither `raw` nor `b64` nor `text`".to_owned());
        }
        let Text(name) = self.d.as_ref().ok_or("no direction (`d`)")?;
        if let Some((carrier, direction)) = self.c.zip(name.parse().ok()) {
            return Ok((carrier.stream(direction), bytes));
        }
        let mut streams = StreamId::STDIO.into_iter();
        let stream = streams.find(|stream| stream.as_str() == name);
        let other = || format!("`d` is neither c2s nor s2c nor stderr but `{name:.40}`");
        Ok((stream.ok_or_else(other)?, bytes))
    }
}

/// Reads a cassette from its beginning to its end, line after line.
#[derive(Debug)]
pub struct Reader<F> {
    lines: Lines<F>,
    header: Header,
    context: ProcessContext,
    /// The entries of the line that was read last.
    ready: VecDeque<Entry>,
    /// When the last line was, microseconds.
    last_us: u64,
    /// When the last frame of each stream was complete.
    streams_us: [u64; 3],
    missing: u64,
    frames: u64,
    is_renumbered: bool,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No line but the header was read: the next one may be the start event.
    Begun,
    GoesOn,
    /// The line that says that the file is whole was read.
    Ended,
    /// The reader stops here.
    Over,
}

impl<F: Read> Reader<F> {
    /// Reads the header and the start event.
    pub fn new(file: F) -> Result<Self, ReadError> {
        let mut lines = Lines::of(file, MAX_LINE);
        lines.advance()?;
        let first = lines.held().ok_or(HeaderError::NoVersion)?;
        if first.is_empty() {
            return Err(HeaderError::NoVersion.into());
        }
        let header = Header::parse(without_mark(first))?;
        let mut reader = Self {
            lines,
            context: header.context(None),
            header,
            ready: VecDeque::new(),
            last_us: 0,
            streams_us: [0; 3],
            missing: 0,
            frames: 0,
            is_renumbered: false,
            state: State::Begun,
        };
        while reader.state == State::Begun {
            reader.read_line()?;
        }
        Ok(reader)
    }

    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The process context; an id and perhaps a name are missing.
    pub fn context(&self) -> &ProcessContext {
        &self.context
    }

    /// Whether frames so far have other numbers in the file than one after the other from 1.
    pub fn is_renumbered(&self) -> bool {
        self.is_renumbered
    }

    /// Bytes of the file that have been read.
    pub fn position(&self) -> u64 {
        self.lines.position()
    }

    /// The next entry; `None` at the end.
    pub fn next_entry(&mut self) -> Result<Option<Entry>, ReadError> {
        while self.ready.is_empty() && self.state != State::Over {
            self.read_line()?;
        }
        Ok(self.ready.pop_front())
    }

    fn read_line(&mut self) -> io::Result<()> {
        if !self.lines.advance()? {
            if self.state != State::Ended {
                self.tell("there is no line `\"k\":\"end\"`: the file may be cut off");
            }
            self.state = State::Over;
            return Ok(());
        }
        // The entries borrow nothing of the line: the next one takes its place.
        let Some(held) = self.lines.take() else {
            self.lose(&format!("it is longer than {MAX_LINE} bytes"));
            return Ok(());
        };
        if held.trim_ascii().is_empty() {
            return Ok(());
        }
        let is_whole = held.ends_with(b"\n");
        match serde_json::from_slice::<Line<'_>>(&held) {
            Ok(line) => self.line(&line),
            Err(_) if !is_whole => {
                self.lose("the file ends in the middle of it: it was cut off");
            }
            Err(error) => self.lose(&cassette_header::reason(&error)),
        }
        if self.state == State::Begun {
            self.state = State::GoesOn;
        }
        Ok(())
    }

    fn tell(&mut self, message: &str) {
        self.fault(message, false);
    }

    fn lose(&mut self, message: &str) {
        self.fault(message, true);
    }

    fn fault(&mut self, message: &str, is_loss: bool) {
        self.ready.push_back(Entry::Fault(Fault {
            line: self.lines.number(),
            message: message.to_owned(),
            is_loss,
        }));
    }

    fn line(&mut self, line: &Line<'_>) {
        match line.k.as_ref().map(|kind| &*kind.0) {
            _ if line.cassette.is_some() => {
                self.lose("another cassette begins, which is not read");
                self.state = State::Over;
            }
            Some("event") => self.event(line),
            Some("end") => {
                self.state = State::Ended;
                let t = Moment(self.time(line.t) * US);
                self.ready.push_back(Entry::End { t });
            }
            _ => match line.frame() {
                Ok((stream, bytes)) => self.frame(line, stream, bytes),
                Err(message) => self.lose(&message),
            },
        }
    }

    fn frame(&mut self, line: &Line<'_>, stream: StreamId, mut bytes: Vec<u8>) {
        let (first, t) = self.times(line, stream);
        self.frames += 1;
        self.is_renumbered |= line.n != Some(self.frames);
        if let Some(carrier) = line.c {
            let head = FrameHead {
                seq: Seq(self.frames),
                stream,
                offset: 0,
                t_first: first,
                t_last: t,
                size: bytes.len() as u64,
                carried: carrier.carried(),
            };
            self.ready.push_back(Entry::Carried { head, bytes });
            return;
        }
        let is_ended = bytes.ends_with(b"\n");
        let mut chunk = |t, bytes: Vec<u8>| {
            if !bytes.is_empty() {
                self.ready.push_back(Entry::Chunk { stream, t, bytes });
            }
        };
        if first != t {
            // In place: a line may be as long as all the memory that there is to spare.
            chunk(first, vec![bytes.remove(0)]);
        }
        chunk(t, bytes);
        if !is_ended {
            self.ready.push_back(Entry::LineEnd { stream, t });
        }
    }

    /// When the first and the last byte of a frame came. One thread reads a stream, so on one
    /// stream time does not go back; between two streams it may, by a little.
    fn times(&mut self, line: &Line<'_>, stream: StreamId) -> (Moment, Moment) {
        let last = self.time(line.t);
        let first = line.t0.unwrap_or(last).min(last);
        // Connections are many: of theirs only the order is kept.
        let Some(&before) = self.streams_us.get(stream.index()) else {
            self.last_us = last;
            return (Moment(first * US), Moment(last * US));
        };
        if let back @ 1.. = before.saturating_sub(first) {
            self.tell(&format!(
                "it lies {back} µs before the frame before it on the same stream; taken for the \
                 time of that"
            ));
        }
        let (first, last) = (first.max(before), last.max(before));
        self.streams_us[stream.index()] = last;
        self.last_us = last;
        (Moment(first * US), Moment(last * US))
    }

    /// The time of a line, microseconds; that of the line before if it has none that can be.
    fn time(&mut self, t: Option<u64>) -> u64 {
        match t.filter(|us| *us <= MAX_US) {
            Some(us) => self.last_us = us,
            None => self
                .tell("its `t` is missing or beyond all times; taken for that of the line before"),
        }
        self.last_us
    }

    fn event(&mut self, line: &Line<'_>) {
        let Some(json) = line.event.map(RawValue::get) else {
            return self.lose("an event without an `event`");
        };
        let t = Moment(self.time(line.t) * US);
        let entry = match serde_json::from_str(json).ok() {
            Some(EventKind::Start(context)) if self.state == State::Begun => {
                self.context = self.header.context(Some(*context));
                return;
            }
            Some(EventKind::Start(_)) => {
                return self.lose("a start event that does not follow the header");
            }
            Some(EventKind::Gap {
                stream,
                bytes: bytes @ 1..,
                reason,
                ..
            }) if stream.connection().is_none() => {
                let bytes = bytes.min(MAX_MISSING - self.missing);
                self.missing += bytes;
                Entry::Gap {
                    stream,
                    t,
                    bytes,
                    reason,
                }
            }
            Some(kind) => Entry::Event { t, kind },
            None => {
                self.tell("an event that is not known; kept as a warning");
                let json: String = json.chars().take(MAX_UNKNOWN).collect();
                let message = format!("an event that this version does not know: {json}");
                let kind = EventKind::Warning { message };
                Entry::Event { t, kind }
            }
        };
        self.ready.push_back(entry);
    }
}
