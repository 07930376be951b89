//! A recording as a second file.

use super::{ReadError, Recording};
use crate::store::open::uri;
use std::path::Path;

/// One state of the file, also of one that is being written; defragmented, no WAL beside it.
const COPY: &str = "VACUUM INTO ?1";

impl Recording {
    /// Copies all of it into `file`, which is there and empty: what a live recording gets meanwhile
    /// is not in the copy.
    pub fn copy_into(&self, file: &Path) -> Result<(), ReadError> {
        self.read(|conn| conn.execute(COPY, [uri(file, "mode=rw")]).map(drop))
    }
}
