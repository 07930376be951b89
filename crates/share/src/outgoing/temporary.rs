//! Files and folders that nobody shall find after us, however we end, but by SIGKILL; `doomed` has
//! those that are there.

mod doomed;

pub use doomed::{Sweep, hand_signals_over, remove};

use super::whole::Replace;
use super::write_behind::WriteBehind;
use doomed::{Doomed, doomed, watch};
use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use tempfile::{NamedTempFile, TempDir};

/// Whoever writes so many bytes at once goes on to write: from then on a thread of its own does it,
/// while the next ones are made.
const LARGE: usize = 128 * 1024;

/// A folder that only we can read, removed with this value.
#[derive(Debug)]
pub struct Folder {
    dir: TempDir,
    _doomed: Doomed,
}

impl Folder {
    /// Makes one where temporary files belong.
    pub fn make() -> io::Result<Self> {
        Self::within(&std::env::temp_dir())
    }

    /// Makes one in the folder `parent`: what is made in it may then be moved there.
    pub fn within(parent: &Path) -> io::Result<Self> {
        watch();
        // Held meanwhile: a signal waits until it is known what is to be removed.
        let mut all = doomed();
        let dir = tempfile::Builder::new()
            .prefix("mcpreel-")
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(parent)
            .map_err(|error| unnamed(&error))?;
        let doomed = Doomed::among(&mut all, dir.path());
        Ok(Self {
            dir,
            _doomed: doomed,
        })
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// It is whole: becomes `target`, in the same file system; whether in place of another folder,
    /// `may` says.
    pub fn settle(self, target: &Path, may: Replace) -> io::Result<()> {
        match may {
            Replace::Yes => self.replace(target),
            Replace::No => self.appear(target),
        }
    }

    /// It is whole: becomes `target`, in the same file system, which is not there.
    fn appear(self, target: &Path) -> io::Result<()> {
        std::fs::rename(self.dir.path(), target)?;
        // It has gone from where it would be removed.
        let _ = self.dir.keep();
        Ok(())
    }

    /// It is whole: takes the place of the folder `target`, which is gone then. A signal meanwhile
    /// leaves one of the two.
    fn replace(self, target: &Path) -> io::Result<()> {
        let parent = target.parent().unwrap_or(Path::new("/"));
        let away = Self::within(parent)?;
        let old = away.path().join("old");
        {
            // Held meanwhile: between the two steps a signal would remove both.
            let _all = doomed();
            std::fs::rename(target, &old)?;
            std::fs::rename(self.dir.path(), target).inspect_err(|_| {
                // What was there is there again, as far as that goes.
                let _ = std::fs::rename(&old, target);
            })?;
        }
        // It has gone from where it would be removed.
        let _ = self.dir.keep();
        Ok(())
    }
}

/// A file that only we can read, beside the one that it takes the place of when it is whole.
#[derive(Debug)]
pub struct Draft {
    /// What writes it, where it is long; it goes before the file does.
    behind: Option<WriteBehind>,
    file: NamedTempFile,
    _doomed: Doomed,
    /// What `SQLite` puts beside it, where it is that which writes.
    _journal: Doomed,
}

impl Draft {
    /// Makes one in the folder of `target`.
    pub fn beside(target: &Path) -> io::Result<Self> {
        watch();
        let folder = target
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        // As above: a file that is there is one that a signal removes.
        let mut all = doomed();
        // Whatever the user lets others read, this may hold secrets.
        let file = tempfile::Builder::new()
            .prefix(".mcpreel-")
            .permissions(Permissions::from_mode(0o600))
            .tempfile_in(folder)
            .map_err(|error| unnamed(&error))?;
        let doomed = Doomed::among(&mut all, file.path());
        let mut journal = file.path().as_os_str().to_owned();
        journal.push("-journal");
        Ok(Self {
            behind: None,
            file,
            _doomed: doomed,
            _journal: Doomed::among(&mut all, journal.as_ref()),
        })
    }

    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// It is whole: becomes `target`; whether in place of another file, `may` says.
    pub fn settle(self, target: &Path, may: Replace) -> io::Result<()> {
        match may {
            Replace::Yes => self.replace(target),
            Replace::No => self.appear(target),
        }
    }

