//! The spool: a journal of raw chunks and events beside the recording, whose drained parts are
//! written again.
//!
//! ```text
//! NAME.spool = status page | progress page | start record | segment | segment | …
//! page       = crc u32 (hex) | JSON, padded to 4096 bytes
//! segment    = header (16 bytes: magic u32 | crc u32 | sequence u64) | 1 MiB - 16 of the journal
//! record     = header (40 bytes) | payload
//! header     = magic u32 | crc u32 | len u32 | kind u8 | 0 × 3 | stream u32 | conversation u32
//!              | t u64 | offset u64
//! ```
//!
//! The journal is a sequence of records and has addresses of its own: a *position* only grows, and
//! a record may lie across the border of two segments. The first record, the start event with the
//! whole process context, stands before the segments and stays, so a spool alone is a complete
//! session. Behind it position and sequence tell each other: segment n holds the n-th part of the
//! journal, wherever in the file it stands. The indexer publishes in the progress page how much of
//! the journal it has committed; the writer takes segments before that again, and adds new ones at
//! the end of the file only where there is none. So the file is as long as the backlog, and
//! [`Writer::trim`] gives back what a backlog took.
//!
//! Numbers are little-endian. `magic` is random for each spool, so that a payload that looks like
//! a record is not taken for one; each segment adds its sequence to it, so that what was there
//! before is not taken for a record either. `crc` covers the rest of the header and the payload.
//! `t` is in nanoseconds since the start. `offset` counts the bytes of the stream before this
//! chunk, also those that are not on record: whatever is missing shows, to the byte, without a
//! further word. A chunk without bytes ends the line that is open on its stream; no pump writes
//! one, but sessions that happened elsewhere may have lines that were left open. `conversation` is
//! 0 over stdio; network transports number theirs.
//!
//! A lock on the file says that its recorder lives, or that somebody completes the recording: the
//! progress page says so before an indexer takes it.
//!
//! * [`Writer`] appends whole records or nothing;
//! * [`SpoolReader`] reads them back, also while they are written;
//! * [`Status`] and [`Progress`] are the pages at the start, overwritten in place;
//! * [`lock`](lock()) tells a living recorder from a dead one.

mod pages;
mod reader;
mod writer;

use mcpreel_trace::clock::Moment;
use mcpreel_trace::frame::StreamId;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg, OFlag};
pub use pages::{EndNote, Progress, Status};
use pages::{PAGE, PROGRESS_AT, STATUS_AT};
pub use reader::{SpoolError, SpoolReader, Tail};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
pub use writer::Writer;

pub const HEADER: usize = 40;

/// A chunk holds at most this much: what a pump reads at once.
pub const MAX_CHUNK: usize = 256 * 1024;

/// Bytes of the file that a segment takes.
pub const SEGMENT: u64 = 1024 * 1024;
const SEGMENT_HEADER: usize = 16;

/// Bytes of the journal that a segment holds.
const ROOM: u64 = SEGMENT - SEGMENT_HEADER as u64;

/// Where the start record stands, in the file and in the journal.
const FIRST: u64 = 2 * PAGE as u64;

