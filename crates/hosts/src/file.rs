//! A changed configuration takes the place of the old one, whole or not at all, and only of what was
//! read: a host that writes at the same time loses nothing.

use super::document::{Document, Format, SyntaxError};
use super::edit::EditError;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, chown};
use std::path::{Path, PathBuf};

/// A host that writes all the time is waited for so often.
const TRIES: usize = 5;

/// No host writes as much; a longer file is none of theirs.
const LONGEST: u64 = 64 << 20;

/// Why a configuration cannot be read or changed. Nothing was.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("{} leads to a file that is not there", .0.display())]
    Dangling(PathBuf),
    #[error("{} cannot be read: {}", .0.display(), .1)]
    Read(PathBuf, io::Error),
    #[error("{} is not text in UTF-8", .0.display())]
    Encoding(PathBuf),
    #[error("{} cannot be understood: {}", .0.display(), .1)]
    Syntax(PathBuf, SyntaxError),
    #[error("{} may not be written by you: see the owner and mode of it and of its folder", .0.display())]
    ReadOnly(PathBuf),
    #[error("{} cannot be written: {}", .0.display(), .1)]
    Write(PathBuf, io::Error),
    #[error("{} is written by its host all the time; quit the host and try again", .0.display())]
    Busy(PathBuf),
    #[error(transparent)]
    Edit(#[from] EditError),
}

/// Reads the configuration `path`.
pub fn read(path: &Path, format: Format) -> Result<Document, FileError> {
    let text = text(path)?;
    Document::parse(text, format).map_err(|error| FileError::Syntax(path.to_owned(), error))
}

fn text(path: &Path) -> Result<String, FileError> {
    let bytes = fs::metadata(path).and_then(|it| {
        let is_one = it.is_file() && it.len() <= LONGEST;
        if is_one {
            fs::read(path)
        } else {
            Err(io::Error::other("it is no configuration"))
        }
    });
    let bytes = bytes.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound if path.is_symlink() => FileError::Dangling(path.to_owned()),
        _ => FileError::Read(path.to_owned(), error),
    })?;
    String::from_utf8(bytes).map_err(|_| FileError::Encoding(path.to_owned()))
}

/// Changes the configuration `path` by `edit`, which is asked again when somebody else has changed it
/// meanwhile. Returns the text of before and after; `None` if there was nothing to change.
pub fn change(
    path: &Path,
    format: Format,
    edit: impl Fn(&Document) -> Result<Option<String>, EditError>,
) -> Result<Option<(String, String)>, FileError> {
    for _ in 0..TRIES {
        let _held = hold(path).map_err(|error| FileError::Read(path.to_owned(), error))?;
        let document = read(path, format)?;
        let Some(new) = edit(&document)? else {
            return Ok(None);
        };
        let real = fs::canonicalize(path).map_err(|e| FileError::Read(path.to_owned(), e))?;
        let written = replace(&real, &document.text, &new);
        let written = written.map_err(|error| match error.kind() {
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
                FileError::ReadOnly(path.to_owned())
            }
            _ => FileError::Write(path.to_owned(), error),
        })?;
        if written && text(path)? == new {
            return Ok(Some((document.text, new)));
        }
    }
    Err(FileError::Busy(path.to_owned()))
}

/// Keeps other processes of ours from changing the configuration at the same time, as long as this is
/// kept. Whoever has waited for one that another one has put in its place waits for that.
fn hold(path: &Path) -> io::Result<File> {
    loop {
        let file = File::open(path)?;
        file.lock()?;
        if file.metadata()?.ino() == fs::metadata(path)?.ino() {
            return Ok(file);
        }
    }
}

/// Puts `new` in the place of `old`; `false` if that is no longer there.
fn replace(path: &Path, old: &str, new: &str) -> io::Result<bool> {
    let meta = path.metadata()?;
    if meta.permissions().readonly() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let folder = path.parent().unwrap_or(Path::new("/"));
    let mut file = tempfile::Builder::new()
        .prefix(".mcpreel-")
        .tempfile_in(folder)?;
    file.write_all(new.as_bytes())?;
    file.as_file().set_permissions(meta.permissions())?;
    let made = file.as_file().metadata()?;
    if (made.uid(), made.gid()) != (meta.uid(), meta.gid()) {
        chown(file.path(), Some(meta.uid()), Some(meta.gid()))?;
    }
    file.as_file().sync_all()?;
    if fs::read(path)? != old.as_bytes() {
        return Ok(false);
    }
    file.persist(path)?;
    Ok(true)
}
