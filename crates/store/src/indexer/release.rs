//! What becomes of a spool that is drained.

use crate::open;
use std::io;
use std::path::{Path, PathBuf};

/// Removes the spool `path`, or renames it if it `is_damaged`.
pub(crate) fn release(path: &Path, is_damaged: bool) -> io::Result<()> {
    if !is_damaged {
        return std::fs::remove_file(path);
    }
    match damaged(path).find(|path| !path.exists()) {
        Some(kept) => std::fs::rename(path, kept),
        None => Ok(()),
    }
}

/// What the spool `path` is called as soon as it is known to be damaged: the first of these that
/// is free.
pub(crate) fn damaged(path: &Path) -> impl Iterator<Item = PathBuf> {
    let names = std::iter::once(String::from(".damaged"))
        .chain((2..).map(|number| format!(".damaged-{number}")));
    names.map(move |suffix| open::beside(path, &suffix))
}