    /// It is whole: becomes `target`, which is not there.
    fn appear(mut self, target: &Path) -> io::Result<()> {
        self.flush()?;
        self.file.persist_noclobber(target)?;
        Ok(())
    }

    /// It is whole: takes the place of `target`.
    pub fn replace(mut self, target: &Path) -> io::Result<()> {
        self.flush()?;
        self.file.persist(target)?;
        Ok(())
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.behind.is_none() && bytes.len() >= LARGE {
            self.behind = WriteBehind::start(self.file.as_file());
        }
        match &mut self.behind {
            Some(behind) => behind.write(bytes).map(|()| bytes.len()),
            None => self.file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Some(mut behind) = self.behind.take() {
            behind.finish()?;
        }
        self.file.flush()
    }
}

/// What went wrong, without the name that nobody asked for.
fn unnamed(error: &io::Error) -> io::Error {
    let said = error.to_string();
    let why = said.split_once(" at path ").map_or(&*said, |(why, _)| why);
    io::Error::new(error.kind(), why)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_folder_is_ours_alone_and_vanishes() {
        let folder = Folder::make().unwrap();
        let path = folder.path().to_owned();
        std::fs::write(path.join("x"), "x").unwrap();
        assert_eq!(mode(&path), 0o700);
        assert!(doomed().contains(&path));
        drop(folder);
        assert!(!path.exists());
        assert!(!doomed().contains(&path));
    }

    #[test]
    fn a_folder_takes_the_place_of_another_one() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("a");
        std::fs::create_dir(&target).unwrap();
        std::fs::write(target.join("x"), "before").unwrap();
        let folder = Folder::within(dir.path()).unwrap();
        std::fs::write(folder.path().join("y"), "after").unwrap();
        folder.replace(&target).unwrap();
        assert!(target.join("y").exists() && !target.join("x").exists());
        let left = std::fs::read_dir(dir.path()).unwrap().count();
        assert_eq!(left, 1, "nothing stands beside it");
    }

    #[test]
    fn no_error_says_the_name_of_what_nobody_asked_for() {
        let dir = tempfile::tempdir().unwrap();
        let nowhere = dir.path().join("nowhere/a.jsonl");
        let folder = Folder::within(&dir.path().join("nowhere")).unwrap_err();
        for error in [Draft::beside(&nowhere).unwrap_err(), folder] {
            assert_eq!(error.kind(), io::ErrorKind::NotFound);
            assert!(!error.to_string().contains("mcpreel"), "{error}");
        }
    }

    #[test]
    fn a_draft_takes_the_place_of_its_target_only_when_it_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("a.jsonl");
        std::fs::write(&target, "before").unwrap();
        let mut draft = Draft::beside(&target).unwrap();
        draft.write_all(b"after").unwrap();
        let journal = format!("{}-journal", draft.path().display());
        assert!(doomed().contains(draft.path()) && doomed().contains(Path::new(&journal)));
        drop(draft);
        assert!(!doomed().contains(Path::new(&journal)));
        assert_eq!(std::fs::read(&target).unwrap(), b"before");
        let mut draft = Draft::beside(&target).unwrap();
        draft.write_all(b"after").unwrap();
        let error = draft.appear(&target).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read(&target).unwrap(), b"before");
        let mut draft = Draft::beside(&target).unwrap();
        draft.write_all(b"after").unwrap();
        draft.replace(&target).unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"after");
        assert_eq!(mode(&target), 0o600);
        assert_eq!(
            std::fs::read_dir(dir.path()).unwrap().count(),
            1,
            "nothing is left"
        );
    }
}
