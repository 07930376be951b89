//! The pages at the start of a spool, overwritten in place: one of the writer, one of the indexer.

use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::EventKind;
use nix::errno::Errno;
use nix::sys::signal;
use nix::unistd::Pid;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes of a page of the file: overwriting one needs no new space on a full disk.
pub(super) const PAGE: usize = 4096;
pub(super) const STATUS_AT: u64 = 0;
pub(super) const PROGRESS_AT: u64 = PAGE as u64;

/// The version that this code writes.
pub(super) const VERSION: u32 = 2;

/// What must be known even if no record can be written any more.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Status {
    pub spool: u32,
    /// The magic of the start record, and where that ends.
    pub magic: u32,
    pub base: u64,
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

/// Bytes of the reason of a gap that are kept: escaped as JSON they fit into the page.
const LONGEST_REASON: usize = 500;

impl Status {
    /// The same with a reason that fits: only that has no bound of its own.
    pub(super) fn bounded(mut self) -> Self {
        if let Some(gap) = &mut self.gap
            && gap.len() > LONGEST_REASON
        {
            gap.truncate(gap.floor_char_boundary(LONGEST_REASON));
        }
        self
    }
}

impl EndNote {
    pub fn t(&self) -> Moment {
        Moment(self.t_ns)
    }
}

/// What the indexer tells the writer and other readers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// No record before this position is needed any more.
    pub released: u64,
    /// The end of what is on record.
    pub drained: u64,
    /// Frames whose rows the last rebuild has derived so far; readers take a change as a sign of life.
    #[serde(default)]
    pub derived: u64,
    /// The recorder has ended or gone, and the indexer takes in the rest.
    #[serde(default)]
    pub is_over: bool,
    /// The process that indexes; zero before it has begun.
    #[serde(default)]
    pub indexer: i32,
}

impl Progress {
    /// Whether the process that indexes is there. Another one may have its number by now: whoever
    /// waits for it waits for a while only.
    pub fn indexer_lives(&self) -> bool {
        let process = Pid::from_raw(self.indexer);
        self.indexer > 0 && !matches!(signal::kill(process, None), Err(Errno::ESRCH))
    }
}

const CRC: usize = 8;

pub(super) fn write(file: &File, at: u64, page: &impl Serialize) -> io::Result<()> {
    let mut json = serde_json::to_vec(page).map_err(io::Error::other)?;
    if json.len() >= PAGE - CRC {
        return Err(io::Error::other("the page is full"));
    }
    json.resize(PAGE - CRC - 1, b' ');
    json.push(b'\n');
    let crc = format!("{:08x}", crc32fast::hash(&json));
    let block = [crc.as_bytes(), &json].concat();
    file.write_all_at(&block, at)
}

/// The page as it is now; `None` if it is damaged, or was read while it was written.
pub(super) fn read<P: DeserializeOwned>(file: &File, at: u64) -> io::Result<Option<P>> {
    let mut block = [0; PAGE];
    file.read_exact_at(&mut block, at)?;
    let (crc, json) = block.split_at(CRC);
    let stated = std::str::from_utf8(crc).ok();
    let stated = stated.and_then(|crc| u32::from_str_radix(crc, 16).ok());
    let is_whole = stated == Some(crc32fast::hash(json));
    Ok(is_whole
        .then(|| serde_json::from_slice(json).ok())
        .flatten())
}
