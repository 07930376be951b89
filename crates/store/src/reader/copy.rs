//! A recording as a second file.

use super::{ReadError, Recording};
use crate::open::uri;
use std::path::Path;

/// Makes one plain file of what stands in the recording at the moment, its WAL included.
const COPY: &str = "VACUUM INTO ?1";

impl Recording {
    /// Copies all of it into `file`, which is there and empty: what a live recording gets meanwhile
    /// is not in the copy.
    pub fn copy_into(&self, file: &Path) -> Result<(), ReadError> {
        self.read(|conn| conn.execute(COPY, [uri(file, "mode=rw")]).map(drop))
    }
}
