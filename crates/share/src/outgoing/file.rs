//! Files and folders that appear when they are whole, or not at all, and of which nothing is left
//! when a signal ends the program (but for SIGKILL).
//!
//! A process that a signal ends runs no destructors, so a thread waits for signals: it removes the
//! temporary files that there are, and ends the process as the signal would have.

use mcpreel_capture::process::context;
use mcpreel_store::record::{Ending, end_as};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use std::collections::BTreeSet;
use std::fs::{Metadata, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread;
use tempfile::{NamedTempFile, TempDir};

#[derive(Debug, thiserror::Error)]
pub enum WholeError {
    #[error("{} exists already", .0.display())]
    IsThere(PathBuf),
    /// The file would take the place of the recording that is read.
    #[error("that is the recording itself, which would be gone")]
    IsRecording,
    #[error("could not write {}", .0.display())]
    Write(PathBuf, #[source] io::Error),
}

/// Whether an existing file may be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replace {
    Yes,
    No,
}

/// A file that appears at `path` when it is whole.
#[derive(Debug)]
pub struct Whole {
    pub path: PathBuf,
    pub draft: Draft,
    pub may: Replace,
}

impl Whole {
    /// Begins the file `path`. `reel` is the recording that is read, which is never replaced;
    /// another file is replaced if `may` allows it. A symbolic link is refused: whoever made the
    /// link would choose which file is replaced.
    pub fn begin(path: &Path, reel: &Path, may: Replace) -> Result<Self, WholeError> {
        let refuse = |error| Err(WholeError::Write(path.to_owned(), error));
        match path.metadata() {
            Ok(there) if there.is_dir() => return refuse(io::ErrorKind::IsADirectory.into()),
            Ok(there) if is_special(&there) => {
                return refuse(io::Error::other("it is no regular file"));
            }
            Ok(there) if is_same(&there, reel) => return Err(WholeError::IsRecording),
            _ if path.is_symlink() => {
                return refuse(io::Error::other(
                    "it is a symbolic link; name the file that it points to",
                ));
            }
            Ok(_) if may == Replace::No => return Err(WholeError::IsThere(path.to_owned())),
            _ => {}
        }
        let draft = Draft::beside(path);
        Ok(Self {
            draft: draft.map_err(|error| WholeError::Write(path.to_owned(), error))?,
            path: path.to_owned(),
            may,
        })
    }

    pub fn finish(self) -> Result<(), WholeError> {
        let settled = self.draft.settle(&self.path, self.may);
        settled.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => WholeError::IsThere(self.path),
            _ => WholeError::Write(self.path, error),
        })
    }
}

/// Whether this is neither a file nor a folder: a pipe, a device.
pub fn is_special(there: &Metadata) -> bool {
    !there.is_file() && !there.is_dir()
}

fn is_same(there: &Metadata, reel: &Path) -> bool {
    let identity = |file: &Metadata| (file.dev(), file.ino());
    reel.metadata()
        .is_ok_and(|reel| identity(&reel) == identity(there))
}

/// A folder of mode 0700, removed with this value.
#[derive(Debug)]
pub struct Folder {
    dir: TempDir,
    _registered: Registered,
}

impl Folder {
    /// Makes one where temporary files belong.
    pub fn make() -> io::Result<Self> {
        Self::within(&std::env::temp_dir())
    }

