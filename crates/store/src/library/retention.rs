//! Which recordings go: a function of the list, the policy and the time. Nothing is deleted by
//! itself.

use super::{Entry, Standing, spool_of};
use crate::indexer;
use crate::open::beside;
use crate::reader::Summary;
use mcpreel_capture::spool::{self, LockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a recording must satisfy to stay. What is not set lets everything stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Recordings that began longer ago go.
    pub older_than: Option<Duration>,
    /// All but the newest of this number go.
    pub keep: Option<usize>,
    /// The oldest go until all together take no more bytes than this.
    pub max_size: Option<u64>,
}

/// What is known of a recording that may go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    pub path: PathBuf,
    /// When it began: wall clock, nanoseconds since the Unix epoch.
    pub wall_ns: u64,
    pub size: u64,
    /// Whether it stays whatever the policy says.
    pub is_protected: bool,
}

/// The recordings of a folder that a policy is about. Files that cannot be read are left alone,
/// and count neither as recordings nor for the room: they may be somebody's who can.
pub fn candidates(entries: &[Entry]) -> Vec<Kept> {
    let readable = entries.iter().filter(|entry| entry.is_readable());
    readable.map(Kept::from).collect()
}

impl From<&Entry> for Kept {
    /// Live recordings stay, those that a person has marked or noted, and files that cannot be
    /// read.
    fn from(entry: &Entry) -> Self {
        let is_noted = entry.summary().is_some_and(Summary::is_noted);
        let is_out_of_bounds = matches!(entry.standing, Standing::Live | Standing::Unreadable);
        Self {
            path: entry.path.clone(),
            wall_ns: entry.wall_ns,
            size: entry.size,
            is_protected: is_noted || is_out_of_bounds,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pruned {
    pub path: PathBuf,
    pub size: u64,
    pub reason: Reason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    TooOld,
    TooMany,
    /// Together they take too much room.
    TooLarge,
}

/// The recordings that `policy` lets go at `now`, the oldest first. `now_ns` is the wall clock,
/// nanoseconds since the Unix epoch.
pub fn prune(recordings: &[Kept], policy: &Policy, now_ns: u64) -> Vec<Pruned> {
    let mut newest_first: Vec<_> = recordings.iter().collect();
    newest_first.sort_by_key(|kept| std::cmp::Reverse(kept.wall_ns));
    let mut total: u64 = recordings.iter().map(|kept| kept.size).sum();
    let mut pruned = Vec::new();
    for (newer, kept) in newest_first.into_iter().enumerate().rev() {
        let age = Duration::from_nanos(now_ns.saturating_sub(kept.wall_ns));
        let reason = if policy.older_than.is_some_and(|limit| age > limit) {
            Reason::TooOld
        } else if policy.keep.is_some_and(|keep| newer >= keep) {
            Reason::TooMany
        } else if policy.max_size.is_some_and(|limit| total > limit) {
            Reason::TooLarge
        } else {
            continue;
        };
        if kept.is_protected {
            continue;
        }
        total -= kept.size;
        pruned.push(Pruned {
            path: kept.path.clone(),
            size: kept.size,
            reason,
        });
    }
    pruned
}

/// Deletes the recording `reel` with all that stands beside it. `false` if it has become live.
pub fn delete(reel: &Path) -> io::Result<bool> {
    let spool = spool_of(reel);
    let _lock = match spool::lock(&spool) {
        Ok(lock) => Some(lock),
        Err(LockError::Held) => return Ok(false),
        Err(LockError::Missing) => None,
        Err(LockError::Io(error)) => return Err(error),
    };
    let mut files = vec![reel.to_owned()];
    files.extend(indexer::damaged(&spool).take_while(|file| file.exists()));
    files.push(spool);
    files.extend(["-wal", "-shm", "-journal"].map(|suffix| beside(reel, suffix)));
    for file in files {
        match std::fs::remove_file(file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_hours(24);
    const NOW: u64 = 1_000 * 86_400_000_000_000;

    /// Recordings of 10 bytes that are 0, 1, 2, … days old.
    fn kept(protected: &[bool]) -> Vec<Kept> {
        let ages = (0_u32..).zip(protected);
        ages.map(|(days, &is_protected)| Kept {
            path: format!("{days}").into(),
            wall_ns: NOW - u64::try_from((DAY * days).as_nanos()).unwrap(),
            size: 10,
            is_protected,
        })
        .collect()
    }

    type Expected<'a> = &'a [(&'a str, Reason)];

    #[test]
    fn the_policy_says_what_goes() {
        use Reason::{TooLarge, TooMany, TooOld};
        let policy = |older_than, keep, max_size| Policy {
            older_than,
            keep,
            max_size,
        };
        let free = [false; 5];
        let third = [false, false, false, true, false];
        let cases: [(&[bool], Policy, Expected<'_>); 9] = [
            (&free, policy(None, None, None), &[]),
            (&free, policy(Some(DAY * 3), None, None), &[("4", TooOld)]),
            (
                &free,
                policy(None, Some(3), None),
                &[("4", TooMany), ("3", TooMany)],
            ),
            (&free, policy(None, Some(5), None), &[]),
            (
                &free,
                policy(None, None, Some(35)),
                &[("4", TooLarge), ("3", TooLarge)],
            ),
            (&free, policy(None, None, Some(50)), &[]),
            (&third, policy(None, Some(3), None), &[("4", TooMany)]),
            (
                &third,
                policy(None, None, Some(35)),
                &[("4", TooLarge), ("2", TooLarge)],
            ),
            (
                &free,
                policy(Some(DAY * 3), Some(4), Some(30)),
                &[("4", TooOld), ("3", TooLarge)],
            ),
        ];
        for (protected, policy, expected) in cases {
            let gone = prune(&kept(protected), &policy, NOW);
            let gone: Vec<_> = gone
                .iter()
                .map(|pruned| (pruned.path.to_str().unwrap(), pruned.reason))
                .collect();
            assert_eq!(gone, expected, "{policy:?}");
        }
    }
}
