//! A copy to be read where the recording itself cannot be.

use super::{beside, exists};
use std::io;
use std::path::{Path, PathBuf};

/// A copy of a recording in a folder of its own, removed with this value.
#[derive(Debug)]
pub(super) struct TemporaryCopy {
    folder: PathBuf,
    pub file: PathBuf,
}

impl TemporaryCopy {
    pub fn make(path: &Path) -> io::Result<Self> {
        use std::os::unix::fs::DirBuilderExt;
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let name = format!("mcpreel-{:016x}", u64::from_ne_bytes(random));
        let folder = std::env::temp_dir().join(name);
        std::fs::DirBuilder::new().mode(0o700).create(&folder)?;
        let file = folder.join("copy.reel");
        let copy = Self { folder, file };
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
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))
}

impl Drop for TemporaryCopy {
    fn drop(&mut self) {
        // A temporary file that stays is a nuisance, not an error.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
