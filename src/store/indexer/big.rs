//! Lines that are too long to hold: from the spool into the recording, piece by piece.

use super::IndexError;
use super::derive::Outline;
use crate::capture::spool::{RecordKind, SpoolReader};
use crate::store::values::to_sql;
use crate::trace::frame::{FrameHead, Seq};
use rusqlite::{Connection, MAIN_DB};
use std::io::{self, Read, Write};

/// Bytes that are read from a frame at once.
const PART: usize = 256 * 1024;

/// Copies the bytes of the frame `head`, which begin in the record at `record`, from the spool
/// into its row, which holds as many zeros. Returns their outline.
pub(super) fn copy(
    conn: &Connection,
    spool: &mut SpoolReader,
    head: &FrameHead,
    record: u64,
) -> Result<Outline, IndexError> {
    let mut blob = conn.blob_open(MAIN_DB, c"frame", c"raw", to_sql(head.seq.0), false)?;
    let failed = |source| IndexError::Copy {
        size: head.size,
        source,
    };
    let end = head.offset + head.size;
    let (mut at, mut position) = (head.offset, record);
    let mut outline = Outline::new();
    let mut payload = Vec::new();
    while at < end {
        // Whatever was read once is still there: it is punched out after the commit.
        let Some(chunk) = spool.read(position, u64::MAX, &mut payload)? else {
            return Err(failed(io::ErrorKind::UnexpectedEof.into()));
        };
        position = chunk.end();
        if chunk.kind != RecordKind::Chunk || chunk.stream != head.stream {
            continue;
        }
        let part = part_of(chunk.offset, &payload, at, end);
        blob.write_all(part).map_err(failed)?;
        outline.push(part);
        at += part.len() as u64;
    }
    blob.close()?;
    Ok(outline)
}

/// The outline of the frame `seq`, read from its row.
pub(crate) fn outline_of(conn: &Connection, seq: Seq) -> Result<Outline, BlobError> {
    let mut blob = conn.blob_open(MAIN_DB, c"frame", c"raw", to_sql(seq.0), true)?;
    let mut outline = Outline::new();
    let mut part = vec![0; PART];
    loop {
        match blob.read(&mut part)? {
            0 => return Ok(outline),
            n => outline.push(&part[..n]),
        }
    }
}

/// Why the bytes of a frame could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BlobError {
    /// The row is not there, or damaged.
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// Reading on failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The bytes `from..to` of a stream, as far as the chunk at `offset` holds them.
fn part_of(offset: u64, chunk: &[u8], from: u64, to: u64) -> &[u8] {
    let index = |at: u64| {
        usize::try_from(at.saturating_sub(offset))
            .unwrap_or(usize::MAX)
            .min(chunk.len())
    };
    &chunk[index(from)..index(to)]
}
