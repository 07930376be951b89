//! The recordings screen.

use std::path::{Path, PathBuf};

/// The recordings of a folder.
#[derive(Debug)]
pub struct Library {
    /// The folder.
    pub dir: PathBuf,
}

impl Library {
    /// Nothing was listed yet.
    #[must_use]
    pub fn new(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
        }
    }
}
