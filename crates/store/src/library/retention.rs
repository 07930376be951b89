//! The recordings that go: a function of the list, the policy and the time. Nothing is deleted by
//! itself.

use super::{Entry, Standing, listing, spool_of};
use crate::indexer;
use crate::open::beside;
use crate::reader::Summary;
use mcpreel_capture::spool::{self, LockError};
use std::io;
use std::path::Path;
use std::time::Duration;

/// The limits within which recordings stay. A limit that is not set lets everything stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Recordings that began longer ago go.
    pub older_than: Option<Duration>,
    /// All but the newest of this number go.
    pub keep: Option<usize>,
    /// The oldest go until all together take no more bytes than this.
    pub max_size: Option<u64>,
}

/// Whether a recording stays whatever the policy says: a live one, one that a person has marked or
/// noted, and one without a date, whose age nobody knows: an imported log may be new.
fn is_protected(entry: &Entry) -> bool {
    entry.standing == Standing::Live
        || entry.wall_ns == 0
        || entry.summary().is_some_and(Summary::is_noted)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    TooOld,
    TooMany,
    /// Together they take too much room.
    TooLarge,
}

/// The recordings that `policy` lets go at `now_ns` of the wall clock, the oldest first. Files that
/// cannot be read are left alone, and count neither as recordings nor for the room: they may be
/// somebody's who can.
pub fn prune<'e>(entries: &'e [Entry], policy: &Policy, now_ns: u64) -> Vec<(&'e Entry, Reason)> {
    let mut newest_first: Vec<_> = entries.iter().filter(|entry| entry.is_readable()).collect();
    newest_first.sort_by_key(|entry| std::cmp::Reverse(entry.wall_ns));
    let mut total: u64 = newest_first.iter().map(|entry| entry.size).sum();
    let mut pruned = Vec::new();
    for (newer, entry) in newest_first.into_iter().enumerate().rev() {
        let age = Duration::from_nanos(now_ns.saturating_sub(entry.wall_ns));
        let reason = if policy.older_than.is_some_and(|limit| age > limit) {
            Reason::TooOld
        } else if policy.keep.is_some_and(|keep| newer >= keep) {
            Reason::TooMany
        } else if policy.max_size.is_some_and(|limit| total > limit) {
            Reason::TooLarge
        } else {
            continue;
        };
        if !is_protected(entry) {
            total -= entry.size;
            pruned.push((entry, reason));
        }
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
    listing::forget(reel.parent().unwrap_or(Path::new("")));
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::{Details, EntryError};

    const DAY: Duration = Duration::from_hours(24);
    const NOW: u64 = 1_000 * 86_400_000_000_000;

    /// Recordings of 10 bytes that are 0, 1, 2, … days old; those that are protected are live.
    fn recordings(protected: &[bool]) -> Vec<Entry> {
        let ages = (0_u32..).zip(protected);
        let entry = |(days, is_protected): (u32, &bool)| {
            let path = std::path::PathBuf::from(format!("{days}"));
            Entry {
                path: path.clone(),
                id: format!("{days}"),
                name: String::new(),
                wall_ns: NOW - u64::try_from((DAY * days).as_nanos()).unwrap(),
                size: 10,
                standing: [Standing::Finished, Standing::Live][usize::from(*is_protected)],
                details: Details::Unreadable(EntryError::NoStart { path }),
            }
        };
        ages.map(entry).collect()
    }

    type Expected<'a> = &'a [(&'a str, Reason)];

    /// Once an imported log was deleted as too old: its date is unknown.
    #[test]
    fn a_recording_without_a_date_stays() {
        let mut recordings = recordings(&[false; 2]);
        recordings[1].wall_ns = 0;
        let policy = Policy {
            older_than: Some(DAY),
            keep: Some(0),
            max_size: Some(0),
        };
        let gone = prune(&recordings, &policy, NOW);
        let gone: Vec<_> = gone.iter().map(|(entry, _)| &*entry.id).collect();
        assert_eq!(gone, ["0"]);
    }

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
            let recordings = recordings(protected);
            let gone = prune(&recordings, &policy, NOW).into_iter();
            let gone: Vec<_> = gone.map(|(entry, reason)| (&*entry.id, reason)).collect();
            assert_eq!(gone, expected, "{policy:?}");
        }
    }
}
