//! The spool: an append-only journal of raw chunks and events, beside the recording.
//!
//! ```text
//! NAME.spool = status block (4096 bytes) | record | record | …
//! record     = header (32 bytes) | payload
//! header     = magic u32 | crc u32 | len u32 | kind u8 | 0 u8 | stream u16 | t u64 | offset u64
//! ```
//!
//! Numbers are little-endian. `magic` is random for each spool, so that a payload that looks like
//! a record is not taken for one; `crc` covers the rest of the header and the payload. `t` is in
//! nanoseconds since the start. `offset` counts the bytes of the stream before this chunk, also
//! those that are not on record: whatever is missing shows, to the byte, without a further word.
//! A chunk without bytes ends the line that is open on its stream; no pump writes one, but sessions
//! that happened elsewhere may have lines that were left open.
//!
//! The first record is the start event with the whole process context, so a spool alone is a
//! complete session. A lock on the file says that its recorder lives.
//!
//! * [`Writer`] appends whole records or nothing;
//! * [`SpoolReader`] reads them back, also while they are written;
//! * [`Status`] is the block at the start, overwritten in place;
//! * [`lock`](lock()) tells a living recorder from a dead one.

mod reader;
mod writer;

use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::EventKind;
use mcpreel_trace::frame::StreamId;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg, OFlag};
pub use reader::{SpoolError, SpoolReader};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
pub use writer::Writer;

pub const HEADER: usize = 32;

/// A chunk holds at most this much: what a pump reads at once, and the capacity of a pipe.
pub const MAX_CHUNK: usize = 64 * 1024;

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
    /// Where in the file its header begins.
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
    /// Where in the file the next record begins.
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
        header[14..16].copy_from_slice(&self.stream.0.to_le_bytes());
        header[16..24].copy_from_slice(&self.t.0.to_le_bytes());
        header[24..32].copy_from_slice(&self.offset.to_le_bytes());
        let crc = checksum(&header, payload);
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
            stream: StreamId(u16::from_le_bytes(header.get(14..16)?.try_into().ok()?)),
            t: Moment(u64_at(header, 16)?),
            offset: u64_at(header, 24)?,
            len,
        })
    }
}

fn checksum(header: &[u8], payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&header[8..HEADER]);
    hasher.update(payload);
    hasher.finalize()
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
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

// The block at the start of a spool, overwritten in place.

/// Bytes that the block takes. One page: overwriting it needs no new space on a full disk.
pub const STATUS_SIZE: usize = 4096;

/// What must be known even if no record can be written any more.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Status {
    pub spool: u32,
    /// Begins every record of this spool.
    pub magic: u32,
    /// Bytes of each stdio stream that were forwarded: exact while a gap is open and at the end.
    pub forwarded: [u64; 3],
    /// Why the first gap began; `None` as long as everything is on record.
    #[serde(default)]
    pub gap: Option<String>,
    /// How the session ended, repeated here for disks that take no more records.
    #[serde(default)]
    pub end: Option<EndNote>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndNote {
    /// When, nanoseconds since the start.
    pub t_ns: u64,
    /// The exit event, if the server had been started and was reaped.
    pub exit: Option<EventKind>,
}

impl EndNote {
    pub fn t(&self) -> Moment {
        Moment(self.t_ns)
    }
}

/// The version that this code writes.
const VERSION: u32 = 1;

impl Status {
    /// The block: JSON, padded with spaces, a newline at its end.
    fn encode(&self) -> [u8; STATUS_SIZE] {
        let mut block = [b' '; STATUS_SIZE];
        block[STATUS_SIZE - 1] = b'\n';
        let mut status = self.clone();
        let fits = |json: &Vec<u8>| json.len() < STATUS_SIZE;
        let json = serde_json::to_vec(&status).ok().filter(fits).or_else(|| {
            // Only the reason of a gap has no bound of its own.
            status.gap = status.gap.map(|_| String::from("reason too long to keep"));
            serde_json::to_vec(&status).ok().filter(fits)
        });
        if let Some(json) = json {
            block[..json.len()].copy_from_slice(&json);
        }
        block
    }

    fn decode(block: &[u8]) -> Block {
        match serde_json::from_slice::<Self>(block) {
            Ok(status) if status.spool == VERSION => Block::Whole(status),
            Ok(_) => Block::Foreign,
            Err(_) => Block::Damaged,
        }
    }
}

#[derive(Debug)]
enum Block {
    Whole(Status),
    Damaged,
    Foreign,
}

#[cfg(test)]
mod spool_tests;
