//! The folder of recordings.
//!
//! Whatever lies in it with the ending `.reel` or `.spool` is an [`Entry`]; one that cannot be
//! read says why and never prevents the others. Listing reads one row of each, and changes none.
//!
//! * [`selector`]: how a person says which recording is meant;
//! * [`retention`]: which recordings go.

mod entry;
mod listing;
pub mod retention;
pub mod selector;

use super::open::real;
use super::reader::{Recording, Summary};
use super::schema::is_id;
use chrono::{DateTime, Local, NaiveDateTime, TimeZone};
pub use entry::{Details, Entry, EntryError, Standing, start_of};
use nix::unistd::Uid;
pub use retention::{Policy, prune};
pub use selector::{Ids, SelectError, Selected, is_path, names, short_id};
use std::borrow::Borrow;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::fs::{DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

pub const REEL: &str = "reel";

pub const SPOOL: &str = "spool";

/// More recordings are read in threads, and what they say is kept.
const MANY: usize = 64;

/// How long after the client's side of a bridge its network side may begin, nanoseconds.
const BRIDGE_BEGINS_WITHIN_NS: u64 = 10_000_000_000;

/// Why the folder cannot be listed.
#[derive(Debug, thiserror::Error)]
#[error("could not read the folder {}", dir.display())]
pub struct LibraryError {
    pub dir: PathBuf,
    pub source: io::Error,
}

#[derive(Clone, Debug)]
pub struct Library {
    dir: PathBuf,
    /// Whether what lies there may be anybody's.
    is_anybodys: bool,
}

/// Creates the folder `dir` with all that is missing above it, each readable by its owner only.
pub fn create_dir(dir: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// Whether this file or folder is this user's, and nobody else may write to it.
fn is_ones_own(path: &Path) -> bool {
    let is_own = |it: Metadata| it.uid() == Uid::effective().as_raw() && it.mode() & 0o022 == 0;
    path.metadata().is_ok_and(is_own)
}

/// Whether two files lie in one folder.
pub fn are_neighbours(one: &Path, other: &Path) -> bool {
    let folder = |path: &Path| {
        let path = std::path::absolute(path).ok()?;
        path.parent()?.canonicalize().ok()
    };
    folder(one).is_some_and(|it| Some(it) == folder(other))
}

/// The spool of the recording `reel`.
pub fn spool_of(reel: &Path) -> PathBuf {
    reel.with_extension(SPOOL)
}

impl Library {
    /// The recordings in `dir`, which need not exist.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self {
            dir: dir.into(),
            is_anybodys: false,
        }
    }

    /// The recordings in a folder that the user has named for once: they may be anybody's.
    pub fn of_anybody(dir: impl Into<PathBuf>) -> Self {
        Self {
            is_anybodys: true,
            ..Self::new(dir)
        }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Whether the recording `path` lies in this folder, so that it may be completed and brought
    /// up to date. Other files are never rewritten, not through a symbolic link either.
    pub fn contains(&self, path: &Path) -> bool {
        are_neighbours(&real(path), &self.dir.join(REEL))
    }

    /// Whether this recording was made by this user: it lies in this folder, nobody else may have
    /// put it there or written into it, and what it holds comes neither from a file of another format
    /// or folder nor, as with a mock, from another recording.
    pub fn made(&self, recording: &Recording, summary: &Summary) -> bool {
        let is_copied = matches!(&*summary.origin, "import" | "mock");
        !is_copied
            && !summary.context.from_elsewhere
            && !self.is_anybodys
            && !recording.is_temporary()
            && self.contains(recording.path())
            && is_ones_own(&self.dir)
            && is_ones_own(recording.path())
    }

    /// All recordings, the newest first. A folder that does not exist has none.
    pub fn list(&self) -> Result<Vec<Entry>, LibraryError> {
        let reels = self.reels()?;
        let mut entries = listing::read_all(&self.dir, &reels, !self.is_anybodys);
        newest_first(&mut entries);
        Ok(entries)
    }

    /// The recording that `text` means, see [`selector`].
    pub fn select(&self, text: &str) -> Result<Selected, SelectError> {
        let path = selector::existing(text);
        let selected = match path {
            Some(path) if selector::is_path(text) => path,
            path => match (self.find(text), path) {
                (Err(SelectError::Unknown { .. }), Some(path)) => path,
                (selected, _) => selected?,
            },
        };
        Ok(Selected {
            path: real(&selected.path),
            ..selected
        })
    }

    fn find(&self, text: &str) -> Result<Selected, SelectError> {
        // All are opened only where that tells more.
        if let Some(count) = selector::newest_needed(text) {
            let selected = selector::select(text, &self.newest(count)?);
            if !matches!(selected, Err(SelectError::TooFew { .. })) {
                return selected;
            }
        }
        selector::select(text, &self.list()?)
    }

    /// The newest `count` recordings, and perhaps others, the newest first.
    ///
    /// A name says when its recording began, but in the local time of then, and people rename files:
    /// it only says where to begin. Nothing was changed before it began, though, so that a file
    /// which is older than those need not be opened.
    fn newest(&self, count: usize) -> Result<Vec<Entry>, LibraryError> {
        let mut reels = self.reels()?;
        reels.reverse();
        reels.sort_by_cached_key(|reel| {
            let name = reel.file_name().unwrap_or_default();
            let says_when = name.as_encoded_bytes().starts_with(b"2");
            !says_when
        });
        let rest = reels.split_off(count.min(reels.len()));
        let mut entries: Vec<_> = reels.iter().map(|reel| Entry::read(reel)).collect();
        let oldest = entries.iter().map(|entry| entry.wall_ns).min().unwrap_or(0);
        let oldest = oldest.saturating_sub(BRIDGE_BEGINS_WITHIN_NS);
        let rest = rest.iter().filter(|reel| entry::changed_at(reel) >= oldest);
        let rest: Vec<_> = rest.collect();
        if rest.len() > MANY {
            return self.list();
        }
        entries.extend(rest.into_iter().map(|reel| Entry::read(reel)));
        newest_first(&mut entries);
        Ok(entries)
    }

    /// The recording with this id, all of it. A folder that cannot be listed has none.
    pub fn with_id(&self, id: &str) -> Option<PathBuf> {
        let mut reels = self.reels().unwrap_or_default().into_iter();
        // A file that is called by another id is another recording, and need not be opened.
        let may_be = |reel: &Path| {
            let stem = reel.file_stem().unwrap_or_default().to_string_lossy();
            stem.ends_with(id) || parse_stem(&stem).is_none()
        };
        reels.find(|reel| may_be(reel) && Entry::read(reel).id == id)
    }

    /// Paths of the recordings by name, also of those that are nothing but a spool yet.
    pub fn reels(&self) -> Result<Vec<PathBuf>, LibraryError> {
        let find = || -> io::Result<Vec<PathBuf>> {
            // Names and not paths: those are compared part by part.
            let mut reels = BTreeSet::new();
            for file in std::fs::read_dir(&self.dir)? {
                let mut name = PathBuf::from(file?.file_name());
                let ending = name.extension().and_then(|ending| ending.to_str());
                if matches!(ending, Some(REEL | SPOOL)) {
                    name.set_extension(REEL);
                    reels.insert(name.into_os_string());
                }
            }
            Ok(reels.iter().map(|name| self.dir.join(name)).collect())
        };
        match find() {
            Err(source) if source.kind() != io::ErrorKind::NotFound => Err(LibraryError {
                dir: self.dir.clone(),
                source,
            }),
            found => Ok(found.unwrap_or_default()),
        }
    }
}

/// Sorts the newest first. The network side of a bridge stands behind the side that the client saw,
/// which began a little earlier.
pub fn newest_first<E: Borrow<Entry>>(entries: &mut [E]) {
    let began = entries.iter().map(Borrow::borrow);
    let began = began.map(|it: &Entry| (it.id.clone(), it.wall_ns));
    let began: HashMap<_, _> = began.collect();
    entries.sort_by_cached_key(|entry| {
        let entry = entry.borrow();
        let client_side = entry.client_side().and_then(|id| began.get(id));
        let at = *client_side.unwrap_or(&entry.wall_ns);
        Reverse((at, client_side.is_none(), entry.path.clone()))
    });
}

// Names of recordings: `2026-11-20T15-17-03_weather-server_7f3a9c21.reel`.

/// Longer names are cut: file systems allow 255 bytes for everything.
const MAX_NAME: usize = 64;

const TIME: &str = "%Y-%m-%dT%H-%M-%S";

/// The id, the server's name as [`sanitised`], and the start (nanoseconds since the Unix epoch, to
/// the second) that the name of a file says, without its extension; `None` if it has another form.
fn parse_stem(stem: &str) -> Option<(String, String, u64)> {
    let (time, rest) = stem.split_once('_')?;
    let (name, id) = rest.rsplit_once('_')?;
    let time = NaiveDateTime::parse_from_str(time, TIME).ok()?;
    let start = Local.from_local_datetime(&time).earliest()?;
    let start = u64::try_from(start.timestamp_nanos_opt()?).unwrap_or(0);
    is_id(id).then(|| (id.into(), name.into(), start))
}

/// The name, without extension, of the files of a recording that began at `wall_ns`: its local
/// time, the sanitised name of the server, its id.
pub fn file_stem(wall_ns: u64, name: &str, id: &str) -> String {
    let start = DateTime::from_timestamp_nanos(i64::try_from(wall_ns).unwrap_or(i64::MAX));
    let start = start.with_timezone(&Local).format(TIME);
    format!("{start}_{}_{id}", sanitised(name))
}

/// A server's name as a file name has it: ASCII letters, digits, `.`, `_` and `-`; anything
/// else becomes one `-`.
pub fn sanitised(name: &str) -> String {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_');
    let mut clean = String::new();
    for c in name.chars() {
        let c = Some(c).filter(is_plain).unwrap_or('-');
        if clean.len() < MAX_NAME && (c != '-' || !clean.ends_with('-')) {
            clean.push(c);
        }
    }
    let clean = clean.trim_matches(['-', '.']);
    if clean.is_empty() { "server" } else { clean }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_holds_what_it_was_made_from() {
        let wall_ns = 1_795_000_000_000_000_000;
        for (name, clean) in [
            ("weather-server", "weather-server"),
            ("a_b", "a_b"),
            ("@scope/pkg  x", "scope-pkg-x"),
            ("../../etc/passwd", "etc-passwd"),
            ("日本", "server"),
            ("", "server"),
        ] {
            let stem = file_stem(wall_ns, name, "7f3a9c21");
            let parsed = parse_stem(&stem).unwrap();
            assert_eq!(parsed, ("7f3a9c21".into(), clean.into(), wall_ns));
        }
    }
}