/// No payload is longer; a length beyond it is damage. Command lines reach 2 MiB on Linux, and
/// the start event keeps them in full.
const MAX_PAYLOAD: u32 = 16 * 1024 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordKind {
    Chunk,
    /// An event, as the JSON of [`mcpreel_trace::event::EventKind`].
    Event,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordHead {
    /// Where in the journal its header begins.
    pub position: u64,
    pub kind: RecordKind,
    /// The stream of a chunk; 0 for events.
    pub stream: StreamId,
    pub t: Moment,
    /// Bytes of the stream before this chunk; 0 for events.
    pub offset: u64,
    pub len: u32,
}

impl RecordHead {
    /// Where in the journal the next record begins.
    pub fn end(&self) -> u64 {
        self.position + HEADER as u64 + u64::from(self.len)
    }

    fn encode(&self, magic: u32, payload: &[u8]) -> [u8; HEADER] {
        let mut header = [0; HEADER];
        header[0..4].copy_from_slice(&magic.to_le_bytes());
        header[8..12].copy_from_slice(&self.len.to_le_bytes());
        header[12] = match self.kind {
            RecordKind::Chunk => 1,
            RecordKind::Event => 2,
        };
        header[16..20].copy_from_slice(&self.stream.0.to_le_bytes());
        header[24..32].copy_from_slice(&self.t.0.to_le_bytes());
        header[32..40].copy_from_slice(&self.offset.to_le_bytes());
        let crc = checksum(&header[8..], payload);
        header[4..8].copy_from_slice(&crc.to_le_bytes());
        header
    }

    /// The header that stands at `position`; `None` where there is none.
    fn decode(position: u64, magic: u32, header: &[u8]) -> Option<Self> {
        let kind = match header.get(12)? {
            1 => RecordKind::Chunk,
            2 => RecordKind::Event,
            _ => return None,
        };
        let len = u32_at(header, 8)?;
        (u32_at(header, 0)? == magic && len <= MAX_PAYLOAD).then_some(())?;
        Some(Self {
            position,
            kind,
            stream: StreamId(u32_at(header, 16)?),
            t: Moment(u64_at(header, 24)?),
            offset: u64_at(header, 32)?,
            len,
        })
    }
}

fn checksum(header: &[u8], payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(header);
    hasher.update(payload);
    hasher.finalize()
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

// Where in the file the journal stands.

/// How positions of a spool are laid out over its segments.
#[derive(Clone, Copy, Debug, Default)]
struct Layout {
    magic: u32,
    /// The end of the start record: the first byte of the segments.
    base: u64,
}

impl Layout {
    /// The sequence of the segment with this position, and the place in it; `None`: before them.
    fn place(self, position: u64) -> Option<(u64, u64)> {
        let at = position.checked_sub(self.base)?;
        Some((at / ROOM, at % ROOM))
    }

    /// The first position of a segment.
    fn start_of(self, sequence: u64) -> u64 {
        self.base + sequence * ROOM
    }

    /// The magic of the records that begin at this position.
    fn magic_at(self, position: u64) -> u32 {
        let sequence = self.place(position).map_or(0, |(sequence, _)| sequence + 1);
        #[expect(clippy::cast_possible_truncation, reason = "it only has to differ")]
        self.magic.wrapping_add(sequence as u32)
    }

    /// Where in the file the `slot`-th segment begins.
    fn slot(self, slot: u64) -> u64 {
        self.base + slot * SEGMENT
    }

    fn encode(self, sequence: u64) -> [u8; SEGMENT_HEADER] {
        let mut header = [0; SEGMENT_HEADER];
        header[0..4].copy_from_slice(&(!self.magic).to_le_bytes());
        header[8..16].copy_from_slice(&sequence.to_le_bytes());
        let crc = checksum(&header[8..], &[]);
        header[4..8].copy_from_slice(&crc.to_le_bytes());
        header
    }

    /// The sequence of the segment with this header; `None`: it is none of this spool.
    fn decode(self, header: &[u8; SEGMENT_HEADER]) -> Option<u64> {
        let sequence = u64_at(header, 8)?;
        (self.encode(sequence) == *header).then_some(sequence)
    }
}

// Telling a living recorder from a dead one.

/// The spool belongs to whoever holds this.
#[derive(Debug)]
pub struct SpoolLock {
    _file: Flock<std::fs::File>,
}

#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// The recorder lives, or another reader is recovering the recording.
    #[error("the recorder is still running")]
    Held,
    #[error("there is no spool")]
    Missing,
    #[error("could not lock the spool")]
    Io(#[source] io::Error),
}

/// Takes the lock of the spool `path`, without waiting.
///
/// `flock` and not `fcntl`: the latter's locks vanish when any descriptor of the file is closed.
pub fn lock(path: &Path) -> Result<SpoolLock, LockError> {
    let file = open_regular(path, false).map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => LockError::Missing,
        _ => LockError::Io(e),
    })?;
    match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        // Between opening and locking, its owner may have finished and removed it.
        Ok(file) if path.exists() => Ok(SpoolLock { _file: file }),
        Ok(_) => Err(LockError::Missing),
        Err((_, Errno::EWOULDBLOCK)) => Err(LockError::Held),
        Err((_, errno)) => Err(LockError::Io(errno.into())),
    }
}

// Opening files that others may have put there.

/// Opens the regular file `path`, to be written too if `write`.
///
/// A pipe or device in its place is an error, and never waited for: a FIFO that nobody writes
/// would hold up whoever lists the folder.
pub fn open_regular(path: &Path, write: bool) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .write(write)
        .custom_flags((OFlag::O_NONBLOCK | OFlag::O_CLOEXEC | OFlag::O_NOCTTY).bits())
        .open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other("it is no regular file"))
    }
}

#[cfg(test)]
mod spool_tests;
