//! Lines that are too long to hold: from the spool into the recording, piece by piece.

use super::derive::IndexError;
use crate::schema::to_sql;
use mcpreel_capture::spool::{RecordKind, SpoolReader, Tail};
use mcpreel_trace::frame::{FrameHead, Seq};
use mcpreel_wire::json::Outline;
use mcpreel_wire::message::{Content, classify_cut, classify_outline, classify_unread};
use rusqlite::{Connection, MAIN_DB};
use std::io::{self, Read, Write};

/// Bytes that are read from a frame at once.
const PART: usize = 256 * 1024;

/// The outline of a frame, made while its bytes pass.
#[derive(Debug, Default)]
pub struct LongText {
    outline: Outline,
    is_terminated: bool,
}

impl LongText {
    /// That of bytes which are at hand.
    pub fn of(bytes: &[u8]) -> Self {
        let mut text = Self::default();
        bytes.chunks(PART).for_each(|part| text.push(part));
        text
    }

    fn push(&mut self, part: &[u8]) {
        self.outline.push(part);
        if let Some(last) = part.last() {
            self.is_terminated = *last == b'\n';
        }
    }

    /// The content of the frame, of which only a part is on record if it `is_shortened`, and its
    /// beginning, for rules that look at it. Messages span the whole frame: where they stand in it
    /// is not known.
    pub fn finish(self, head: &FrameHead, is_shortened: bool) -> (Content, Vec<u8>) {
        let beginning = self.outline.beginning().to_vec();
        let mut content = match self.outline.finish() {
            _ if is_shortened => classify_cut(&beginning),
            Ok(outline) => classify_outline(&outline),
            Err(error) => classify_unread(error, self.is_terminated),
        };
        for message in &mut content.messages {
            message.span = 0..usize::try_from(head.size).unwrap_or(usize::MAX);
        }
        (content, beginning)
    }
}

/// Copies the bytes of the frame `head`, which begin in the record at `record`, from the spool
/// into its row, which holds as many zeros. Returns what is needed to derive from them.
pub(super) fn copy(
    conn: &Connection,
    spool: &mut SpoolReader,
    head: &FrameHead,
    record: u64,
) -> Result<LongText, IndexError> {
    let mut blob = conn.blob_open(MAIN_DB, c"frame", c"raw", to_sql(head.seq.0), false)?;
    let size = head.size;
    let failed = |source| IndexError::Copy { size, source };
    let end = head.offset + head.size;
    let (mut at, mut position) = (head.offset, record);
    let mut text = LongText::default();
    let mut payload = Vec::new();
    while at < end {
        // Whatever was read once is still there: it is released after the commit.
        let Some(chunk) = spool.read(position, Tail::Final, &mut payload)? else {
            return Err(failed(io::ErrorKind::UnexpectedEof.into()));
        };
        position = chunk.end();
        if chunk.kind != RecordKind::Chunk || chunk.stream != head.stream {
            continue;
        }
        let part = part_of(chunk.offset, &payload, at, end);
        blob.write_all(part).map_err(failed)?;
        text.push(part);
        at += part.len() as u64;
    }
    blob.close()?;
    Ok(text)
}

/// Reads the outline of the long frame `seq` from its row.
pub fn read(conn: &Connection, seq: Seq) -> Result<LongText, IndexError> {
    let mut blob = conn.blob_open(MAIN_DB, c"frame", c"raw", to_sql(seq.0), true)?;
    let mut text = LongText::default();
    let mut part = vec![0; PART];
    loop {
        let size = blob.len() as u64;
        let read = blob.read(&mut part);
        match read.map_err(|source| IndexError::Copy { size, source })? {
            0 => return Ok(text),
            n => text.push(&part[..n]),
        }
    }
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
