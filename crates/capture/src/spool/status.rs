//! The block at the start of a spool, overwritten in place.

use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::EventKind;
use serde::{Deserialize, Serialize};

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
pub(super) const VERSION: u32 = 1;

impl Status {
    /// The block: JSON, padded with spaces, a newline at its end.
    pub(super) fn encode(&self) -> [u8; STATUS_SIZE] {
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

    pub(super) fn decode(block: &[u8]) -> Block {
        match serde_json::from_slice::<Self>(block) {
            Ok(status) if status.spool == VERSION => Block::Whole(status),
            Ok(_) => Block::Foreign,
            Err(_) => Block::Damaged,
        }
    }
}

#[derive(Debug)]
pub(super) enum Block {
    Whole(Status),
    Damaged,
    Foreign,
}
