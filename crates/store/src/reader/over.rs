//! Further connections, also to what has most of its frames elsewhere.

use super::{ReadError, Recording};
use crate::open::{self, OpenError, Source};
use std::path::Path;

impl Recording {
    /// The same recording on a connection of its own, for another thread. Not to be used for longer
    /// than this one: what both read may vanish with it.
    pub fn another(&self) -> Result<Self, ReadError> {
        let file = self.opened.file().unwrap_or(self.file());
        Ok(Self {
            path: self.path.clone(),
            opened: match &self.opened.source {
                Some(source) => open::over(file, source)?,
                None => open::read_only(file)?,
            },
            stands_in: None,
        })
    }

    /// Opens the recording `path`, of which most frames stand in `source`. Not to be used for
    /// longer than that is there.
    pub(crate) fn open_over(path: &Path, source: &Source) -> Result<Self, OpenError> {
        Ok(Self {
            path: path.to_owned(),
            opened: open::over(path, source)?,
            stands_in: None,
        })
    }
}
