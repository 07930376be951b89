//! Reads what all recordings of a folder say about themselves.
//!
//! To open one takes a fraction of a millisecond, and there may be thousands: what finished ones say
//! is kept in a file of the folder. It may be removed at any time, and whoever cannot use it reads
//! the recordings.

use super::entry::{Entry, Standing};
use super::{MANY, is_ones_own, spool_of};
use crate::open::has_beside;
use crate::reader::Summary;
use crate::schema::DERIVED_VERSION;
use mcpreel_trace::clock::wall_clock_ns;
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io::{self, BufWriter};
use std::os::unix::fs::MetadataExt as _;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;
use tempfile::NamedTempFile;

const FILE: &str = ".summaries.json";

/// Two changes within less nanoseconds than this may leave the same date.
const TICK: u64 = 1_000_000_000;

/// What tells a finished recording from any other, and from itself when it was changed: by which
/// version it was read, inode, size, date of the last change in nanoseconds.
type Stamp = [u64; 4];

/// Summaries by the names of their files.
type Kept = BTreeMap<String, (Stamp, Box<Summary>)>;

/// Reads the recordings `reels` of the folder `dir`. What they say is kept there if `keeps`, and
/// the folder is the user's own.
pub(super) fn read_all(dir: &Path, reels: &[PathBuf], keeps: bool) -> Vec<Entry> {
    let is_own = keeps && is_ones_own(dir);
    if !is_own || reels.len() <= MANY {
        if is_own {
            forget(dir);
        }
        return in_parts(reels, Entry::read);
    }
    let kept = std::fs::read(dir.join(FILE)).ok();
    let kept = kept.and_then(|kept| serde_json::from_slice(&kept).ok());
    let kept: Kept = kept.unwrap_or_default();
    let read = in_parts(reels, |reel| {
        // The date before the content: what changes in between is read once more.
        let stamp = stamp_of(reel);
        let kept = kept.get(name_of(reel)).filter(|(at, _)| Some(*at) == stamp);
        let entry = match kept {
            Some((_, summary)) => Entry::finished(reel, summary.clone()),
            None => Entry::read(reel),
        };
        (entry, stamp, kept.is_some())
    });
    let known = read.iter().filter_map(|(entry, stamp, is_kept)| {
        let summary = entry
            .summary()
            .filter(|_| entry.standing == Standing::Finished);
        Some((name_of(&entry.path), ((*stamp)?, summary?), is_kept))
    });
    // Nothing is kept of what has gone.
    if known.clone().any(|(.., is_kept)| !is_kept) || known.clone().count() < kept.len() {
        // Else the next list keeps it.
        let _ = keep(dir, &known.map(|(name, known, _)| (name, known)).collect());
    }
    read.into_iter().map(|(entry, ..)| entry).collect()
}

/// Forgets what is kept of the folder `dir`: a recording that is deleted leaves nothing behind.
pub(super) fn forget(dir: &Path) {
    let _ = std::fs::remove_file(dir.join(FILE));
}

fn keep(dir: &Path, known: &BTreeMap<&str, (Stamp, &Summary)>) -> io::Result<()> {
    let mut file = BufWriter::new(NamedTempFile::new_in(dir)?);
    serde_json::to_writer(&mut file, known)?;
    file.into_inner()?.persist(dir.join(FILE))?;
    Ok(())
}

/// The name of a file; nothing where it is no UTF-8, and is not kept.
fn name_of(reel: &Path) -> &str {
    let name = reel.file_name().and_then(|name| name.to_str());
    name.unwrap_or_default()
}

/// The stamp of the recording `reel`; `None` while it may change unnoticed.
fn stamp_of(reel: &Path) -> Option<Stamp> {
    let file = reel.symlink_metadata().ok().filter(Metadata::is_file)?;
    let is_alone = !has_beside(reel).ok()? && !spool_of(reel).exists();
    let changed = u64::try_from(file.ctime() * 1_000_000_000 + file.ctime_nsec()).ok()?;
    let age = wall_clock_ns().checked_sub(changed)?;
    let stamp = [DERIVED_VERSION.into(), file.ino(), file.size(), changed];
    (is_alone && age > TICK && !name_of(reel).is_empty()).then_some(stamp)
}

/// Does for all recordings what `read` does for one, in several threads if there are many.
fn in_parts<T: Send>(reels: &[PathBuf], read: impl Fn(&Path) -> T + Sync) -> Vec<T> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let part = reels.len().div_ceil(threads).max(MANY);
    let read = |part: &[PathBuf]| -> Vec<T> { part.iter().map(|reel| read(reel)).collect() };
    thread::scope(|scope| {
        let parts = reels.chunks(part);
        let threads: Vec<_> = parts.map(|part| scope.spawn(|| read(part))).collect();
        let read = threads.into_iter().map(thread::ScopedJoinHandle::join);
        read.flat_map(|it| it.unwrap_or_else(|panic| resume_unwind(panic)))
            .collect()
    })
}
