//! Further connections, also to what has most of its frames elsewhere.

use super::{ReadError, Recording};
use crate::open;

impl Recording {
    /// The same recording on a connection of its own, for another thread. Not to be used for longer
    /// than this one: what both read may vanish with it.
    pub fn another(&self) -> Result<Self, ReadError> {
        let file = self.opened.file().unwrap_or(self.file());
        Ok(Self {
            path: self.path.clone(),
            opened: open::read_only(file)?,
            stands_in: None,
        })
    }
}
