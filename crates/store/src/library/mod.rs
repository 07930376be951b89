//! The folder of recordings.
//!
//! Whatever lies in it with the ending `.reel` or `.spool` is an [`Entry`]; one that cannot be
//! read says why and never prevents the others. Listing reads one row of each, and changes
//! nothing.
//!
//! * [`name`]: how the files are called;
//! * [`selector`]: how a person says which recording is meant;
//! * [`retention`]: which recordings go.

mod entry;
pub mod name;
pub mod retention;
pub mod selector;

pub use entry::start_of;
pub use entry::{Details, Entry, EntryError, Standing};
pub use name::file_stem;
pub use retention::{Policy, Pruned, prune};
pub use selector::{SelectError, Selected, short_id};

use super::open::real;
use super::reader::{Recording, Summary};
use std::collections::BTreeSet;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::thread;

pub const REEL: &str = "reel";

pub const SPOOL: &str = "spool";

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
        let path = real(path);
        let folder = path.parent().map(|parent| match parent {
            parent if parent.as_os_str().is_empty() => Path::new("."),
            parent => parent,
        });
        let folder = folder.and_then(|folder| folder.canonicalize().ok());
        folder.is_some() && folder == self.dir.canonicalize().ok()
    }

    /// Whether this recording was made by who uses this folder: it lies there, and what it holds
    /// comes neither from a file of another format nor, as with a mock, from another recording.
    pub fn made(&self, recording: &Recording, summary: &Summary) -> bool {
        let is_copied = matches!(&*summary.origin, "import" | "mock");
        !is_copied
            && !self.is_anybodys
            && !recording.is_temporary()
            && self.contains(recording.path())
    }

    /// All recordings, the newest first. A folder that does not exist has none.
    pub fn list(&self) -> Result<Vec<Entry>, LibraryError> {
        let reels = self.reels()?;
        // Reading is mostly waiting for system calls: two threads take little more than half the
        // time of one.
        let (left, right) = reels.split_at(reels.len() / 2);
        let mut entries = thread::scope(|scope| {
            let right = scope.spawn(|| right.iter().map(|reel| Entry::read(reel)).collect());
            let mut entries: Vec<_> = left.iter().map(|reel| Entry::read(reel)).collect();
            match right.join() {
                Ok::<Vec<_>, _>(right) => entries.extend(right),
                Err(panic) => std::panic::resume_unwind(panic),
            }
            entries
        });
        entries.sort_by(|a, b| (b.wall_ns, &b.path).cmp(&(a.wall_ns, &a.path)));
        Ok(entries)
    }

    /// The recording that `text` means, see [`selector`].
    pub fn select(&self, text: &str) -> Result<Selected, SelectError> {
        let path = selector::existing(text);
        let selected = match path {
            Some(path) if selector::is_path(text) => path,
            path => match (selector::select(text, &self.list()?), path) {
                (Err(SelectError::Unknown { .. }), Some(path)) => path,
                (selected, _) => selected?,
            },
        };
        Ok(Selected {
            path: real(&selected.path),
            ..selected
        })
    }

    /// The recording with this id, all of it. A folder that cannot be listed has none.
    pub fn with_id(&self, id: &str) -> Option<PathBuf> {
        let reels = self.reels().unwrap_or_default();
        // Files are usually called by their ids.
        let (named, others): (Vec<_>, Vec<_>) = reels.into_iter().partition(|reel| {
            let stem = reel.file_stem().unwrap_or_default();
            stem.to_string_lossy().ends_with(id)
        });
        let mut reels = named.into_iter().chain(others);
        reels.find(|reel| Entry::read(reel).id == id)
    }

    /// Paths of the recordings, also of those that are nothing but a spool yet.
    pub fn reels(&self) -> Result<Vec<PathBuf>, LibraryError> {
        self.find_reels().map_err(|source| LibraryError {
            dir: self.dir.clone(),
            source,
        })
    }

    fn find_reels(&self) -> io::Result<Vec<PathBuf>> {
        let files = match std::fs::read_dir(&self.dir) {
            Ok(files) => files,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut reels = BTreeSet::new();
        for file in files {
            let path = file?.path();
            let ending = path.extension().and_then(|ending| ending.to_str());
            if matches!(ending, Some(REEL | SPOOL)) {
                reels.insert(path.with_extension(REEL));
            }
        }
        Ok(reels.into_iter().collect())
    }
}
