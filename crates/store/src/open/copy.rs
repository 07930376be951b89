//! A copy to be read where the recording itself cannot be.

use super::{beside, exists};
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A copy of a recording in a folder of its own, removed with this value.
#[derive(Debug)]
pub(super) struct TemporaryCopy {
    _folder: TempDir,
    pub file: PathBuf,
}

impl TemporaryCopy {
    pub fn make(path: &Path) -> io::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("mcpreel-")
            .permissions(Permissions::from_mode(0o700))
            .tempdir()?;
        let file = folder.path().join("copy.reel");
        let copy = Self {
            _folder: folder,
            file,
        };
        std::fs::copy(path, &copy.file)?;
        make_writable(&copy.file)?;
        for suffix in ["-wal", "-journal"] {
            if exists(path, suffix) {
                let file = beside(&copy.file, suffix);
                std::fs::copy(beside(path, suffix), &file)?;
                make_writable(&file)?;
            }
        }
        Ok(copy)
    }
}

/// A copy takes over the permissions of a file that may be read-only.
fn make_writable(path: &Path) -> io::Result<()> {
    std::fs::set_permissions(path, Permissions::from_mode(0o600))
}
