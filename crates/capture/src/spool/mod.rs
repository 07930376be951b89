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

mod lock;
mod reader;
mod regular;
mod status;
mod writer;

pub use lock::{LockError, SpoolLock, lock};
pub use reader::{SpoolError, SpoolReader};
pub use regular::open_regular;
pub use status::{EndNote, STATUS_SIZE, Status};
pub use writer::Writer;

use mcpreel_trace::clock::Moment;
use mcpreel_trace::frame::StreamId;

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

#[cfg(test)]
mod tests;