    /// Makes one in the folder `parent`, within which it may be renamed.
    pub fn within(parent: &Path) -> io::Result<Self> {
        watch();
        // Locked meanwhile: a signal waits until the folder is registered.
        let mut all = registered();
        let dir = tempfile::Builder::new()
            .prefix("mcpreel-")
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(parent)
            .map_err(|error| unnamed(&error))?;
        let registered = Registered::among(&mut all, dir.path());
        Ok(Self {
            dir,
            _registered: registered,
        })
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Renames the folder to `target`, in the same file system; in place of another folder only
    /// if `may` allows it.
    pub fn settle(self, target: &Path, may: Replace) -> io::Result<()> {
        if may == Replace::No {
            std::fs::rename(self.dir.path(), target)?;
        } else {
            let parent = target.parent().unwrap_or(Path::new("/"));
            let away = Self::within(parent)?;
            let old = away.path().join("old");
            // Locked meanwhile: between the two steps a signal would remove both folders.
            let all = registered();
            std::fs::rename(target, &old)?;
            std::fs::rename(self.dir.path(), target).inspect_err(|_| {
                let _ = std::fs::rename(&old, target);
            })?;
            drop(all);
        }
        // It has gone from where it would be removed.
        let _ = self.dir.keep();
        Ok(())
    }
}

/// A file of mode 0600 beside its target, removed with this value unless it is settled.
#[derive(Debug)]
pub struct Draft {
    file: NamedTempFile,
    _registered: Registered,
    /// The journal that `SQLite` puts beside the file.
    _journal: Registered,
}

impl Draft {
    /// Makes one in the folder of `target`.
    pub fn beside(target: &Path) -> io::Result<Self> {
        watch();
        let folder = target.parent();
        let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
        // Locked meanwhile: a signal waits until the file is registered.
        let mut all = registered();
        let file = tempfile::Builder::new()
            .prefix(".mcpreel-")
            .permissions(Permissions::from_mode(0o600))
            .tempfile_in(folder.unwrap_or(Path::new(".")))
            .map_err(|error| unnamed(&error))?;
        let registered = Registered::among(&mut all, file.path());
        let mut journal = file.path().as_os_str().to_owned();
        journal.push("-journal");
        Ok(Self {
            file,
            _registered: registered,
            _journal: Registered::among(&mut all, journal.as_ref()),
        })
    }

    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Renames the file to `target`; in place of another file only if `may` allows it.
    pub fn settle(mut self, target: &Path, may: Replace) -> io::Result<()> {
        self.file.flush()?;
        match may {
            Replace::Yes => self.file.persist(target)?,
            Replace::No => self.file.persist_noclobber(target)?,
        };
        Ok(())
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// `error` without the random name of the temporary file.
fn unnamed(error: &io::Error) -> io::Error {
    let said = error.to_string();
    let why = said.split_once(" at path ").map_or(&*said, |(why, _)| why);
    io::Error::new(error.kind(), why)
}

/// The paths that are removed when a signal ends the program.
static REGISTERED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Whether somebody else takes care of signals.
static HANDED_OVER: AtomicBool = AtomicBool::new(false);

/// From now on somebody else ends the process when a signal comes, and calls [`remove`] before.
pub fn hand_signals_over() {
    HANDED_OVER.store(true, Ordering::SeqCst);
}

/// Removes all temporary files.
pub fn remove() {
    remove_all(&registered());
}

/// Removes all temporary files when it is dropped, also by a panic.
#[derive(Debug)]
pub struct Sweep;

impl Drop for Sweep {
    fn drop(&mut self) {
        remove();
    }
}

fn remove_all(paths: &BTreeSet<PathBuf>) {
    for path in paths {
        let _ = if path.is_dir() {
            std::fs::remove_dir_all(path)
        } else {
            std::fs::remove_file(path)
        };
    }
}

/// A path that is registered for as long as this value lives.
#[derive(Debug)]
struct Registered(PathBuf);

impl Registered {
    fn among(all: &mut BTreeSet<PathBuf>, path: &Path) -> Self {
        all.insert(path.to_owned());
        Self(path.to_owned())
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        registered().remove(&self.0);
    }
}

fn registered() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    // A panic of another thread leaves a set that is whole.
    REGISTERED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the thread that waits for signals, but for those that were ignored at the start.
fn watch() {
    static WATCH: Once = Once::new();
    WATCH.call_once(|| {
        let ignored = context::dispositions("self").unwrap_or_default().0;
        let signals = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];
        let handled = signals
            .into_iter()
            .filter(|signal| !ignored.contains(*signal));
        // Without it a signal leaves files behind, which is no reason to refuse.
        if let Ok(mut signals) = Signals::new(handled) {
            let builder = thread::Builder::new().name("signals".into());
            drop(builder.spawn(move || signals.forever().for_each(end)));
        }
    });
}

fn end(signal: i32) {
    if HANDED_OVER.load(Ordering::SeqCst) {
        return;
    }
    // Locked until the end: nothing new is made meanwhile.
    let paths = registered();
    remove_all(&paths);
    let _ = end_as(Ending::Signal(signal));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_folder_takes_the_place_of_another_one() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("a");
        std::fs::create_dir(&target).unwrap();
        std::fs::write(target.join("x"), "before").unwrap();
        let folder = Folder::within(dir.path()).unwrap();
        std::fs::write(folder.path().join("y"), "after").unwrap();
        folder.settle(&target, Replace::Yes).unwrap();
        assert!(target.join("y").exists() && !target.join("x").exists());
        let left = std::fs::read_dir(dir.path()).unwrap().count();
        assert_eq!(left, 1, "nothing stands beside it");
    }

    #[test]
    fn the_target_of_a_symbolic_link_is_never_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("precious");
        std::fs::write(&target, "before").unwrap();
        let before = mode(&target);
        for points_to in [&*target, Path::new("/nonexistent")] {
            let link = dir.path().join("a.jsonl");
            std::os::unix::fs::symlink(points_to, &link).unwrap();
            for may in [Replace::Yes, Replace::No] {
                let error = Whole::begin(&link, Path::new("/dev/null"), may).unwrap_err();
                // Not `IsThere`, of which the commands say that `--force` replaces it.
                assert!(matches!(error, WholeError::Write(..)), "{error}");
            }
            std::fs::remove_file(&link).unwrap();
        }
        assert_eq!(std::fs::read(&target).unwrap(), b"before");
        assert_eq!(mode(&target), before);
    }

    #[test]
    fn a_draft_takes_the_place_of_its_target_only_when_it_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("a.jsonl");
        std::fs::write(&target, "before").unwrap();
        let drafted = || {
            let mut draft = Draft::beside(&target).unwrap();
            draft.write_all(b"after").unwrap();
            draft
        };
        let draft = drafted();
        let journal = format!("{}-journal", draft.path().display());
        assert!(registered().contains(draft.path()));
        assert!(registered().contains(Path::new(&journal)));
        drop(draft);
        assert!(!registered().contains(Path::new(&journal)));
        assert_eq!(std::fs::read(&target).unwrap(), b"before");
        let error = drafted().settle(&target, Replace::No).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read(&target).unwrap(), b"before");
        drafted().settle(&target, Replace::Yes).unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"after");
        assert_eq!(mode(&target), 0o600);
        let left = std::fs::read_dir(dir.path()).unwrap().count();
        assert_eq!(left, 1, "nothing is left");
    }
}
